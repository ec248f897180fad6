"""Cooperative groups by weight: never two owners, whatever the weights; rest after two rounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assignors import Balance, Cluster, Group, Member, RebalanceProtocol, Weighting
from assignors.checks import check
from assignors.weighted.cooperative_sticky import COOPERATIVE_WEIGHTED

TOPICS = {"a": 7, "b": 12, "c": 3}


def drawn_group(random: np.random.Generator) -> Group:
    """Return a group in which nobody owns anything yet."""
    members = tuple(
        Member(
            member_id=f"m{number}",
            topics=tuple(topic for topic in TOPICS if random.random() < 0.7) or ("b",),
        )
        for number in range(int(random.integers(2, 7)))
    )
    return Group(cluster=Cluster.of(TOPICS), members=members, generation=0)


def weighed(group: Group, random: np.random.Generator, budget: int | None) -> Group:
    """Return the group with weights drawn anew: most partitions change places in the order."""
    weighting = Weighting(
        weights={
            topic: tuple((random.lognormal(0, 2, count) * 100).astype(int).tolist())
            for topic, count in TOPICS.items()
        },
        capacities={one.member_id: int(random.integers(1, 4)) for one in group.members},
        budget=budget,
        balance=Balance(tolerance=Balance().tolerance * 0, trigger=Balance().trigger * 0),
    )
    return replace(group, weighting=weighting)


def after(group: Group) -> Group:
    """Return the group after a round: everybody owns what it was given."""
    answer = COOPERATIVE_WEIGHTED.assign(group)
    report = check(
        group, answer.assignment, protocol=RebalanceProtocol.COOPERATIVE, withheld=answer.withheld
    )
    assert report.violations == ()
    generation = (group.generation or 0) + 1
    members = tuple(
        replace(one, owned=dict(answer.assignment[one.member_id]), generation=generation)
        for one in group.members
    )
    return replace(group, members=members, generation=generation)


def owners(group: Group) -> dict[tuple[str, int], str]:
    """Return who owns what; an error where two do."""
    found: dict[tuple[str, int], str] = {}
    for member in group.members:
        for topic, numbers in member.owned.items():
            for number in numbers:
                assert found.setdefault((topic, number), member.member_id) == member.member_id
    return found


@pytest.mark.parametrize("budget", [None, 0, 2])
def test_weights_drawn_anew_each_round_never_lead_to_two_owners(budget: int | None) -> None:
    for seed in range(12):
        random = np.random.default_rng(seed)
        group = drawn_group(random)
        for _ in range(8):
            before = owners(group)
            group = after(weighed(group, random, budget))
            kept = {place: owner for place, owner in owners(group).items() if place in before}
            assert all(before[place] == owner for place, owner in kept.items()), "two owners"


@pytest.mark.parametrize("budget", [None, 2])
def test_a_batch_rests_after_two_rounds(budget: int | None) -> None:
    """The round that hands over what the first one took has no budget, or moves beget moves."""
    for seed in range(12):
        random = np.random.default_rng(seed)
        group = after(weighed(drawn_group(random), random, None))
        group = weighed(group, random, budget)
        second = after(group)
        assert second.weighting is not None
        closed = replace(second, weighting=replace(second.weighting, budget=0))
        third = after(closed)
        assert not COOPERATIVE_WEIGHTED.assign(third).withheld
        taken = {topic for one in third.members for topic in one.topics}
        assert len(owners(third)) == sum(TOPICS[topic] for topic in taken)


def test_the_order_of_members_and_topics_means_nothing() -> None:
    for seed in range(12):
        random = np.random.default_rng(seed)
        group = weighed(after(weighed(drawn_group(random), random, None)), random, 3)
        answer = COOPERATIVE_WEIGHTED.assign(group)
        order = random.permutation(len(group.members)).tolist()
        topics = dict(reversed([*group.cluster.topics.items()]))
        mixed = replace(
            group,
            members=tuple(
                replace(group.members[at], topics=tuple(reversed(group.members[at].topics)))
                for at in order
            ),
            cluster=Cluster(topics=topics),
        )
        again = COOPERATIVE_WEIGHTED.assign(mixed)
        assert (again.assignment, again.stats) == (answer.assignment, answer.stats), seed
