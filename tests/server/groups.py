"""The vectors of the broker's assignors, and what the laws about them share."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import strategies as st

from assignors import Cluster, Group, Member, Rebalance, Topic
from assignors.testing import groups
from tests.wire.vectors import kafka

NAMES = {
    "srv-uniform": "server/uniform",
    "srv-range": "server/range",
    "srv-simple": "server/simple",
}
"""`in.algo` -> assignor."""

Place = tuple[str, int]
"""Topic, partition number."""


def cases() -> list[dict[str, Any]]:
    return kafka(*NAMES)


def lists_of(answer: Rebalance) -> dict[str, list[list[Any]]]:
    """The answer as the vectors write it: pairs sorted by topic and number."""
    assert answer.lists is not None
    return {member: sorted(map(list, pairs)) for member, pairs in answer.lists.items()}


def places_of(answer: Rebalance) -> dict[str, set[Place]]:
    """What each member gets."""
    assert answer.lists is not None
    return {member: set(pairs) for member, pairs in answer.lists.items()}


def had(member: Member) -> set[Place]:
    """What a member was given last."""
    return {(topic, number) for topic, numbers in member.owned.items() for number in numbers}


def exist(group: Group) -> set[Place]:
    """All partitions of all topics."""
    topics = group.cluster.topics.items()
    return {(name, number) for name, topic in topics for number in range(topic.partition_count)}


def assignable(group: Group) -> set[Place]:
    """All partitions of topics that somebody subscribes to."""
    asked = {topic for member in group.members for topic in member.topics}
    return {place for place in exist(group) if place[0] in asked}


def subscribers(group: Group, topic: str) -> list[str]:
    return [member.member_id for member in group.members if topic in member.topics]


def holders(answer: Rebalance) -> Counter[Place]:
    """How many members get each partition."""
    return Counter(place for places in places_of(answer).values() for place in places)


@st.composite
def equal_groups(draw: st.DrawFn) -> Group:
    """Draw a group in which everybody subscribes to everything, with an intact target."""
    counts = draw(st.lists(st.integers(0, 9), min_size=1, max_size=4))
    cluster = Cluster(
        topics={f"t{n}": Topic(partition_count=count) for n, count in enumerate(counts)}
    )
    topics = tuple(cluster.topics)
    member_count = draw(st.integers(1, 7))
    owned: list[dict[str, tuple[int, ...]]] = [{} for _ in range(member_count)]
    for topic, count in zip(topics, counts, strict=True):
        for number in draw(st.permutations(range(count))):
            owner = draw(st.integers(-1, member_count - 1))
            if owner >= 0:
                owned[owner][topic] = (*owned[owner].get(topic, ()), number)
    return Group(
        cluster=cluster,
        members=tuple(
            Member(member_id=f"m{n}", topics=topics, owned=share) for n, share in enumerate(owned)
        ),
    )


any_groups = groups(racks=False)
"""Groups of all kinds: conflicting targets, numbers and topics that do not exist."""
