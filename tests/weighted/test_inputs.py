"""Groups with weights as arrays: what is assumed of topics without weights."""

from __future__ import annotations

import numpy as np
import pytest

from assignors import Cluster, Group, Member, Weighting, assignor_named
from assignors.leader import lead
from assignors.problem import problem_of
from assignors.weighted.inputs import loads_of
from assignors.weighted.ratios import EXACT
from wire import Subscription, encode_subscription

CLUSTER = Cluster.of({"known": 1, "new": 7})
TOPICS = ("known", "new")


@pytest.mark.parametrize("weight", [0, 1, 100, EXACT // 8 - 1, EXACT // 8, EXACT // 2, EXACT - 1])
def test_an_assumed_weight_is_the_median_or_as_much_as_sums_stay_exact_with(weight: int) -> None:
    group = Group(cluster=CLUSTER, members=(Member(member_id="a", topics=TOPICS),))
    weights = loads_of(problem_of(group), Weighting(weights={"known": (weight,)})).weight
    (assumed,) = set(weights[1:].tolist())
    assert weights[0] == weight
    assert weights.sum() < EXACT
    assert assumed == weight or (assumed < weight and weight + 7 * (assumed + 1) >= EXACT)


def test_a_topic_without_weights_never_fails_a_group() -> None:
    """A topic made a minute ago, beside one whose weight is absurd: everybody gets something."""
    blob = encode_subscription(Subscription(topics=TOPICS))
    led = lead(
        assignor_named("cooperative-weighted"),
        CLUSTER,
        {"a": blob, "b": blob},
        weighting=lambda _: Weighting(weights={"known": (EXACT - 1,)}),
    )
    given = led.rebalance.assignment
    numbers = np.concatenate([share.get("new", ()) for share in given.values()])
    assert sorted(numbers.tolist()) == list(range(7))
    assert all(given.values())


def test_an_assumed_capacity_never_fails_a_group() -> None:
    """The sum of those that are given is right, and one for each other member is too much."""
    members = tuple(Member(member_id=name, topics=TOPICS) for name in "abcd")
    weighting = Weighting(capacities={"b": EXACT - 2, "c": 1})
    group = Group(cluster=CLUSTER, members=members, weighting=weighting)
    capacity = loads_of(problem_of(group), weighting).capacity
    assert capacity.tolist() == [1, EXACT - 4, 1, 1]
    given = assignor_named("weighted").assign(group).assignment
    assert sum(len(numbers) for share in given.values() for numbers in share.values()) == 8
