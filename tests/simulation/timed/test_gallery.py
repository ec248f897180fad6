"""The named scenarios: each gives the figures beside it, and shows what its text says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assignors.simulation.timed.gallery import FOLDER, GALLERY, SOUND, named, unexpected
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.scenario_document import scenario_from_document
from assignors.simulation.timed.simulation import simulate
from tests.simulation.timed.groups import churn_at

CLASSIC, CONSUMER = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER
SECOND = 1000
PLAYED = [(name, protocol) for name, story in GALLERY.items() for protocol in story.expected]


def played(name: str, protocol: GroupProtocol) -> TimedResult:
    return simulate(named(name, seed=7, protocol=protocol)).result


@pytest.mark.parametrize(("name", "protocol"), PLAYED)
def test_a_scenario_gives_the_figures_that_stand_beside_it(
    name: str, protocol: GroupProtocol
) -> None:
    assert unexpected(name, played(name, protocol), protocol) == {}


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("name", "protocol"), PLAYED)
def test_the_figures_hold_for_any_seed(name: str, protocol: GroupProtocol, seed: int) -> None:
    result = simulate(named(name, seed=seed, protocol=protocol)).result
    assert unexpected(name, result, protocol) == {}


@pytest.mark.parametrize("name", GALLERY)
def test_a_scenario_expects_more_than_any_other_and_its_file_can_be_played(name: str) -> None:
    one = GALLERY[name]
    assert all(figures.keys() - SOUND for figures in one.expected.values())
    assert one.scenario().name == name
    assert one.scenario().protocol is next(iter(one.expected))
    # Whoever copies the file can play it as it is, and under all of these protocols.
    assert scenario_from_document(one.document(), protocols=()) == one.scenario()


def test_every_file_is_listed() -> None:
    files = {each.name for each in (FOLDER / "scenarios").iterdir()}
    assert files == {f"{name}.json" for name in GALLERY}


def test_a_figure_that_is_not_expected_is_named_with_its_value() -> None:
    result = played("crash", CLASSIC)
    late = replace(result, longest_gap_ms=52.0 * SECOND, double_partition_ms=1.0)
    assert unexpected("crash", late, CLASSIC) == {
        "longest_gap_ms": 52_000,
        "double_partition_ms": 1,
    }


def test_only_eager_members_stop_partitions_that_do_not_move() -> None:
    eager, sticky, consumer = (
        played("rolling-restart-eager", CLASSIC),
        played("rolling-restart", CLASSIC),
        played("rolling-restart", CONSUMER),
    )
    assert sticky.moves == consumer.moves
    assert eager.moves > 3 * sticky.moves


def test_only_classic_rebalances_wait_for_slow_polls() -> None:
    slow, fast = played("slow-polls", CLASSIC), played("rolling-restart", CLASSIC)
    assert slow.longest_gap_ms > fast.longest_gap_ms + 2 * SECOND
    slow, fast = played("slow-polls", CONSUMER), played("rolling-restart", CONSUMER)
    assert slow.members_touched == fast.members_touched
    # Of the member that gives up, and of the one that takes over: nobody else's.
    assert slow.longest_gap_ms < fast.longest_gap_ms + 2 * 5 * SECOND


def test_the_knee_of_short_lived_members_is_at_one_in_twenty_seconds() -> None:
    """The time that partitions have no consumer grows with the rate, to a twentieth and more."""

    def share(protocol: GroupProtocol, every_ms: int) -> float:
        scenario = replace(churn_at(every_ms), protocol=protocol)
        span_ms = scenario.plan[-1].at_ms - scenario.count_from_ms
        return simulate(scenario).result.unavailable_partition_ms / 100 / span_ms

    for protocol in (CLASSIC, CONSUMER):
        shares = [share(protocol, every_ms) for every_ms in (60_000, 30_000, 15_000, 7_500)]
        assert shares == sorted(shares)
        assert shares[1] < 0.035
        assert shares[2] > 0.05
    # Members that come faster than a rebalance meet in one; under KIP-848 each is on its own.
    assert share(CLASSIC, 2000) < 0.7 * share(CONSUMER, 2000)


def test_new_partitions_wait_for_the_leaders_metadata_in_classic_groups_only() -> None:
    assert played("topic-growth", CLASSIC).longest_gap_ms > 10 * SECOND
    # The next heartbeat, and two polls.
    assert played("topic-growth", CONSUMER).longest_gap_ms < 7.1 * SECOND
