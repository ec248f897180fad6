"""Weights against us in every round of simulated groups: joins, crashes, ghosts, static restarts.

The simulator knows what each member really consumes (`simulation.rounds`), so a partition that
starts on one while another still has it is found whatever anybody claims.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from assignors import Rebalance
from assignors.assignor import Assignor
from assignors.model import Group
from assignors.simulation.rounds.random_scenarios import Parameters, generate
from assignors.simulation.rounds.scenario import GroupEvent, GroupEventKind, Scenario
from assignors.simulation.rounds.settlement import rounds
from assignors.weighted.cooperative_sticky import COOPERATIVE_WEIGHTED
from assignors.weighting.token_bucket import (
    TimedBudget,
    TokenBucket,
    after_round,
    empty_bucket,
    round_budget,
)
from tests.weighted.adversary import Adversary

CASES = settings().max_examples
ROUND_MS = 400
EVERY_MS = 5 * ROUND_MS
SIZES = Parameters(members=5, topics=3, partitions=24, events=8)
WAIT = "wait"
"""A topic that nobody subscribes to: when it grows, a round begins and nothing else happens."""


@dataclass(slots=True)
class Weighed:
    """The assignor by weight, with weights that change each time and a bucket of moves."""

    adversary: Adversary
    bucket: TokenBucket
    now_ms: int = 0

    def __call__(self, group: Group) -> Rebalance:
        self.now_ms += ROUND_MS
        weighting = replace(self.adversary(group), budget=round_budget(self.bucket, self.now_ms))
        answer = COOPERATIVE_WEIGHTED.assign(replace(group, weighting=weighting))
        self.bucket = after_round(self.bucket, self.now_ms, spent=answer.spent, is_cooperative=True)
        assert answer.spent == answer.stats["moved"]
        assert weighting.budget is None or answer.spent <= weighting.budget
        return answer


def weighed(seed: int, cost: int | None) -> Assignor:
    budget = TimedBudget(cost=cost, every_ms=EVERY_MS)
    assign = Weighed(Adversary(np.random.default_rng(seed)), empty_bucket(budget, 0))
    return replace(COOPERATIVE_WEIGHTED, family="test", assign=assign)


def with_waits(scenario: Scenario) -> Scenario:
    """Return the scenario with a round between any two events in which nothing has changed."""
    events = [
        one
        for number, event in enumerate(scenario.events, 1)
        for one in (event, GroupEvent(kind=GroupEventKind.GROW, topic=WAIT, partition_count=number))
    ]
    return replace(scenario, events=tuple(events))


@settings(max_examples=max(CASES // 5, 1))
@given(
    seed=st.integers(0, 10**6),
    cost=st.sampled_from([None, 0, 1, 2, 6]),
    shape=st.sampled_from(["equal", "half", "few"]),
    is_wire=st.booleans(),
)
def test_no_partition_starts_twice_and_every_event_rests_after_one_batch(
    seed: int, cost: int | None, shape: str, *, is_wire: bool
) -> None:
    scenario = with_waits(generate(seed, replace(SIZES, subscription=shape, wire=is_wire)))
    played = rounds(scenario, weighed(seed, cost))
    for _, settlement in groupby(played, key=lambda one: (one.event_number, one.phase)):
        steps = list(settlement)
        assert not any(one.started_twice for one in steps)
        assert steps[-1].is_settled
        spent = [one.rebalance.spent for one in steps]
        assert all(not after for before, after in pairwise(spent) if before), "moves beget moves"
        assert sum(map(bool, spent)) <= 1
        # A member that does not say what it owns may take the leader a follow-up round more.
        assert len(steps) <= 2 + is_wire


def test_without_the_rule_that_a_hand_over_is_completed_first_moves_beget_moves() -> None:
    """What the laws above would find: a budget of each round, with weights against it."""

    def careless(group: Group) -> Rebalance:
        return COOPERATIVE_WEIGHTED.assign(replace(group, weighting=adversary(group)))

    adversary = Adversary(np.random.default_rng(1))
    assignor = replace(COOPERATIVE_WEIGHTED, family="test", assign=careless)
    played = rounds(with_waits(generate(1, SIZES)), assignor)
    assert any(one.is_last and not one.is_settled for one in played)
