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


def ended(scenario: Scenario, *, computes: bool, promotes: bool) -> Run:
    """Return a run at its end, with everybody awake; `promotes` as in `Heartbeats.of`."""
    run = _prepared(scenario, Monitoring.BASIC, None, keeps_history=False)
    until = scenario.until_ms * MILLISECOND
    run.heartbeats = Heartbeats.of(
        run.sides, run.network, run.queue, scenario.broker, promotes=promotes
    )
    if computes and not together.start_together(run):
        note("left to events")
        return ended(scenario, computes=False, promotes=promotes)
    note(f"starts by events: {run.queue.now == 0}")
    while (next_one := run.queue.take(until)) is not None:
        _handle(run, next_one)
    run.queue.now = until + 1
    assert run.heartbeats is not None
    for number in list(run.heartbeats.resting):
        run.heartbeats.wake(number)
    return run
