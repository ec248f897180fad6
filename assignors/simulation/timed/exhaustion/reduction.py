"""Moves that are taken at once, since it makes no difference when: fewer worlds are visited.

This is partial-order reduction by ample sets of one move. A move of a member is taken at once,
and the world before it is not kept, where all of this holds:

* Nothing else can happen to its member first: it is the only thing that the member can do, no
  answer that it would heed can come before, and no fault, cut or stop may still happen. The first
  start of a process has to wait for none of these, as they happen to processes that run. So this is
  for first starts, answers that come while no timer but that of heartbeats runs, and the end of a
  leader's work: with every other timer that of heartbeats runs too, or monitors see its end.
* It is independent of whatever others do. It reads and changes its member's state and timers alone,
  takes the first answer on its way or none, and puts requests behind those on their way. Others
  do no more than put further answers behind, and take the first request. Only a failover does more:
  while one may still happen nothing is taken at once.
* No monitor can see it: the member consumes and commits the same before and after, and its
  id, generation and owned partitions stay, unless it consumes, commits and owns nothing, as
  monitors compare these for owned partitions alone.
* It takes no move from others. Whether a timer of the coordinator may run out depends on who
  lives (`moves`): its process lives on, with its id or with its first one.

Then it can be moved to the front of any order of moves in which it occurs. What is left out are the
same worlds with that move still to come: monitors see the same in them, and what can become of
them becomes of those that are visited. So as many monitors are violated, and some world is stuck if
and only if some world of the whole search is. A member makes a bounded number of these moves until
it needs another answer, so none is put off for ever.

A member that has joined and has not sent SyncGroup ignores what heartbeats are answered, and the
session of a process that lives ends by a fault alone: so its heartbeats count as nothing here.

An append on which nothing waits, as its generation is over, completes at once for the same reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assignors.simulation.timed.exhaustion.kinds import is_over
from assignors.simulation.timed.exhaustion.steps import deliver, step_coordinator, step_member
from assignors.simulation.timed.exhaustion.world import Model, Stepped, World, member_of, put
from assignors.simulation.timed.monitors.moment import Consumption
from assignors.simulation.timed.protocols.kafka.classic_member_state import ClassicMember
from assignors.simulation.timed.protocols.kafka.classic_member_state import MemberState
from assignors.simulation.timed.protocols.effects import Command, Committed, Fired, TimerKey

BEAT: TimerKey = ("heartbeat",)
NOTHING = Consumption()


def independent_moves(model: Model, world: World, members: Iterable[int]) -> tuple[Stepped, ...]:
    """Return the steps that the coordinator and these members take at once; often none.

    One after the other: what one of them does leaves the others theirs.
    """
    steps: list[Stepped] = []
    if world.failovers:
        return ()
    while True:
        step = next(_independent(model, world, members), None)
        if step is None:
            return tuple(steps)
        steps.append(step)
        world = step.world


def _independent(model: Model, world: World, members: Iterable[int]) -> Iterator[Stepped]:
    if world.appends and is_over(model.coordinators.values[world.coordinator], world.appends[0]):
        after = world._replace(appends=world.appends[1:])
        yield step_coordinator(model, after, Committed(world.appends[0]))
    for member in members:
        if world.members[member] == model.gone[member] and world.starts[member]:
            left = put(world.starts, member, world.starts[member] - 1)
            yield step_member(model, world._replace(starts=left), member, Command.START)
    if not (world.faults or world.cuts or world.stops):
        for member in members:
            for step in _only_move(model, world, member):
                if _is_unseen(model, world, step.world, member):
                    yield step


def _only_move(model: Model, world: World, member: int) -> Iterator[Stepped]:
    """Yield what a member does next, if it runs and there is only one thing that it can do."""
    state = member_of(model, world, member)
    is_syncing = isinstance(state, ClassicMember) and state.state is MemberState.SYNCING
    others = [each for each in world.member_timers[member] if each[0] != BEAT]
    if world.answers[member]:  # then a request is open, and no heartbeat is sent
        if not others:
            yield deliver(model, world, member)
    elif is_syncing and len(others) == 1:
        yield step_member(model, world, member, Fired(*others[0]))


def _is_unseen(model: Model, before: World, after: World, member: int) -> bool:
    """Return whether no monitor can see a member's step, and who lives is as before."""
    if before.does[member] != after.does[member]:
        return False
    one, other = member_of(model, before, member), member_of(model, after, member)
    if one.is_up and (not other.is_up or (one.member_id and one.member_id != other.member_id)):
        return False
    if (one.is_up, one.member_id, one.generation, one.owned) == (
        other.is_up,
        other.member_id,
        other.generation,
        other.owned,
    ):
        return True
    does = model.does.values[after.does[member]]
    return does == NOTHING and not one.owned and not other.owned
