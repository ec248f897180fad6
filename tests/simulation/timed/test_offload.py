"""Targets that a background thread computes: they come later, and for an older group."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.scenario import (
    Action,
    GroupProtocol,
    OldTargets,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import simulate
from tests.conftest import cases


def offloaded(
    name: str, offload_ms: int, old: OldTargets = OldTargets.APPLY, interval_ms: int = 1000
) -> Scenario:
    scenario = named(name, protocol=GroupProtocol.CONSUMER)
    broker = replace(
        scenario.broker,
        offload_ms=offload_ms,
        old_targets=old,
        assignment_interval_ms=interval_ms,
    )
    return replace(scenario, name="", broker=broker)


def result(scenario: Scenario) -> TimedResult:
    return simulate(scenario).result


@pytest.mark.parametrize("old", OldTargets)
def test_a_target_that_takes_long_comes_late_and_costs_no_safety(old: OldTargets) -> None:
    at_once, late = result(offloaded("crash", 0)), result(offloaded("crash", 20_000, old))
    assert late.is_settled
    assert late.double_partition_ms == 0
    assert 15_000 < late.longest_gap_ms - at_once.longest_gap_ms < 30_000
    assert late.moves == at_once.moves


def test_old_targets_are_a_waste_where_the_group_changes_faster_than_they_are_computed() -> None:
    # Each of the five newcomers comes while the target for the one before it is computed.
    applied = result(offloaded("scale-out", 3000))
    dropped = result(offloaded("scale-out", 3000, OldTargets.DROP))
    assert applied.is_settled
    assert dropped.is_settled
    assert applied.moves_beyond_optimum > dropped.moves_beyond_optimum
    assert dropped.convergence_ms is not None


@cases(25)
@given(
    st.lists(
        st.tuples(st.integers(0, 30_000), st.sampled_from(list(Verb)[:3]), st.integers(0, 9)),
        max_size=8,
    ),
    st.integers(1, 20_000),
    st.sampled_from(OldTargets),
)
def test_no_partition_has_two_consumers_and_the_group_comes_to_rest(
    plan: list[tuple[int, Verb, int]], offload_ms: int, old: OldTargets
) -> None:
    scenario = offloaded("crash", offload_ms, old)
    actions = tuple(
        Action(at_ms=70_000 + at_ms, do=verb, member=f"c{number}")
        for at_ms, verb, number in sorted(plan)
    )
    scenario = replace(scenario, plan=actions, until_ms=300_000)
    played = simulate(scenario, keeps_history=True)
    assert played.result.double_partition_ms == 0
    assert played.result.is_settled
    queued = simulate(scenario, keeps_history=True, queues_heartbeats=True)
    assert queued.changes == played.changes
    assert queued.records == played.records
