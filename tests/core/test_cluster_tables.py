"""A cluster keeps what was computed of its topics; no answer depends on it."""

from __future__ import annotations

import copy
import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assignors import Cluster, Group, Member, Topic, assignor_named, lead
from assignors.problem import Problem, problem_of
from tests.group_bytes.test_members import shown
from wire import Subscription, encode_subscription

WEST, EAST = ("west",), ("east", "west")
LISTS = [tuple(names) for names in ("a", "ab", "ba", "ab", "bc", "c", "", "ax", "aab")]
"""Topics that members ask for: two equal lists that are two objects, and one topic that is none."""


def racks_of(problem: Problem) -> list[list[bool]]:
    """Return for each partition which racks of members have a replica."""
    assert problem.replica_set is not None
    assert problem.replica_racks is not None
    rows: list[list[bool]] = problem.replica_racks[problem.replica_set].tolist()
    return rows


def group(cluster: Cluster, *racks: str, topics: tuple[str, ...] = ("a", "b")) -> Group:
    members = tuple(
        Member(member_id=f"m{place}", topics=topics, rack_id=rack)
        for place, rack in enumerate(racks)
    )
    return Group(cluster=cluster, members=members)


def fresh(cluster: Cluster) -> Cluster:
    """Return the same cluster, of which nothing has been computed."""
    return Cluster(topics=cluster.topics)


def test_what_a_cluster_keeps_is_that_of_the_topics_and_racks_that_are_asked_for() -> None:
    a, b = (
        Topic(partition_count=3, racks=(WEST, EAST, ())),
        Topic(partition_count=2, racks=(EAST[::-1], WEST)),
    )
    topics = {"a": a, "b": b}
    cluster = Cluster(topics=topics)
    for racks in (("east", "west"), ("west",), ("north", "east")):
        for names in (("a", "b"), ("a",), ("b",)):
            for _ in range(2):
                asked = problem_of(group(cluster, *racks, topics=names))
                expected = problem_of(group(fresh(cluster), *racks, topics=names))
                assert racks_of(asked) == racks_of(expected)
    # Its topics are a dictionary of the caller's, who may put others there.
    topics["a"] = Topic(partition_count=3, racks=(EAST, WEST, WEST))
    east, _ = problem_of(group(cluster, "east", "west")), topics.pop("b")
    assert np.array(racks_of(east))[:, 0].tolist() == [True, False, False, True, False]
    topics["a"] = Topic(partition_count=1)
    assert racks_of(
        problem_of(group(Cluster(topics={"a": topics["a"], "c": b}), "east", topics=("a", "c")))
    ) == [[True], [True], [False]]


@given(
    rounds=st.lists(
        st.tuples(st.lists(st.sampled_from(range(len(LISTS))), max_size=6), st.booleans()),
        max_size=6,
    )
)
def test_members_that_come_and_go_are_those_of_a_cluster_that_knows_none(
    rounds: list[tuple[list[int], bool]],
) -> None:
    """Between two rounds the cluster may have been pickled, when no list is the same object."""
    cluster = Cluster.of({"a": 2, "b": 1, "c": 3})
    for numbers, is_pickled in rounds:
        members = tuple(Member(member_id=f"m{n}", topics=LISTS[n]) for n in dict.fromkeys(numbers))
        asked = problem_of(Group(cluster=cluster, members=members))
        assert shown(asked) == shown(problem_of(Group(cluster=fresh(cluster), members=members)))
        if is_pickled:
            cluster = pickle.loads(pickle.dumps(cluster))  # noqa: S301 - our own bytes


def test_a_cluster_from_another_process_may_know_other_lists_by_the_ids_that_these_have() -> None:
    cluster = Cluster.of({"a": 2, "b": 1, "c": 3})
    members = tuple(Member(member_id=f"m{n}", topics=LISTS[n]) for n in range(len(LISTS)))
    asked = Group(cluster=cluster, members=members)
    expected = shown(problem_of(asked))
    kept = cluster.tables["subscriptions"]
    cluster.tables["subscriptions"] = kept._replace(
        known=dict(zip(kept.known, reversed(kept.known.values()), strict=True)),
        number=dict(zip(kept.number, reversed(kept.number.values()), strict=True)),
    )
    assert shown(problem_of(asked)) == expected


def test_a_cluster_is_the_same_whatever_was_computed_of_it() -> None:
    cluster = Cluster(topics={"a": Topic(partition_count=2, racks=(WEST, EAST))})
    before = repr(cluster)
    problem_of(group(cluster, "west"))
    assert cluster.tables
    assert cluster == fresh(cluster)
    assert repr(cluster) == before
    assert copy.deepcopy(cluster) == cluster


def test_assignments_are_written_with_the_names_of_the_topics_that_are_asked_for() -> None:
    kept = Cluster.of(dict.fromkeys(("a", "b", "orders"), 40))
    for names in (("a", "b"), ("a", "orders"), ("a", "orders"), ("a", "b")):
        blob = encode_subscription(Subscription(topics=names))
        blobs = {f"m{number:02}": blob for number in range(60)}
        written = [
            lead(assignor_named("sticky"), cluster, blobs).assignments
            for cluster in (kept, fresh(kept))
        ]
        assert written[0] == written[1]
