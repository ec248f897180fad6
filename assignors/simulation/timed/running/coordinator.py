"""The coordinator's part of a run: what comes to it, its steps, and what they ask for.

An event waits for its turn and is played (`handle`), what its step asks for is done (`do`), and the
run takes note of it. Answers leave once it is handled, records are committed once replicated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assignors.simulation.timed.faults.failovers import LOADED
from assignors.simulation.timed.monitors.seen import Seen
from assignors.simulation.timed.monitors.watch import saw_coordinator, saw_failover, saw_restriction
from assignors.simulation.timed.protocols.effects import (
    COORDINATOR,
    Append,
    Cancel,
    Committed,
    CoordinatorEvent,
    Effect,
    Failed,
    Failure,
    Reply,
    Restrict,
    Schedule,
)
from assignors.simulation.timed.protocols.kafka import classic_group
from assignors.simulation.timed.protocols.kafka.messages import ErrorCode, HeartbeatResponse
from assignors.simulation.timed.queue import Rank
from assignors.simulation.timed.running.run import Run

UNAVAILABLE = HeartbeatResponse(ErrorCode.COORDINATOR_NOT_AVAILABLE)
"""Stands for that answer to a request of any type."""
SESSION = Rank.SESSION
SESSIONS = frozenset({"session", classic_group.SESSION})
"""What the keys of timers begin with by which a member must have sent a heartbeat."""


def handle(run: Run, event: CoordinatorEvent) -> None:
    """Let the coordinator handle an event, after what came before it.

    Cost: that of the protocol's step.
    """
    now = run.queue.now
    leaves = run.network.handled(now, event, run.scenario.broker.service_us)
    generation = run.sides.generation()
    effects = play(run, event)
    for effect in effects:
        DO[type(effect)](run, leaves, effect)
    take_note(run, event, effects, generation)


def play(run: Run, event: CoordinatorEvent) -> list[Effect]:
    """Return what an event leads to: at the coordinator, or where there is none just now."""
    failovers = run.faults.failovers
    if failovers is not None:
        effects = failovers.effects(event)
        if event == LOADED:
            saw_failover(run.watch, failovers.log.records())
        if effects is not None:
            return effects
    return run.sides.step_coordinator(run.queue.now, event)


def take_note(
    run: Run, event: CoordinatorEvent, effects: list[Effect], generation: int
) -> list[str]:
    """Take note of a step whose effects are done; `generation` is the one before it.

    Returns the ids of the members that it removed.
    """
    now = run.queue.now
    turns = run.meter.count(now, run.sides, generation)
    if run.heartbeats is not None:
        run.heartbeats.look()
    removed = run.faults.note_removed()
    if run.watch is not None:
        saw_coordinator(run.watch, (run.queue.count, now), event, effects, turns=turns)
    if run.observe is not None:
        run.observe(Seen(run.queue.count, now, None, event, effects))
    return removed


def do_at_once(run: Run, effect: Effect) -> None:
    """Do what waits for nothing: start and stop a timer, restrict what a member may consume."""
    assert type(effect) in AT_ONCE, effect
    DO[type(effect)](run, run.queue.now, effect)


def _append(run: Run, leaves: int, effect: Append) -> None:
    note_written(run, effect)
    replicated = leaves + run.scenario.broker.append_us
    run.queue.put(replicated, (COORDINATOR, Committed(effect.token)))


def _schedule(run: Run, _leaves: int, effect: Schedule) -> None:
    key = effect.key
    run.start_timer(COORDINATOR, effect, SESSION if key[0] in SESSIONS else None, key[-1])


def _cancel(run: Run, _leaves: int, effect: Cancel) -> None:
    run.queue.stop((COORDINATOR, effect.key))


def _restrict(run: Run, _leaves: int, effect: Restrict) -> None:
    run.faults.restrict(effect)
    saw_restriction(run.watch, effect)


def reply(run: Run, leaves: int, effect: Reply) -> None:
    """Send the answer to a request, at `leaves`; it may get lost on its way."""
    heartbeats, (number, response) = run.heartbeats, effect
    waiting = None if heartbeats is None else run.network.in_flight.get(number)
    if heartbeats is not None and waiting is not None and waiting[0] in heartbeats.resting:
        heartbeats.wake(waiting[0])
    answer = run.network.answer(leaves, number, response)
    if answer is not None:
        returns, rank, member, answered = answer
        run.queue.put(returns, (member, answered), rank, member)


def refuse(run: Run, number: int) -> None:
    """Send the answer that the coordinator is not available, now; it may get lost on its way."""
    answer = run.network.answer(run.queue.now, number, UNAVAILABLE)
    if answer is not None:
        returns, rank, member, answered = answer
        run.queue.put(returns, (member, Failed(answered.number, Failure.REFUSED)), rank, member)


def note_written(run: Run, effect: Append) -> None:
    """Keep the records of an append, with their time, if the run keeps its history.

    Where the coordinator may be lost, the next one reads what has been replicated of them.
    """
    if run.faults.failovers is not None:
        run.faults.failovers.log.append(effect)
    if run.ledger.keeps_changes:
        run.records += [(run.queue.now, record) for record in effect.records]


AT_ONCE = frozenset({Schedule, Cancel, Restrict})
DO: dict[type, Callable[[Run, int, Any], None]] = {
    Reply: reply,
    Append: _append,
    Schedule: _schedule,
    Cancel: _cancel,
    Restrict: _restrict,
}
"""What the coordinator may ask for, by type: the run, when answers and records leave, what."""
