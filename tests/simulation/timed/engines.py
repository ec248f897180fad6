"""The engines of the timed simulator: whichever plays a scenario, the run is the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from assignors.simulation.timed.monitors.table import Monitoring
from assignors.simulation.timed.scenario import Scenario
from assignors.simulation.timed.simulation import Played, simulate
from assignors.simulation.timed.stages import rounds
from assignors.simulation.timed.stages.starts import classic, consumer


@contextmanager
def two_are_enough() -> Iterator[None]:
    """Let two members go through rounds and starts together; without this, it takes more."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (rounds, classic, consumer):
            patch.setattr(module, "LEAST", 2)
        yield


def without_events(played: Played) -> Played:
    """Return the run without the number of its events, and of the events that broke something."""
    found = [replace(each, event=0) for each in played.violations]
    result = replace(played.result, events=0, first_violation=None)
    return replace(played, result=result, violations=found)


def require_same_run(scenario: Scenario) -> None:
    """Play a scenario by each engine; `AssertionError` if one plays it differently.

    Every one is compared with the one in which all is an event. One that stops for its number of
    events is not compared: others need fewer.
    """
    by_events = simulate(scenario, keeps_history=True, queues_heartbeats=True)
    if by_events.result.stopped_by is not None:
        return
    by_events = without_events(by_events)
    assert without_events(simulate(scenario, keeps_history=True)) == by_events
    no_rounds = simulate(scenario, keeps_history=True, computes_rounds=False)
    assert without_events(no_rounds) == by_events
    brief = replace(by_events, changes=[], records=[])
    assert without_events(simulate(scenario)) == brief
    assert without_events(simulate(scenario, computes_rounds=False)) == brief
    unwatched = simulate(scenario, monitoring=Monitoring.OFF)
    assert without_events(unwatched) == _unwatched(brief)


def _unwatched(played: Played) -> Played:
    return replace(played, violations=[], result=replace(played.result, violations=0))
