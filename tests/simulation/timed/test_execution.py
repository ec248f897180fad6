"""The group's coordinator executed by a model, beside other groups: who waits, who fails."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assignors.simulation.timed.coordinator.policy import POLICIES
from assignors.simulation.timed.monitors.table import Monitoring
from assignors.simulation.timed.scenario import (
    OtherGroups,
    ProcessingConfig,
    Scenario,
)
from assignors.simulation.timed.simulation import Played, simulate
from tests.simulation.timed.drawn import scenarios

STEADY = OtherGroups(per_second=20, groups=8, changes_share=0.3, checks_share=0.5)


def with_model(scenario: Scenario, model: str | None, **changes: object) -> Scenario:
    """The scenario, its coordinator executed by a model."""
    execution = replace(scenario.broker.execution, model=model, **changes)  # type: ignore[arg-type]
    return replace(scenario, broker=replace(scenario.broker, execution=execution))


def without_delays(scenario: Scenario) -> Scenario:
    """The scenario with a broker that takes no time for anything."""
    return replace(scenario, broker=replace(scenario.broker, service_us=0, append_us=0))


def ownership(played: Played) -> object:
    """Who consumed what, when, and what it cost the group."""
    result = played.result
    return played.changes, result.rounds, result.moves, result.is_settled


@pytest.mark.parametrize("model", POLICIES)
@settings(max_examples=5)
@given(scenarios())
def test_a_model_that_takes_no_time_changes_nothing(model: str, scenario: Scenario) -> None:
    plain = without_delays(scenario)
    executed = simulate(with_model(plain, model), keeps_history=True)
    assert ownership(executed) == ownership(simulate(plain, keeps_history=True))


@pytest.mark.parametrize("model", POLICIES)
@settings(max_examples=4)
@given(scenarios(), st.sampled_from([0, 5]))
def test_no_rule_is_broken_beside_other_groups(
    model: str, scenario: Scenario, per_second: int
) -> None:
    if per_second:
        members = tuple(replace(each, auto_commit_ms=1000) for each in scenario.members)
        records = ProcessingConfig(records_per_second=per_second)
        scenario = replace(scenario, members=members, processing=records)
    busy = with_model(scenario, model, others=STEADY, check_us=1000, is_steady=False)
    played = simulate(busy, monitoring=Monitoring.FULL)
    assert played.violations == []
    assert played.result.evictions == 0
