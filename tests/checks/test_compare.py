"""Assignors side by side."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from assignors import Assignor, Cluster, Group, Member, assignor_named
from assignors.checks.compare import DIFFERENCES_MAX, compare
from assignors.documents.answers import comparison_document
from assignors.testing import groups

PAIR = [assignor_named("java/cooperative-sticky"), assignor_named("cooperative-sticky")]


def given_to(assignor: Assignor, group: Group) -> dict[tuple[str, int], str]:
    answer = assignor.assign(group)
    return {
        (topic, number): member
        for member, share in answer.assignment.items()
        for topic, numbers in share.items()
        for number in numbers
    }


@given(groups())
def test_exactly_what_goes_to_different_members_differs(group: Group) -> None:
    pair = [assignor_named("java/range"), assignor_named("sticky")]
    one, other = (given_to(assignor, group) for assignor in pair)
    wanted = {place for place in {*one, *other} if one.get(place) != other.get(place)}
    found = compare(group, pair)
    assert found.difference_count == len(wanted)
    told = {(difference.topic, difference.partition) for difference in found.differences}
    assert told <= wanted
    assert len(told) == min(len(wanted), DIFFERENCES_MAX)
    for difference in found.differences:
        place = difference.topic, difference.partition
        assert difference.reasons["java/range"].member_id == one.get(place)
        assert difference.reasons["optimal/sticky"].member_id == other.get(place)


def test_each_difference_says_why() -> None:
    members = (
        Member(member_id="a", topics=("t",), owned={"t": (0, 1)}, generation=4),
        Member(member_id="b", topics=("t",), owned={"t": (1,)}, generation=3),
    )
    group = Group(cluster=Cluster.of({"t": 2}), members=members, generation=4)
    document: dict[str, Any] = comparison_document(
        compare(group, [assignor_named("range"), PAIR[1]])
    )
    assert document["different"] == 1
    (partition,) = document["partitions"]
    assert (partition["topic"], partition["partition"]) == ("t", 1)
    waits = partition["answers"]["optimal/cooperative-sticky"]
    assert (waits["member"], waits["verdict"]) == (None, "waits")
    assert "let go" in waits["why"]
    assert partition["answers"]["java/range"]["member"] == "b"


def test_an_original_that_fails_leaves_the_others_their_columns() -> None:
    stale = Member(member_id="b", topics=("t",), owned={"t": (7, 8, 9)}, generation=1)
    members = (Member(member_id="a", topics=("t",), owned={"t": (0, 1)}, generation=1), stale)
    group = Group(cluster=Cluster.of({"t": 2}), members=members)
    java, ours = compare(group, PAIR).columns
    assert java.failure is not None
    assert java.failure.startswith("IllegalStateException: ")
    assert java.rebalance is None
    assert ours.failure is None
    assert ours.gaps["moved_minimum"] == 1
    document: dict[str, Any] = comparison_document(compare(group, PAIR))
    failed = document["compared"][0]
    assert (failed["stats"], failed["gaps"]) == (None, None)
