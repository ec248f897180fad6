"""What a run counts of the group: rebalances, interrupted members, unnecessary moves, how long."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.scenario import Action, GroupProtocol, Scenario, Verb
from assignors.simulation.timed.simulation import simulate
from tests.simulation.timed.groups import SETTLED_MS, group, planned

CLASSIC, CONSUMER = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER


def run(scenario: Scenario) -> TimedResult:
    return simulate(scenario).result


def one_leaves(assignor: str) -> Scenario:
    scenario = group(assignors=(assignor,))
    return planned(scenario, [Action(at_ms=SETTLED_MS + 5000, do=Verb.STOP, member="c0")])


def test_an_assignor_that_is_not_sticky_moves_more_than_the_best_balance_needs() -> None:
    sticky, plain = run(one_leaves("java/cooperative-sticky")), run(one_leaves("java/range"))
    assert (sticky.moves, sticky.moves_beyond_optimum) == (10, 0)
    assert plain.moves_beyond_optimum == plain.moves - 10 > 0


@pytest.mark.parametrize("protocol", GroupProtocol)
def test_what_goes_away_from_a_frozen_member_and_comes_back_need_not_have_moved(
    protocol: GroupProtocol,
) -> None:
    # Fenced by brokers it consumes nothing, and others everything: it waits for its share.
    frozen = run(named("frozen-member", protocol=protocol))
    assert (frozen.moves, frozen.moves_beyond_optimum) == (20, 20)


def test_a_classic_rebalance_interrupts_everybody_and_kip_848_those_who_give_something_up() -> None:
    leave = one_leaves("java/cooperative-sticky")
    assert run(leave).members_touched == 9
    assert run(replace(leave, protocol=CONSUMER)).members_touched == 0
    # Everybody rejoins once for the join, and once more as partitions were given up.
    restart = named("rolling-restart", seed=1)
    assert run(restart).members_touched == 10 * (9 + 2 * 9)
    assert run(replace(restart, protocol=CONSUMER)).members_touched == 10 * 9


def test_a_static_member_that_is_away_is_no_rebalance() -> None:
    back_in_time = run(named("rolling-restart-static", protocol=CONSUMER))
    assert (back_in_time.rounds, back_in_time.round_ms_max) == (0, 0.0)
    # Its session ends after 45 seconds; what follows takes a heartbeat, and only that counts.
    too_slow = run(named("static-restart-too-slow", protocol=CONSUMER))
    assert 0 < too_slow.round_ms_max < 12_000


def test_a_group_converges_when_the_last_of_its_partitions_has_a_consumer_again() -> None:
    crash = named("crash", seed=2, protocol=CONSUMER)
    result = run(crash)
    # Nothing else happens in this run than the crash, and what comes of it.
    assert result.convergence_ms == result.longest_gap_ms
    assert run(replace(crash, until_ms=SETTLED_MS + 20_000)).convergence_ms is None


@pytest.mark.parametrize("protocol", GroupProtocol)
def test_each_rebalance_is_kept_with_its_begin_end_and_generation(protocol: GroupProtocol) -> None:
    played = simulate(named("rolling-restart", seed=4, protocol=protocol))
    counted = [each for each in played.rebalances if each.ended >= 1000 * SETTLED_MS]
    times = [(each.ended - each.began) / 1000 for each in counted]
    assert len(counted) < len(played.rebalances)
    assert max(times) == played.result.round_ms_max
    assert all(
        before.ended <= after.began and before.generation <= after.generation
        for before, after in zip(played.rebalances, played.rebalances[1:], strict=False)
    )
