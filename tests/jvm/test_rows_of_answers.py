"""What members get from a large answer are rows of arrays: the same partitions, read as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors import Cluster, Group, JavaFailure, Member, OnFailure, Options, assignor_named
from assignors.arrays import OwnedPartitions, PartitionArrays, partition_arrays
from assignors.jvm import ordered_assignment
from assignors.jvm.ordered_assignment import OrderedAssignment, PairsByMember, PartitionsByMember
from assignors.testing import groups

TOPICS = ("t", "u", "v")
PAIRS = st.tuples(st.integers(0, 2), st.integers(-1, 4))
MEMBERS = st.lists(st.lists(PAIRS, max_size=6), max_size=5)


def held_of(pairs: list[list[tuple[int, int]]]) -> OrderedAssignment:
    flat = [pair for each in pairs for pair in each]
    return OrderedAssignment(
        members=tuple(map(str, range(len(pairs)))),
        topics=TOPICS,
        start=np.cumsum([0, *map(len, pairs)]),
        topic=np.array([topic for topic, _ in flat], dtype=np.int32),
        number=np.array([number for _, number in flat], dtype=np.int32),
    )


def shares_of(held: OrderedAssignment, *, rows: bool) -> dict[str, Mapping[str, tuple[int, ...]]]:
    with patch.object(ordered_assignment, "ROWS_MIN", 0 if rows else 1 << 30):
        return dict(PartitionsByMember(held))


def columns(arrays: PartitionArrays) -> list[list[int]]:
    return [
        arrays.member.tolist(),
        arrays.topic.tolist(),
        arrays.length.tolist(),
        arrays.number.tolist(),
        [arrays.is_complete],
    ]


@given(
    pairs=MEMBERS,
    chosen=st.lists(st.integers(0, 9), max_size=6, unique=True),
    known=st.sets(st.sampled_from(TOPICS)),
)
def test_rows_are_the_dictionaries_and_become_the_same_arrays(
    pairs: list[list[tuple[int, int]]], chosen: list[int], known: set[str]
) -> None:
    """In any order, some members left out, others given as dictionaries between them."""
    held = held_of(pairs)
    rows, plain = shares_of(held, rows=True), shares_of(held, rows=False)
    assert rows == plain
    assert repr(rows) == repr(plain)
    assert all(type(share) is OwnedPartitions for share in rows.values())
    other = {"u": (7, 3), "w": (1,)}
    index = {topic: number for number, topic in enumerate(sorted(known))}
    mixed = partition_arrays([rows.get(str(place), other) for place in chosen], index)
    assert columns(mixed) == columns(
        partition_arrays([plain.get(str(place), other) for place in chosen], index)
    )


@pytest.mark.parametrize("name", ["uniform", "simple"])
@given(group=groups(racks=False), gone=st.sets(st.integers(0, 9)), drops=st.booleans())
def test_an_answer_is_a_previous_target_as_its_dictionaries_are(
    name: str, group: Group, gone: set[int], *, drops: bool
) -> None:
    """Some members leave, one comes, and perhaps topics are not asked for any more."""
    repairing = Options(on_failure=OnFailure.REPAIR)
    assignor = assignor_named(f"server/{name}").configured(repairing)
    try:
        lists = assignor.assign(group).lists
    except JavaFailure:
        return
    assert isinstance(lists, PairsByMember)
    stays = [member for place, member in enumerate(group.members) if place not in gone]
    asked = [member.topics[:1] if drops else member.topics for member in stays]
    answers = []
    for rows in (True, False):
        shares = shares_of(lists.held, rows=rows)
        members = [
            replace(member, topics=topics, owned=shares[member.member_id])
            for member, topics in zip(stays, asked, strict=True)
        ]
        members.append(Member(member_id="new", topics=asked[0] if asked else ("t",)))
        answer = assignor.assign(Group(cluster=group.cluster, members=tuple(members)))
        answers.append((dict(answer.lists or {}), answer.notes, dict(answer.stats), answer.order))
    assert answers[0] == answers[1]


def test_a_large_answer_given_back_stays_on_arrays() -> None:
    topics = {f"t{number}": 700 for number in range(5)}
    members = tuple(Member(member_id=f"m{n}", topics=tuple(topics)) for n in range(40))
    uniform = assignor_named("server/uniform")
    first = uniform.assign(Group(cluster=Cluster.of(topics), members=members))
    members = tuple(
        replace(member, owned=first.assignment[member.member_id]) for member in members[1:]
    )
    assert all(type(member.owned) is OwnedPartitions for member in members)
    second = uniform.assign(Group(cluster=Cluster.of(topics), members=members))
    assert second.stats["moved"] == 0, "what the member had that has left counts as nobody's"
    assert (second.stats["load_min"], second.stats["load_max"]) == (89, 90)
