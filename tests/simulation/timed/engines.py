"""Runs with heartbeats of idle members computed, and with each one queued: the same."""

from __future__ import annotations

from dataclasses import replace

from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.scenario import Scenario
from assignors.simulation.timed.simulation import Played, simulate


def without_events(played: Played) -> Played:
    """Return the run without the number of its events, and of the events that broke something."""
    found = [replace(each, event=0) for each in played.violations]
    result = replace(played.result, events=0, events_hash="", first_violation=None)
    return replace(played, result=result, violations=found)


def require_same_run(scenario: Scenario) -> None:
    """Play a scenario with and without computed heartbeats; `AssertionError` if that differs.

    A run that stops at its limit of events is not compared.
    """
    by_events = simulate(scenario, keeps_history=True, queues_heartbeats=True)
    if by_events.result.stopped_by is not None:
        return
    by_events = without_events(by_events)
    assert without_events(simulate(scenario, keeps_history=True)) == by_events
    brief = replace(by_events, changes=[], records=[])
    assert without_events(simulate(scenario)) == brief
    unwatched = simulate(scenario, monitoring=Monitoring.OFF)
    assert without_events(unwatched) == _unwatched(brief)


def _unwatched(played: Played) -> Played:
    return replace(played, violations=[], result=replace(played.result, violations=0))
