"""Runs with records: budgets, hand-overs, lag and what members process."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from assignors import Assignor, assignor_named
from assignors.registry import ASSIGNORS
from assignors.simulation.traffic.estimates import Estimates
from assignors.simulation.traffic.results import TrafficResult, result_of
from assignors.simulation.traffic.run import Moment, moments
from assignors.simulation.traffic.scenario import (
    Distribution,
    LeaderConfig,
    RateConfig,
    TrafficAction,
    TrafficMember,
    TrafficScenario,
    Verb,
    WeightSource,
)
from assignors.workload import NumberedPartitions

FOUR = tuple(TrafficMember(name=f"m{number}") for number in range(4))
FIXED = RateConfig(drift=0, noise=0, bursts_a_day=0)
SMALL = TrafficScenario(
    name="small",
    until_s=1500,
    topics={"b": 10, "a": 6, "c": 8},
    members=FOUR,
    records_per_s=2400,
    rates=FIXED,
    leader=LeaderConfig(error=0),
)
RESTLESS = replace(
    SMALL,
    rates=RateConfig(noise=1.0, noise_s=30),
    leader=LeaderConfig(error=1.0, tolerance=0, trigger=0),
    members=(*FOUR, TrafficMember(name="late", capacity=3)),
    plan=(
        TrafficAction(at_s=300, do=Verb.JOIN, member="late"),
        TrafficAction(at_s=600, do=Verb.LEAVE, member="m0"),
        TrafficAction(at_s=610, do=Verb.LEAVE, member="m2"),
        TrafficAction(at_s=900, do=Verb.JOIN, member="m0"),
    ),
)
OURS = assignor_named("cooperative-weighted")


def played(scenario: TrafficScenario, assignor: Assignor = OURS, seed: int = 1) -> TrafficResult:
    found = moments(scenario, assignor, seed=seed)
    return result_of(found, tick_s=scenario.tick_s, count_from_s=scenario.count_from_s)


def copied(found: Iterable[Moment]) -> list[Moment]:
    return [replace(each, lag=each.lag.copy(), owner=each.owner.copy()) for each in found]


def with_leader(scenario: TrafficScenario, **changes: object) -> TrafficScenario:
    return replace(scenario, leader=replace(scenario.leader, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ASSIGNORS)
def test_no_partition_has_two_members_and_no_use_is_below_its_bound(name: str) -> None:
    assignor = assignor_named(name)
    settled = 0
    for moment in moments(RESTLESS, assignor, seed=2):
        assert moment.double == 0
        assert moment.use_bound is None or moment.use.max() > moment.use_bound * (1 - 1e-6)
        there = np.flatnonzero(moment.capacity)
        assert np.isin(moment.owner, [-1, *there]).all()
        settled += not moment.rounds
        # A round of an eager protocol stops everybody, one of a cooperative one those that move.
        if not assignor.is_cooperative:
            assert moment.paused == (24 if moment.rounds else 0)
    assert settled


@pytest.mark.parametrize("name", ["range", "optimal/sticky", "cooperative-sticky", "java/sticky"])
def test_an_assignor_that_counts_rebalances_only_when_members_come_and_go(name: str) -> None:
    found = copied(moments(RESTLESS, assignor_named(name), seed=3))
    begun = [moment.at_s for moment in found if moment.rebalances]
    # The second leave comes while the first rebalance still runs under a cooperative protocol.
    assert begun in ([0, 300, 600, 610, 900], [0, 300, 600, 900])


def test_records_are_neither_lost_nor_made() -> None:
    found = copied(moments(RESTLESS, OURS, seed=4))
    for before, after in pairwise(found):
        arrived = after.rate * RESTLESS.tick_s
        done = before.lag + arrived - after.lag
        assert (done > -1e-6).all()
        assert done.sum() < after.capacity.sum() * RESTLESS.tick_s + 1e-6


def test_at_constant_rates_the_group_comes_to_rest_within_its_limits() -> None:
    found = copied(moments(SMALL, OURS, seed=5))
    last = max(moment.at_s for moment in found if moment.rounds)
    assert last < 600
    late = [moment for moment in found if moment.use_bound is not None and moment.at_s > last]
    assert late
    for moment in late:
        assert moment.use_bound is not None
        assert moment.use.max() <= 1.2 * moment.use_bound * (1 + 1e-6)
    total = sum(moment.moves for moment in found)
    assert 0 < total < 12


def test_a_partition_that_moves_is_not_consumed_for_one_round() -> None:
    found = copied(moments(SMALL, OURS, seed=5))
    moves = sum(moment.moves for moment in found)
    assert moves > 0
    # All 24 wait for the first round.
    assert sum(moment.paused for moment in found) == 24 + moves


@pytest.mark.parametrize(
    ("source", "expected"), [("rate", (1000, 0)), ("lag", (7, 90)), ("work", (1007, 90))]
)
def test_weights_without_an_error_are_what_arrives_and_waits(
    source: str, expected: tuple[int, int]
) -> None:
    config = LeaderConfig(error=0, horizon_s=100, weights=WeightSource(source))
    estimates = Estimates(config, NumberedPartitions.of({"t": 2}), seed=1)
    assert estimates.weights() == {}
    for at_s in (0, 30, 60, 90):
        estimates.sample(at_s, np.array([7.0, 90.0]))
        for _ in range(3):
            estimates.add(np.array([100.0, 0.0]))
    assert estimates.weights() == {"t": expected}
    estimates.forget()
    assert estimates.weights() == {}


@pytest.mark.parametrize("budget", [0, 1, 2, 5])
def test_moves_stay_within_the_budget_of_every_time(budget: int) -> None:
    scenario = with_leader(RESTLESS, budget=budget)
    at = [m.at_s for m in moments(scenario, OURS, seed=6) for _ in range(m.moves)]
    assert len(at) >= budget
    every_s = scenario.leader.decides_every_s
    for begin in at:
        # A round later than they began, and what was left of the budget before comes on top.
        within = [one for one in at if begin <= one < begin + every_s]
        assert len(within) <= 2 * budget
    assert len(at) <= budget * (1 + scenario.until_s / every_s)


def test_a_budget_of_nothing_moves_nothing_but_places_what_has_no_member() -> None:
    found = played(with_leader(RESTLESS, budget=0))
    assert found.moves == 0
    assert found.placed > 24
    assert played(with_leader(SMALL, budget=1), seed=5).deferred_max > 0


def test_a_member_with_more_capacity_gets_more() -> None:
    large = replace(SMALL, members=(TrafficMember(name="large", capacity=4), *FOUR))
    *_, last = moments(large, OURS, seed=7)
    load = last.use * last.capacity
    assert load[0] > 2.5 * load[1:].max()
    assert last.use.max() < 1.3 * 0.7


def test_a_topic_that_gets_more_records_has_more_weight_from_then_on() -> None:
    hot = TrafficAction(at_s=900, do=Verb.RATE, topic="a", factor=6)
    found = copied(moments(replace(SMALL, plan=(hot,)), OURS, seed=8))
    before, after = (next(m for m in found if m.at_s == at).rate for at in (890, 900))
    assert np.allclose(after / before, [6] * 6 + [1] * 18)
    assert sum(moment.moves for moment in found if moment.at_s > 900) > 0


def test_a_new_leader_moves_nothing_before_it_has_measured_rates() -> None:
    gone = TrafficAction(at_s=900, do=Verb.LEAVE, member="m0")
    scenario = replace(with_leader(SMALL, samples_every_s=300), plan=(gone,))
    found = copied(moments(scenario, OURS, seed=9))
    moved = [moment.at_s for moment in found if moment.moves and moment.at_s > 880]
    assert moved
    assert min(moved) >= 1200


def test_without_looks_only_joins_and_leaves_lead_to_rounds() -> None:
    found = copied(moments(with_leader(RESTLESS, decides_every_s=0), OURS, seed=2))
    begun = [moment.at_s for moment in found if moment.rebalances]
    assert begun in ([0, 300, 600, 900], [0, 300, 600, 610, 900])


def test_work_drains_a_backlog_sooner_than_rates_and_counting_do() -> None:
    behind = replace(
        SMALL, until_s=3600, members=FOUR[:3], behind_share=0.25, behind_s=1200, use=0.6
    )
    rate = with_leader(behind, weights=WeightSource.RATE)
    blind = assignor_named("cooperative-sticky")
    found = [
        np.mean([played(scenario, assignor, seed).caught_up_after_s for seed in (1, 2, 3)])
        for scenario, assignor in ((behind, OURS), (rate, OURS), (rate, blind))
    ]
    assert found == sorted(found)
    assert found[0] < found[1]


def test_a_partition_that_nobody_can_drain_does_not_hide_the_load_of_others() -> None:
    """One member has the partition; the three others share what is left, as evenly as before."""
    behind = replace(SMALL, behind_share=1 / 24, behind_s=80_000)
    for seed in (1, 2, 3, 4):
        for moment in moments(behind, OURS, seed=seed):
            if moment.use_bound is not None and moment.at_s > 600:
                assert moment.lag.max() > 1000
                level = max(moment.use_bound, float(moment.use.sum()) / 3)
                assert moment.use.max() <= 1.24 * level * (1 + 1e-6)


def test_a_run_is_the_same_again_and_another_one_with_another_seed() -> None:
    short = replace(RESTLESS, until_s=600, plan=())
    assert played(short) == played(short)
    assert played(short) != played(short, seed=2)


def test_a_topic_that_nobody_takes_waits_and_is_in_no_bound() -> None:
    some = tuple(replace(member, topics=("a", "c")) for member in FOUR)
    even = replace(SMALL, members=some, rates=replace(FIXED, distribution=Distribution.EVEN))
    *_, last = (each for each in moments(even, OURS) if each.use_bound is not None)
    assert (last.owner[6:16] == -1).all()
    assert (last.lag[6:16] > 0).all()
    assert last.use_bound == pytest.approx(0.7 * 14 / 24, rel=0.15)


def test_a_group_of_which_all_have_left_goes_on_when_somebody_comes() -> None:
    only = (TrafficMember(name="m0"),)
    plan = (
        TrafficAction(at_s=300, do=Verb.LEAVE, member="m0"),
        TrafficAction(at_s=600, do=Verb.JOIN, member="m0"),
    )
    found = copied(moments(replace(SMALL, members=only, plan=plan), OURS))
    between = [moment for moment in found if 310 <= moment.at_s < 600]
    assert all((moment.owner == -1).all() and moment.use_bound is None for moment in between)
    assert (found[-1].owner == 0).all()
