"""The named scenarios: each shows what its text says."""

from __future__ import annotations

import pytest

from assignors.simulation.timed.gallery import GALLERY, named
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.simulation import simulate

CLASSIC, CONSUMER = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER
SECOND = 1000


def played(name: str, protocol: GroupProtocol) -> TimedResult:
    return simulate(named(name, seed=7, protocol=protocol)).result


@pytest.mark.parametrize("protocol", GroupProtocol)
@pytest.mark.parametrize("name", GALLERY)
def test_every_scenario_ends_with_all_partitions_consumed_once(
    name: str, protocol: GroupProtocol
) -> None:
    result = played(name, protocol)
    assert result.is_settled
    assert result.double_partition_ms == 0


def test_only_eager_members_stop_partitions_that_do_not_move() -> None:
    eager, sticky, consumer = (
        played("rolling-restart-eager", CLASSIC),
        played("rolling-restart", CLASSIC),
        played("rolling-restart", CONSUMER),
    )
    assert (eager.rounds, sticky.rounds, consumer.rounds) == (20, 30, 20)
    assert sticky.moves == consumer.moves == 200
    assert eager.moves > 3 * sticky.moves
    assert (eager.gaps, sticky.gaps, consumer.gaps) == (2000, 200, 200)


@pytest.mark.parametrize("protocol", GroupProtocol)
def test_static_members_are_not_replaced(protocol: GroupProtocol) -> None:
    result = played("rolling-restart-static", protocol)
    assert (result.rounds, result.moves, result.gaps) == (0, 0, 100)
    assert 10 * SECOND < result.longest_gap_ms < 10.2 * SECOND


def test_only_classic_rebalances_wait_for_slow_polls() -> None:
    slow, fast = played("slow-polls", CLASSIC), played("rolling-restart", CLASSIC)
    assert slow.longest_gap_ms > fast.longest_gap_ms + 2 * SECOND
    consumer = played("slow-polls", CONSUMER)
    assert consumer.longest_gap_ms < 5.1 * SECOND


@pytest.mark.parametrize("protocol", GroupProtocol)
def test_a_crash_costs_the_session_timeout(protocol: GroupProtocol) -> None:
    result = played("crash", protocol)
    assert 40 * SECOND < result.longest_gap_ms < 51 * SECOND
    assert result.gaps == 10


def test_new_partitions_wait_for_the_leaders_metadata_in_classic_groups_only() -> None:
    classic, consumer = played("topic-growth", CLASSIC), played("topic-growth", CONSUMER)
    assert classic.gaps == consumer.gaps == 20
    assert classic.longest_gap_ms > 10 * SECOND
    # The next heartbeat of anybody makes the target, and each member's own brings it.
    assert consumer.longest_gap_ms < 10.2 * SECOND


def test_the_first_rebalance_waits_for_all_members() -> None:
    classic, consumer = played("stop-all", CLASSIC), played("stop-all", CONSUMER)
    # All ten leave within one rebalance, and come back in one.
    assert classic.rounds == 2
    assert consumer.rounds == 20
    # Ten seconds away, three of delay, and three more as members came in the first three.
    assert 16 * SECOND < classic.longest_gap_ms < 16.1 * SECOND
