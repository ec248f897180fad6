"""Names to numbers and back: nothing lost, nothing that depends on the order of the input."""

from __future__ import annotations

import random
import tracemalloc
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors import Cluster, Group, Member, Topic
from assignors.metrics import loads, moved_count, rack_mismatch_count, stats, topic_spread
from assignors.problem import (
    NOBODY,
    RUNS_AT_ONCE,
    assignment_of,
    owners,
    partitions_by_topic,
    problem_of,
)

NAMES = st.sampled_from(["a", "b", "é", "\uffff", "\U0001f600", "c-1", "c-10", "c-2"])


@st.composite
def groups(draw: st.DrawFn) -> Group:
    counts = draw(st.dictionaries(NAMES, st.integers(0, 4), max_size=4))
    ids = draw(st.lists(NAMES, unique=True, max_size=4))
    members = tuple(
        Member(member_id=i, topics=tuple(draw(st.lists(NAMES, max_size=5)))) for i in ids
    )
    return Group(cluster=Cluster.of(counts), members=members)


@given(group=groups(), seed=st.integers(0, 3))
def test_numbers_do_not_depend_on_the_order_given(group: Group, seed: int) -> None:
    members = list(group.members)
    random.Random(seed).shuffle(members)
    topics = dict(reversed(list(group.cluster.topics.items())))
    one = problem_of(group)
    other = problem_of(Group(cluster=Cluster(topics=topics), members=tuple(members)))
    assert (one.topics, one.members) == (other.topics, other.members)
    assert one.takes[one.class_of].tolist() == other.takes[other.class_of].tolist()
    assert one.first.tolist() == other.first.tolist()


@given(group=groups(), data=st.data(), at_once=st.sampled_from([1, 2, RUNS_AT_ONCE]))
def test_names_come_back_from_numbers(group: Group, data: st.DataObject, at_once: int) -> None:
    problem = problem_of(group)
    holder = st.integers(NOBODY, problem.member_count - 1)
    drawn = data.draw(
        st.lists(holder, min_size=problem.partition_count, max_size=problem.partition_count)
    )
    owner = np.array(drawn, dtype=np.int32)
    with patch("assignors.problem.RUNS_AT_ONCE", at_once):
        named = assignment_of(problem, owner)
    assert set(named) == {member.member_id for member in group.members}
    assert owners(problem, named).tolist() == drawn
    free = partitions_by_topic(problem, np.flatnonzero(owner == NOBODY))
    held = [(t, n) for owned in named.values() for t, ns in owned.items() for n in ns]
    waiting = [(t, n) for t, ns in free.items() for n in ns]
    expected = [
        (t, n) for t in problem.topics for n in range(group.cluster.topics[t].partition_count)
    ]
    assert sorted(held + waiting) == sorted(expected)
    assert loads(problem, owner).sum() == len(held)


def test_a_large_assignment_is_named_in_little_memory() -> None:
    """A million partitions of 500 topics took 240 MB, most of it for lists of numbers."""
    count = 300
    names = tuple(f"t{number:03d}" for number in range(count))
    members = tuple(Member(member_id=f"m{number:03d}", topics=names) for number in range(count))
    problem = problem_of(Group(cluster=Cluster.of(dict.fromkeys(names, count)), members=members))
    partition = np.arange(count * count)
    owner = ((partition + partition // count) % count).astype(np.int32)
    assert len(owner) > RUNS_AT_ONCE
    tracemalloc.start()
    try:
        named = assignment_of(problem, owner)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 150 * len(owner)
    assert owners(problem, named).tolist() == owner.tolist()


def test_topics_are_sorted_as_java_sorts_them() -> None:
    topics = ("\uffff", "\U0001f600", "b")
    group = Group(
        cluster=Cluster.of(dict.fromkeys(topics, 1)),
        members=(Member(member_id="m", topics=topics),),
    )
    assert problem_of(group).topics == ("b", "\U0001f600", "\uffff")


def test_topics_that_a_cluster_gets_later_are_those_of_the_next_problem() -> None:
    topics = {"a": Topic(partition_count=2), "b": Topic(partition_count=1)}
    cluster = Cluster(topics=topics)
    both = (Member(member_id="x", topics=("a", "b")),)
    one = (Member(member_id="x", topics=("a", "c")),)

    def counts(members: tuple[Member, ...]) -> dict[str, int]:
        problem = problem_of(Group(cluster=cluster, members=members))
        assert problem.topic_of.tolist() == np.repeat(np.arange(2), np.diff(problem.first)).tolist()
        return dict(zip(problem.topics, np.diff(problem.first).tolist(), strict=True))

    assert counts(both) == counts(both) == {"a": 2, "b": 1}
    topics["b"] = Topic(partition_count=3)
    assert counts(both) == {"a": 2, "b": 3}
    topics["c"] = Topic(partition_count=4)
    assert counts(one) == {"a": 2, "c": 4}
    assert counts(both) == {"a": 2, "b": 3}


def test_members_that_ask_for_one_set_of_topics_are_one_class() -> None:
    members = tuple(
        Member(member_id=f"m{i}", topics=topics)
        for i, topics in enumerate([("t", "u"), ("u", "t"), ("t", "u", "t", "gone"), ("t",), ()])
    )
    problem = problem_of(Group(cluster=Cluster.of({"t": 1, "u": 1}), members=members))
    assert problem.class_of.tolist() == [0, 0, 0, 1, 2]
    assert problem.takes.tolist() == [[True, True], [True, False], [False, False]]


def test_racks_count_only_where_both_sides_have_some() -> None:
    racks = (("r1", "r2"), ("r2",), ())
    topic = Topic(partition_count=3, racks=racks)
    plain = Topic(partition_count=1)
    at_home = Member(member_id="a", topics=("t", "p"), rack_id="r1")
    anywhere = Member(member_id="b", topics=("t", "p"))
    group = Group(cluster=Cluster(topics={"t": topic, "p": plain}), members=(at_home, anywhere))
    problem = problem_of(group)
    assert problem.rack is not None
    assert problem.rack.tolist() == [0, -1]
    everything = np.zeros(4, dtype=np.int32)
    assert rack_mismatch_count(problem, everything) == 2
    assert rack_mismatch_count(problem, everything + 1) == 0
    assert problem_of(Group(cluster=group.cluster, members=(anywhere,))).rack is None
    bare = Group(cluster=Cluster.of({"t": 3}), members=(at_home,))
    assert problem_of(bare).replica_set is None


def test_replicas_in_the_same_racks_are_one_set_in_any_order() -> None:
    racks = (("r1", "r2"), ("r2", "r1", "gone"), ("r2", "r2"), (), ("gone",), ("r1", "r2"))
    cluster = Cluster(
        topics={
            "t": Topic(partition_count=6, racks=racks),
            "u": Topic(partition_count=2),
            "v": Topic(partition_count=2, racks=(("r2",), ())),
        }
    )
    members = tuple(
        Member(member_id=rack, topics=("t", "u", "v"), rack_id=rack) for rack in ("r1", "r2")
    )
    problem = problem_of(Group(cluster=cluster, members=members))
    assert problem.replica_set is not None
    assert problem.replica_racks is not None
    both, second, none = [True, True], [False, True], [False, False]
    of_t = [both, both, second, none, none, both]
    assert problem.replica_racks[problem.replica_set].tolist() == [*of_t, both, both, second, none]
    assert problem.replica_racks.tolist() == [both, second, none]


def test_figures_of_a_small_assignment() -> None:
    members = tuple(Member(member_id=i, topics=("t", "u")) for i in "ab")
    problem = problem_of(Group(cluster=Cluster.of({"t": 3, "u": 1}), members=members))
    favoured = np.array([0, 0, -1, 1], dtype=np.int32)
    target = np.array([0, 1, 0, 1], dtype=np.int32)
    given_now = np.array([0, -1, 0, 1], dtype=np.int32)
    figures = stats(problem, favoured=favoured, given=given_now, target=target)
    assert figures == {
        "member_count": 2,
        "partition_count": 4,
        "load_max": 2,
        "load_min": 1,
        "load_square_sum": 5,
        "moved": 1,
        "kept": 2,
        "withheld": 1,
        "unassigned": 1,
        "topic_spread": 6,
        "topic_spread_max": 1,
        "rack_mismatches": 0,
    }
    assert moved_count(favoured, favoured) == 0
    assert topic_spread(problem, np.zeros(4, dtype=np.int32))[1] == 3
    assert topic_spread(problem, np.full(4, NOBODY, dtype=np.int32)) == (0, 0)


def test_a_group_that_cannot_be_is_refused() -> None:
    twice = (Member(member_id="a"), Member(member_id="a"))
    with pytest.raises(ValueError, match="'a' stands twice"):
        Group(cluster=Cluster.of({}), members=twice)
    with pytest.raises(ValueError, match="-1 is negative"):
        Topic(partition_count=-1)
    with pytest.raises(ValueError, match="1 entries for 2 partitions"):
        Topic(partition_count=2, racks=(("r",),))


@given(st.integers(1, 130), st.lists(st.integers(0, 3), max_size=12), st.integers(0, 9))
def test_members_of_the_same_topics_are_a_class_numbered_by_its_first_member(
    width: int, kinds: list[int], seed: int
) -> None:
    """Up to 64 topics are compared as one word, more as bytes."""
    dice = random.Random(seed)
    names = [f"{number:03}" for number in range(width)]
    lists = [tuple(dice.sample(names, dice.randint(1, width))) for _ in range(4)]
    members = tuple(
        Member(member_id=f"{place:02}", topics=tuple(dice.sample(lists[kind], len(lists[kind]))))
        for place, kind in enumerate(kinds)
    )
    problem = problem_of(Group(cluster=Cluster.of(dict.fromkeys(names, 1)), members=members))
    numbers: dict[frozenset[str], int] = {}
    classes = [numbers.setdefault(frozenset(one.topics), len(numbers)) for one in members]
    assert problem.class_of.tolist() == classes
    for number, taken in enumerate(numbers):
        assert {problem.topics[topic] for topic in np.flatnonzero(problem.takes[number])} == taken
