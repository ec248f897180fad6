"""Violations made small, and in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assignors.simulation.timed.counterexamples.history import history
from assignors.simulation.timed.counterexamples.shrinking import shrunk
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.monitors.table import Monitoring
from assignors.simulation.timed.protocols.consumer.assignment import reconciliation, rounds
from assignors.simulation.timed.scenario import GroupProtocol, NetworkConfig
from assignors.simulation.timed.simulation import simulate

BROKEN = replace(named("generation-from-user-data", seed=3), protocol=GroupProtocol.CLASSIC)
"""A group of several clients whose leader gives away what is owned."""


def test_a_small_scenario_violates_the_same_monitor_and_nothing_more_can_go() -> None:
    small = shrunk(BROKEN)
    assert small is not None
    first = simulate(BROKEN, monitoring=Monitoring.FULL).violations[0]
    again = simulate(small.scenario, monitoring=Monitoring.FULL).violations
    assert small.violation in again
    assert small.violation.monitor == first.monitor
    assert len(small.scenario.members) < len(BROKEN.members)
    assert small.scenario.network == NetworkConfig(mean_us=0)
    assert small.scenario.until_ms < BROKEN.until_ms
    least = shrunk(small.scenario)
    assert least is not None
    assert least.scenario == small.scenario


def test_the_same_scenario_is_made_small_in_the_same_way() -> None:
    assert shrunk(BROKEN, runs_max=40) == shrunk(BROKEN, runs_max=40)


def test_a_scenario_without_a_violation_is_not_made_small() -> None:
    assert shrunk(named("crash")) is None


def test_a_history_ends_with_the_violation() -> None:
    *_, event, violation = history(BROKEN)
    assert violation.startswith("given-while-owned at event ")
    assert "ms  coordinator: " in event


def test_a_coordinator_that_gives_partitions_before_their_release_is_found_and_made_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def hasty(member: object, **settings: object) -> object:
        return reconciliation.reconciled(member, **{**settings, "partition_epochs": {}})  # type: ignore[arg-type]

    monkeypatch.setattr(rounds, "reconciled", hasty)
    small = shrunk(named("scale-out", protocol=GroupProtocol.CONSUMER))
    assert small is not None
    assert small.violation.monitor in {"double-owned-in-epoch", "double-consumption"}
    assert len(small.scenario.members) == 2
    assert sum(small.scenario.topics.values()) <= 2
