"""The loop of a run: take the next event, let it happen to whom it is for, do what follows.

The steps of members say what they want done; here it is done (`DO`). A request takes its way over
the network to the coordinator (`host`), and the answer comes back the same way.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from assignors.model import Cluster
from assignors.simulation.timed import host
from assignors.simulation.timed.faults.live import USUAL, FaultEvent
from assignors.simulation.timed.heartbeats import HEARTBEAT
from assignors.simulation.timed.monitors.rules import Seen
from assignors.simulation.timed.monitors.watch import (
    saw_member,
)
from assignors.simulation.timed.plan import act, rest_for_long
from assignors.simulation.timed.protocols.effects import (
    COORDINATOR,
    MILLISECOND,
    AssignorFailed,
    Cancel,
    Command,
    Consume,
    Disconnect,
    GiveUp,
    MemberEvent,
    Schedule,
    Send,
)
from assignors.simulation.timed.protocols.kafka.messages import JoinGroup
from assignors.simulation.timed.queue import Rank
from assignors.simulation.timed.run import Event, Happening, LongRest, Run
from assignors.simulation.timed.scenario import Action
from assignors.simulation.timed.shared_machine import Handled, Machine

START, STOP, CRASH = Command.START, Command.STOP, Command.CRASH
PLANNED = frozenset({Action, FaultEvent, Cluster, LongRest})
"""What is neither a message nor a timer of one side."""
HEARTBEAT_RANK = Rank.HEARTBEAT
RESTART = ("restart",)
"""The timer after which a process that ended by itself starts again."""
EVERY = 1024
"""Events from one look at what is kept to the next."""


def play(run: Run, until: int) -> str | None:
    """Play what happens up to a time in microseconds; return the bound that ended it, if one has.

    Cost: O(events log events), plus their steps.
    """
    queue, limit, note = run.queue, run.scenario.event_limit, run.events_hash.note
    while (bound := _exceeded(run)) is None:
        last = min(queue.count + EVERY, limit)
        while queue.count < last:
            event = queue.take(until)
            if event is None:
                return None
            note(queue.now, *event)
            handle(run, event)
    return bound


def _exceeded(run: Run) -> str | None:
    limits = run.scenario
    if run.queue.count >= limits.event_limit:
        return f"event_limit: {limits.event_limit}"
    if len(run.queue) + len(run.ledger.changes) + len(run.records) > limits.kept_limit:
        return f"kept_limit: {limits.kept_limit}"
    return None


def handle(run: Run, event: Event) -> None:
    """Let an event happen: most are messages and timers."""
    target, what = event
    kind = type(what)
    if kind in PLANNED:
        _do_planned(run, target, what)
    elif target == COORDINATOR:
        host.handle(run, what)
    elif run.machine is not None:
        _reach_shared_machine(run, run.machine, target, what)
    elif kind in USUAL and not run.faults.frozen and run.faults.failovers is None:
        step_member(run, target, what)  # type: ignore[arg-type]  # by its type
    else:
        run.faults.reach(target, what)  # type: ignore[arg-type]  # by whom it is for


def _reach_shared_machine(run: Run, machine: Machine, target: int, what: Any) -> None:  # noqa: ANN401 - as below
    """Let an event at a member happen, or wait until their machine has handled it."""
    if isinstance(what, Handled):
        event = machine.take(target, what)
        if event is not None:
            run.faults.reach(target, event)
        machine.start_next(run.queue.now)
    elif not machine.turn(run.queue.now, target, run.sides.members[target], what):
        run.faults.reach(target, what)


def _do_planned(run: Run, target: int, what: Happening) -> None:
    """Do what the plan says, let a fault begin or end, or show a member new topics."""
    if isinstance(what, Action):
        act(run, what)
    elif isinstance(what, LongRest):
        rest_for_long(run)
    elif isinstance(what, FaultEvent):
        run.faults.change(what)
    elif isinstance(what, Cluster):
        # The topics of now: older metadata never takes the place of newer.
        run.faults.reach(target, run.cluster)


def step_member(run: Run, number: int, event: MemberEvent) -> None:
    """Let a member do what it does about an event. Cost: that of its step."""
    if event is START and not _starts_process(run, number):
        return
    heartbeats, queue = run.heartbeats, run.queue
    if heartbeats is not None and number in heartbeats.resting:
        heartbeats.wake(number)
    effects = run.step_member(number, event)
    for effect in effects:
        if type(effect) is Cancel:  # what steps ask for most often
            queue.stop(key := (number, effect.key))
            run.due.discard(key)
        else:
            DO[type(effect)](run, number, event, effect)
    if heartbeats is not None:
        heartbeats.rest(number)
    if run.watch is not None:
        saw_member(run.watch, (run.queue.count, run.queue.now), number, event, effects)
    if run.observe is not None:
        name = run.scenario.members[number].name
        run.observe(Seen(run.queue.count, run.queue.now, name, event, effects))


def _starts_process(run: Run, number: int) -> bool:
    """Prepare the start of a member's process, unless it runs; return whether it starts."""
    if run.sides.members[number].is_up:
        return False
    run.queue.stop((number, RESTART))
    run.network.start(number)
    run.sides.show_topics(number, run.cluster)
    return True


def _schedule(run: Run, number: int, _event: MemberEvent, effect: Schedule) -> None:
    """Start a timer of a member; what has run out and waits for their machine is due no longer."""
    key = effect.key
    if run.machine is not None:
        run.due.discard((number, key))
        if run.machine.goes_on(number, run.sides.members[number], effect):
            run.queue.stop((number, key))
            return
    run.start_timer(number, effect, HEARTBEAT_RANK if key == HEARTBEAT.key else None, number)


def _send(run: Run, number: int, _event: MemberEvent, effect: Send) -> None:
    """Send a request to the coordinator; it may get lost on its way."""
    now = run.queue.now
    if type(effect.request) is JoinGroup:
        name = run.scenario.members[number].name
        if run.ledger.consumed.get(name):
            run.meter.touch(now, run.sides, number)
    sent = run.network.send(now, number, effect)
    if sent is not None:
        arrives, rank, arrived = sent
        run.queue.put(arrives, (COORDINATOR, arrived), rank, number)


def _consume(run: Run, number: int, event: MemberEvent, effect: Consume) -> None:
    """Let a member consume other partitions, and count what that means for it."""
    now, name = run.queue.now, run.scenario.members[number].name
    run.events_hash.consumes(now, number, effect.owned)
    has_lost = run.faults.consume(number, effect.owned, effect.reason)
    if event is STOP or event is CRASH:
        run.meter.pauses.end_process(name)
    else:
        run.meter.pauses.consume(name, effect.owned, has_lost=has_lost)
        if has_lost:
            run.meter.touch(now, run.sides, number)


def _give_up(run: Run, number: int, _event: MemberEvent, effect: GiveUp) -> None:
    """Count a process that has ended by itself; start it again later, if something does that."""
    run.meter.errors.update((effect.error,))
    after_ms = run.scenario.members[number].restarts_after_ms
    if after_ms is not None:
        at = run.queue.now + after_ms * MILLISECOND
        run.queue.start((number, RESTART), at, (number, START))


def _disconnect(run: Run, number: int, _event: MemberEvent, _effect: Disconnect) -> None:
    """Close the connection of a member; every request without an answer fails."""
    run.faults.disconnect(number)


DO: dict[type, Callable[[Run, int, MemberEvent, Any], None]] = {
    Send: _send,
    Schedule: _schedule,
    Consume: _consume,
    Disconnect: _disconnect,
    AssignorFailed: lambda run, number, _event, effect: run.assignor_failed(number, effect.text),
    GiveUp: _give_up,
}
"""What a member may ask for beside `Cancel`, by type: the run, its number, what led to it, what."""


# Python's search for cyclic garbage goes through everything that a run keeps: with the usual
# thresholds a fifth of the time of a large group. Some of what a run refers to refers to the run;
# these cycles are cut at its end, so all of it is freed at once

OBJECTS = 200_000
"""So many more objects are made than freed between two searches; Python's own number is 700."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Search for cyclic garbage less often; afterwards as before."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], OBJECTS) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def cut_cycles(run: Run) -> None:
    """Cut what refers to a run that is over, or to its heartbeats, from within. Cost: O(1)."""
    run.faults.step = run.faults.reach_coordinator = _is_over
    run.execution = None
    run.faults.failovers = run.network.detour = run.network.may_rest = None
    run.heartbeats = run.faults.heartbeats = None


def _is_over(*event: object) -> None:
    """Let nothing happen any more."""
    raise AssertionError(f"{event} comes after the end of its run")
