"""A cluster keeps what was computed of its topics; no answer depends on it."""

from __future__ import annotations

import copy

import numpy as np

from assignors import Cluster, Group, Member, Topic
from assignors.problem import Problem, problem_of

WEST, EAST = ("west",), ("east", "west")


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


def test_a_cluster_is_the_same_whatever_was_computed_of_it() -> None:
    cluster = Cluster(topics={"a": Topic(partition_count=2, racks=(WEST, EAST))})
    before = repr(cluster)
    problem_of(group(cluster, "west"))
    assert cluster.tables
    assert cluster == fresh(cluster)
    assert repr(cluster) == before
    assert copy.deepcopy(cluster) == cluster
