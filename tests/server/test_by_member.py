"""What changes is put among what stays, and what is kept with a cluster is right for the next."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from assignors import Cluster, Group, Member
from assignors.options import Jdk, Options
from assignors.server import homogeneous
from assignors.server.homogeneous import Placed, place
from assignors.server.spec import spec_of
from assignors.server.uniform import assign_by_arrays
from tests.server.groups import equal_groups
from wire import TopicPartitions

TOPICS = tuple(f"t{number:02}" for number in range(12))
"""As many as make a table that is copied twice as long in Java 17 as in Java 25."""
NAMES = ("c0", "c1", "c10", "c2", "c20", "c30")
"""In the order of their ids, of which c10, c20 and c30 come first in Java's map."""


def is_merged(placed: Placed) -> bool:
    """Whether the partitions by member needed no sorting; they are as if they had been sorted."""
    found = placed.by_member()
    if found is None:
        return False
    order = np.argsort(placed.owner, kind="stable")
    assert found.tolist() == order[placed.owner[order] >= 0].tolist()
    return True


@given(group=equal_groups(), few=st.sampled_from([1, 8]))
def test_partitions_by_member_are_in_order_or_left_to_be_sorted(group: Group, few: int) -> None:
    with patch.object(homogeneous, "FEW", few):
        event(f"merged {is_merged(place(spec_of(group), 17))}")


@pytest.mark.parametrize("seed", range(40))
def test_an_answer_is_changed_without_sorting(seed: int) -> None:
    """Somebody leaves, comes, has all that two are to have, or nothing happens."""
    dice = Random(seed)
    cluster = Cluster.of({topic: dice.randint(8, 10) for topic in TOPICS})
    names = [f"m{number}" for number in range(dice.randint(9, 15))]
    owned = assign_by_arrays(of(cluster, {name: {} for name in names})).assignment
    given = {name: owned[name] for name in dice.sample(names, len(names))}
    first, second, *_ = given
    if seed % 4 == 0:
        del given[first]
    elif seed % 4 == 1:
        given["new"] = {}
    elif seed % 4 == 2:
        mine, others = given[first], given[second]
        both = {each: mine.get(each, ()) + others.get(each, ()) for each in TOPICS}
        given |= {first: {each: tuple(sorted(both[each])) for each in TOPICS}, second: {}}
    with patch.object(homogeneous, "FEW", 4):
        assert is_merged(place(spec_of(of(cluster, given)), 17))


@given(
    rounds=st.lists(
        st.tuples(
            st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True),
            st.sampled_from([17, 25]),
        ),
        min_size=2,
        max_size=4,
    )
)
def test_topics_of_one_cluster_are_in_the_order_of_the_first_member_each_time(
    rounds: list[tuple[list[str], Jdk]],
) -> None:
    """Members list the same topics in two orders, which decide ties in a table of Java's."""
    known = Cluster.of(dict.fromkeys(TOPICS, 2))
    for names, jdk in rounds:
        options = Options(jdk=jdk)
        members = tuple(
            Member(member_id=name, topics=TOPICS[:: 1 if len(name) < 3 else -1]) for name in names
        )
        again = assign_by_arrays(Group(cluster=known, members=members), options=options)
        fresh = Cluster.of(dict.fromkeys(TOPICS, 2))
        alone = assign_by_arrays(Group(cluster=fresh, members=members), options=options)
        assert again.lists == alone.lists


def of(cluster: Cluster, owned: Mapping[str, TopicPartitions]) -> Group:
    """The group of members that subscribe to everything."""
    topics = tuple(cluster.topics)
    members = [Member(member_id=name, topics=topics, owned=owned[name]) for name in owned]
    return Group(cluster=cluster, members=tuple(members))
