"""Monitors: nothing is found in runs of the steps as they are, and a mutant of a step is found."""

from __future__ import annotations

import pytest

from assignors.simulation.timed.gallery import GALLERY, named
from assignors.simulation.timed.monitors.invariants import INVARIANTS
from assignors.simulation.timed.monitors.table import MONITORS, Kind, Monitoring
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.simulation import simulate


@pytest.mark.parametrize("protocol", GroupProtocol)
@pytest.mark.parametrize("name", GALLERY)
def test_nothing_is_found_in_the_gallery_and_looking_changes_nothing(
    name: str, protocol: GroupProtocol
) -> None:
    scenario = named(name, seed=3, protocol=protocol)
    watched = simulate(scenario, monitoring=Monitoring.FULL)
    assert watched.violations == []
    assert watched.result == simulate(scenario, monitoring=Monitoring.OFF).result


def test_every_monitor_of_a_moment_is_in_the_table() -> None:
    assert set(INVARIANTS) == {name for name, each in MONITORS.items() if each.kind is Kind.MOMENT}
