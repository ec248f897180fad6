"""Random histories of push groups, and what each of the protocol's safeguards is enough for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.ownership.double import overlaps
from assignors.ownership.intervals import ownerships
from assignors.simulation.timed.explore.random_scenarios import PLAIN
from assignors.simulation.timed.scenario import GroupProtocol, PushConfig, Scenario, Verb
from assignors.simulation.timed.simulation import simulate
from tests.conftest import cases
from tests.simulation.timed.drawn import scenarios

PUSH = replace(PLAIN, protocols=(GroupProtocol.PUSH,))
SAFEGUARDS: dict[str, dict[str, Any]] = {
    "all": {},
    "without commits": {"waits_for_commit": False},
    "leases alone": {"fences_fetches": False, "lease_ms": 10_000},
    "long leases alone": {"fences_fetches": False, "lease_ms": 60_000},
}


@pytest.mark.parametrize("safeguards", SAFEGUARDS)
@cases(25)
@given(data=st.data())
def test_no_partition_ever_has_two_consumers_and_none_is_left(
    safeguards: str, data: st.DataObject
) -> None:
    scenario = data.draw(scenarios(PUSH))
    push = PushConfig(
        parks_heartbeats=data.draw(st.booleans()),
        brokers=data.draw(st.integers(1, 4)),
        moves_per_second=data.draw(st.sampled_from([0, 0, 1, 5])),
        fetch_ms=data.draw(st.sampled_from([0, 500])),
        **SAFEGUARDS[safeguards],
    )
    played = simulate(with_push(scenario, push), keeps_history=True)
    assert list(overlaps(ownerships(played.changes))) == []
    assert played.result.double_partition_ms == 0
    assert "partition-without-owner" not in {each.monitor for each in played.violations}


def with_push(scenario: Scenario, push: PushConfig) -> Scenario:
    return replace(scenario, broker=replace(scenario.broker, push=push))


@cases(40)
@given(scenarios(PUSH))
def test_no_record_is_processed_twice_where_nothing_fails(scenario: Scenario) -> None:
    orderly = tuple(each for each in scenario.plan if each.do not in {Verb.CRASH, Verb.DELETE})
    result = simulate(replace(scenario, faults=(), plan=orderly)).result
    assert (result.reprocessed_records, result.fenced_commits) in {(0, 0), (None, None)}
