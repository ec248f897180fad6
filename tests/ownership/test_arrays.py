"""Ownership as arrays, against the same questions asked of each ownership."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.model import Assignment
from assignors.ownership.arrays import (
    NOBODY,
    counts_at,
    matrix_at,
    matrix_of,
    moves_between,
    owners_at,
    ownership_arrays,
    row_pointers,
)
from assignors.ownership.intervals import Ownership, ownerships
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.simulation import simulate
from tests.conftest import cases

OWNERSHIPS = st.builds(
    lambda topic, partition, member_id, start, lasts: Ownership(
        topic=topic,
        partition=partition,
        member_id=member_id,
        start=start,
        end=None if lasts is None else start + lasts,
    ),
    st.sampled_from("tu"),
    st.integers(0, 2),
    st.sampled_from("ab\U0001f600\uffff"),
    st.integers(0, 9),
    st.one_of(st.none(), st.integers(0, 5)),
)
LISTED = st.lists(OWNERSHIPS, max_size=8, unique_by=lambda one: (one.topic_partition, one.start))
MOMENTS = st.lists(st.integers(-1, 15), max_size=6)


@given(LISTED, MOMENTS)
@cases(80)
def test_arrays_say_what_the_ownerships_say(listed: list[Ownership], moments: list[int]) -> None:
    arrays = ownership_arrays(listed, members=["z"], partitions=[("t", 7)])
    shape = len(arrays.members), len(arrays.partitions)
    owners, counts = owners_at(arrays, moments), counts_at(arrays, moments)
    assert (owners.dtype.str[1:], owners.shape) == ("i4", (len(moments), shape[1]))
    assert (counts.dtype.str[1:], counts.shape) == ("i8", (len(moments), shape[0]))
    for row, at in enumerate(moments):
        now = [one for one in listed if one.start <= at < one.until]
        matrix = matrix_at(arrays, at)
        assert (matrix.dtype.kind, matrix.shape) == ("b", shape)
        ones = {
            (arrays.members[n], arrays.partitions[p])
            for n, p in zip(*matrix.nonzero(), strict=True)
        }
        assert ones == {(one.member_id, one.topic_partition) for one in now}
        assert counts[row].tolist() == [
            sum(one.member_id == name for one in now) for name in arrays.members
        ]
        for place, one in enumerate(arrays.partitions):
            last = max(
                [each for each in now if each.topic_partition == one], key=began, default=None
            )
            found = owners[row, place]
            assert (None if found == NOBODY else arrays.members[found]) == (
                None if last is None else last.member_id
            )
        indptr, indices = row_pointers(matrix)
        assert [indices[indptr[n] : indptr[n + 1]].tolist() for n in range(shape[0])] == [
            np.flatnonzero(line).tolist() for line in matrix
        ]


def began(one: Ownership) -> int:
    return one.start


def test_names_are_sorted_as_in_java() -> None:
    owned = [
        Ownership(topic="t", partition=number, member_id=name, start=0)
        for number, name in ((10, "\uffff"), (9, "\U0001f600"))
    ]
    arrays = ownership_arrays(owned)
    assert arrays.members == ("\U0001f600", "\uffff")
    assert arrays.partitions == (("t", 9), ("t", 10))


def test_moments_are_one_row() -> None:
    with pytest.raises(ValueError, match="2 dimensions"):
        counts_at(ownership_arrays([]), [[1]])


@pytest.mark.parametrize("protocol", list(GroupProtocol))
def test_owners_over_time_have_as_many_moves_as_the_ledger_of_a_run(
    protocol: GroupProtocol,
) -> None:
    scenario = named("scale-out", protocol=protocol)
    played = simulate(scenario, keeps_history=True)
    arrays = ownership_arrays(ownerships(played.changes))
    moments = sorted({change.at for change in played.changes})
    owners, moves = owners_at(arrays, moments), 0
    for row, at in enumerate(moments[1:], start=1):
        owners[row] = np.where(owners[row] == NOBODY, owners[row - 1], owners[row])
        has_moved = (owners[row] != owners[row - 1]) & (owners[row - 1] != NOBODY)
        moves += has_moved.sum() if at >= scenario.count_from_ms * MILLISECOND else 0
    assert moves == played.result.moves > 0
    before, after = (
        matrix_at(arrays, at_ms * MILLISECOND)
        for at_ms in (scenario.count_from_ms, scenario.until_ms)
    )
    assert before.sum(axis=0).tolist() == after.sum(axis=0).tolist() == [1] * len(before.T)
    assert moves_between(before, after) == (before.argmax(axis=0) != after.argmax(axis=0)).sum()


def test_an_assignment_is_a_matrix_of_the_members_that_are_named() -> None:
    answer: Assignment = {"a": {"t": (0, 1)}, "c": {"t": (4,)}, "b": {"t": (2, 3)}}
    matrix = matrix_of(answer, "abc", [("t", number) for number in range(5)])
    assert matrix.sum(axis=0).tolist() == [1] * 5
    assert matrix.sum(axis=1).tolist() == [2, 2, 1]
    with pytest.raises(KeyError):
        matrix_of(answer, "ab", [("t", number) for number in range(5)])
