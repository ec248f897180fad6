"""The moves of a world: everything that may happen next."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Any, NamedTuple

from assignors.simulation.timed.explore.merging import renumbered
from assignors.simulation.timed.explore.steps import (
    deliver,
    lose_coordinator,
    step_coordinator,
    step_member,
)
from assignors.simulation.timed.explore.world import (
    MEMBERS_MAX,
    Model,
    Stepped,
    World,
    has_work,
    held_by,
    member_of,
    put,
    speaks_only,
)
from assignors.simulation.timed.protocols.effects import (
    Arrived,
    Command,
    Committed,
    Disturbance,
    Disturbed,
    Failed,
    Fired,
    Request,
    Send,
    TimerKey,
)
from assignors.simulation.timed.protocols.kafka.classic_group import ClassicGroup, GroupState
from assignors.simulation.timed.protocols.kafka.messages import (
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
    ErrorCode,
    Heartbeat,
    JoinGroupResponse,
)
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.threads.client import ClientThreads

BEAT: TimerKey = ("heartbeat",)
GIVES_ID = (ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED)
STALL = Disturbance.STALLED_THREAD
LOST = Fired(("lost",), 0)
"""Stands for a failover among the events of a history."""


class Move(NamedTuple):
    """A move, and the world it leads to."""

    steps: tuple[Stepped, ...]
    is_fault: bool = False

    @property
    def world(self) -> World:
        """The world after it."""
        return self.steps[-1].world

    @property
    def found(self) -> Iterator[tuple[str, str]]:
        """The monitors that it violates, each with what is wrong."""
        return chain.from_iterable((*step.found, *step.then) for step in self.steps)


def moves(model: Model, world: World) -> Iterator[Move]:
    """Yield every move of a world. Cost: O(messages and timers of the world)."""
    for member in range(len(world.members)):
        for move in _member_moves(model, world, member):
            yield _merged(model, move)
    for move in _coordinator_moves(model, world):
        yield _merged(model, move)


def _merged(model: Model, move: Move) -> Move:
    *steps, last = move.steps
    return move._replace(steps=(*steps, last._replace(world=renumbered(model, last.world))))


def _coordinator_moves(model: Model, world: World) -> Iterator[Move]:
    """Yield the moves of the coordinator alone: its timers, its appends, its end."""
    for key, data in sorted(world.timers):
        is_fault = _hurts(model, world, key)
        if world.faults or not is_fault:
            after = world._replace(faults=world.faults - is_fault)
            yield Move((step_coordinator(model, after, Fired(key, data)),), is_fault)
    if world.appends:
        token, *rest = world.appends
        after = world._replace(appends=tuple(rest))
        yield Move((step_coordinator(model, after, Committed(token)),))
    if world.failovers:
        yield Move(_fail_over(model, world), is_fault=True)


def _fail_over(model: Model, world: World) -> tuple[Stepped, ...]:
    """Let another coordinator go on; every request that waits for an answer fails."""
    after = lose_coordinator(model, world)
    steps = [Stepped(after, None, LOST, (), (), ())]
    for member, numbers in enumerate(after.open):
        if numbers:
            steps += _failed(model, steps[-1].world, member, numbers, numbers)
    return tuple(steps)


def _member_moves(model: Model, world: World, member: int) -> Iterator[Move]:
    """Yield the moves of a member, and of what is on its way between it and the coordinator."""
    if world.requests[member]:
        yield Move(_arrive(model, world, member))
    if world.answers[member]:
        yield Move((deliver(model, world, member),))
    held = held_by(model.members.values[world.members[member]])
    for key, data in sorted(world.member_timers[member]):
        if key != BEAT:
            yield Move((step_member(model, world, member, Fired(key, data)),))
        elif not world.open[member] - world.dead[member] - held:
            beat = Move(_beat(model, world, member))
            if beat.world != world:
                yield beat
    is_up = member_of(model, world, member).is_up
    if not is_up and world.starts[member]:
        after = world._replace(starts=put(world.starts, member, world.starts[member] - 1))
        yield Move((step_member(model, after, member, Command.START),))
    if is_up and world.stops:
        after = world._replace(stops=world.stops - 1)
        yield Move((step_member(model, after, member, Command.STOP),))
    if is_up:
        yield from _faults(model, world, member)
    yield from _stalls(model, world, member)


def _stalls(model: Model, world: World, member: int) -> Iterator[Move]:
    """Yield the moves in which the own thread of a client stands still, or goes on."""
    threads = model.members.values[world.members[member]]
    if not isinstance(threads, ClientThreads):
        return
    if threads.is_stalled:
        yield Move((step_member(model, world, member, Disturbed(STALL, 0)),))
    elif threads.client.is_up and world.stalls:
        after = world._replace(stalls=world.stalls - 1)
        yield Move((step_member(model, after, member, Disturbed(STALL, 1)),), is_fault=True)


def _faults(model: Model, world: World, member: int) -> Iterator[Move]:
    waits = world.open[member] - world.dead[member]
    if world.cuts and waits - held_by(model.members.values[world.members[member]]):
        yield Move(_cut(model, world, member, arrives=True), is_fault=True)
        if world.requests[member]:
            yield Move(_cut(model, world, member, arrives=False), is_fault=True)
    if world.faults:
        after = world._replace(faults=world.faults - 1)
        yield Move((step_member(model, after, member, Command.CRASH),), is_fault=True)


def _cut(model: Model, world: World, member: int, *, arrives: bool) -> tuple[Stepped, ...]:
    """Break a member's connection: what it has sent arrives or not, answers are lost."""
    failing = world.open[member] - world.dead[member]
    gone = {own for own, _ in world.answers[member]}
    if not arrives:
        gone |= {own for own, _ in world.requests[member]}
    after = world._replace(
        cuts=world.cuts - 1,
        requests=world.requests if arrives else put(world.requests, member, ()),
        answers=put(world.answers, member, ()),
        dead=put(world.dead, member, world.open[member]),
    )
    return _failed(model, after, member, failing, gone)


def _failed(
    model: Model, world: World, member: int, numbers: AbstractSet[int], closed: AbstractSet[int]
) -> tuple[Stepped, ...]:
    """Let requests of a member fail one after the other; it waits for each until then.

    To those that are `closed` no answer is on its way or will be sent.
    """
    steps: list[Stepped] = []
    numbers -= held_by(model.members.values[world.members[member]])
    for number in sorted(numbers):
        steps.append(step_member(model, world, member, Failed(number)))
        world = steps[-1].world
    closed -= held_by(model.members.values[world.members[member]])
    after = world._replace(
        open=put(world.open, member, world.open[member] - closed),
        dead=put(world.dead, member, world.dead[member] - closed),
    )
    if steps:
        steps[-1] = steps[-1]._replace(world=after)
    return tuple(steps)


def _arrive(model: Model, world: World, member: int) -> tuple[Stepped, ...]:
    """Let the coordinator handle the request that a member sent first."""
    (own, message), *rest = world.requests[member]
    after = world._replace(requests=put(world.requests, member, tuple(rest)))
    arrived = Arrived(own * MEMBERS_MAX + member, model.messages.values[message])
    handled = step_coordinator(model, after, arrived, message)
    coordinator = model.coordinators.values[world.coordinator]
    if not speaks_only(coordinator, GroupProtocol.CONSUMER):
        return (handled,)
    # What its records say is so at once: only the answer waits for them, and may be late anyway.
    steps = [handled]
    while steps[-1].world.appends:
        token, *further = steps[-1].world.appends
        done = steps[-1].world._replace(appends=tuple(further))
        steps.append(step_coordinator(model, done, Committed(token)))
    return tuple(steps)


def _beat(model: Model, world: World, member: int) -> tuple[Stepped, ...]:
    """Send a heartbeat; one that only shows that its member lives is handled at once."""
    sent = step_member(model, world, member, Fired(BEAT, 0))
    requests = [each.request for each in sent.effects if isinstance(each, Send)]
    if len(requests) != 1 or not _says_nothing(requests[0]) or len(sent.world.requests[member]) > 1:
        return (sent,)
    steps = (sent, *_arrive(model, sent.world, member))
    answers = steps[-1].world.answers[member]
    if answers:
        response = model.messages.values[answers[0][1]]
        if _is_no_news(response, member_of(model, world, member)):
            steps = (*steps, deliver(model, steps[-1].world, member))
    return steps


def _says_nothing(request: Request) -> bool:
    if isinstance(request, ConsumerHeartbeat):
        return request.epoch > 0 and request.owned is None and request.topics is None
    return isinstance(request, Heartbeat)


def _is_no_news(response: object, member: Any) -> bool:  # noqa: ANN401 - of any protocol
    return (
        isinstance(response, ConsumerHeartbeatResponse)
        and response.error is ErrorCode.NONE
        and response.assignment is None
        and response.epoch == member.generation
    )


def _hurts(model: Model, world: World, key: TimerKey) -> bool:
    """Return whether a timer of the coordinator takes something from a process that runs."""
    if len(key) > 1:
        return _lives(model, world, key[1])
    group = model.coordinators.values[world.coordinator].group
    if not isinstance(group, ClassicGroup):
        return False
    if key == ("join",):
        if group.previous is GroupState.EMPTY:
            return False  # the delay of a first rebalance
        awaited = {each.member_id for each in group.members.values() if each.waiting_join is None}
        awaited |= group.pending_ids
    else:
        awaited = set(group.pending_syncs)
    return any(_lives(model, world, each) for each in awaited)


def _lives(model: Model, world: World, member_id: str) -> bool:
    """Return whether a process runs that has this id, or that an answer will give it to."""
    group = model.coordinators.values[world.coordinator].group
    known = group.members.get(member_id) if isinstance(group, ClassicGroup) else None
    if known is not None and known.waiting_join is not None:
        own, member = divmod(known.waiting_join, MEMBERS_MAX)
        if own not in world.dead[member]:
            return True
    return any(
        state.is_up and (state.member_id == member_id or member_id in _ids_on_way(model, answers))
        for state, answers in zip(
            [member_of(model, world, each) for each in range(len(world.members))],
            world.answers,
            strict=True,
        )
    )


def _ids_on_way(model: Model, answers: tuple[tuple[int, int], ...]) -> list[str]:
    """Return the ids that answers on their way give to a member."""
    responses = [model.messages.values[message] for _, message in answers]
    return [
        each.member_id
        for each in responses
        if isinstance(each, JoinGroupResponse) and each.error in GIVES_ID
    ]


def is_settled(model: Model, world: World) -> bool:
    """Return whether nothing is on its way, and every partition has one consumer.

    Where no process runs that is so as soon as nothing is on its way.
    """
    if any(world.requests) or any(world.answers) or world.appends:
        return False
    if any(has_work(model.members.values[number]) for number in world.members):
        return False
    up = [member for member in range(len(world.members)) if member_of(model, world, member).is_up]
    if not all(member_of(model, world, member).is_at_rest for member in up):
        return False
    does = [model.does.values[world.does[member]] for member in up]
    if any(each.callbacks for each in does):
        return False
    consumed = sorted(
        (topic, number)
        for each in does
        for topic, numbers in each.consumed.items()
        for number in numbers
    )
    return not up or consumed == model.partitions
