"""What a run costs is counted in events, not in time: a gross loss of speed shows in them."""

from __future__ import annotations

import pytest

from assignors.simulation.timed.simulation import simulate
from tests.benchmarks.bench_timed import (
    CHANGES,
    PROTOCOLS,
    hour_of,
    joins_of,
)

MEMBERS = 30
EVENTS_A_HEARTBEAT = 3
"""It is due, arrives, and is answered."""
EVENTS_A_MEMBER_AND_ROUND = 10
"""Heartbeat, answer and poll; JoinGroup, SyncGroup, their answers; callbacks."""


@pytest.mark.parametrize("protocol", ["cooperative", "eager"])
def test_an_hour_costs_no_more_than_its_rounds(protocol: str) -> None:
    result = simulate(hour_of(MEMBERS, 10 * MEMBERS, protocol)).result
    assert result.is_settled
    rounds = result.rounds + 2
    assert result.events < EVENTS_A_MEMBER_AND_ROUND * MEMBERS * rounds
    assert result.requests["Heartbeat"] > 1000 * MEMBERS


def test_an_hour_of_a_consumer_group_costs_few_events_a_change() -> None:
    result = simulate(hour_of(MEMBERS, 10 * MEMBERS, "KIP-848")).result
    assert result.is_settled
    # Two heartbeats of each member a change: the epoch grows, and later there is a target.
    changes = 2 * CHANGES + 1
    assert result.events < 2 * EVENTS_A_HEARTBEAT * MEMBERS * changes + 15 * 10 * changes
    assert result.requests["ConsumerHeartbeat"] > 600 * MEMBERS


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_joins_at_start_up_cost_events_in_proportion(protocol: str) -> None:
    few, many = (
        simulate(joins_of(members, members, protocol)).result for members in (MEMBERS, 4 * MEMBERS)
    )
    assert few.is_settled
    assert many.is_settled
    # Under the classic protocol there is none.
    assert many.events / (4 * MEMBERS) <= 3 * few.events / MEMBERS
