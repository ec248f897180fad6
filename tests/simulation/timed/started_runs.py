"""Runs of groups whose members start together, computed or by events, up to their end."""

from __future__ import annotations

from hypothesis import currently_in_test_context, event

from assignors.simulation.timed.heartbeats import Heartbeats
from assignors.simulation.timed.monitors.table import Monitoring
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.running import together
from assignors.simulation.timed.running.run import Run
from assignors.simulation.timed.scenario import Scenario
from assignors.simulation.timed.simulation import _handle, _prepared


def note(what: str) -> None:
    """Count what became of a scenario, where it was drawn."""
    if currently_in_test_context():
        event(what)


def prepared(scenario: Scenario, *, promotes: bool) -> Run:
    """Return a run that begins; `promotes` as in `Heartbeats.of`."""
    run = _prepared(scenario, Monitoring.BASIC, None, keeps_history=False)
    run.heartbeats = Heartbeats.of(
        run.sides, run.network, run.queue, scenario.broker, promotes=promotes
    )
    return run


def ends_of(scenario: Scenario, *, promotes: bool) -> tuple[int, ...]:
    """Return when all are at rest that start together, and when the run ends, in microseconds.

    Nothing where they start by events.
    """
    run = prepared(scenario, promotes=promotes)
    is_computed = together.start_together(run) and run.queue.now > 0
    note(f"starts together: {is_computed}")
    return (run.queue.now, scenario.until_ms * MILLISECOND) if is_computed else ()


def begin_moment(run: Run, now: int) -> None:
    """Let it be a moment, in microseconds, in which nothing has happened yet."""
    run.queue.now, run.queue._last = now, (now, 0, 0, 0)


def ended(scenario: Scenario, until: int, *, computes: bool, promotes: bool) -> Run:
    """Return a run at its end, with everybody awake; `promotes` as in `Heartbeats.of`."""
    run = prepared(scenario, promotes=promotes)
    if computes:
        assert together.start_together(run), "it does, or so `ends_of` says"
    while (next_one := run.queue.take(until)) is not None:
        _handle(run, next_one)
    begin_moment(run, until + 1)
    assert run.heartbeats is not None
    for number in list(run.heartbeats.resting):
        run.heartbeats.wake(number)
    return run
