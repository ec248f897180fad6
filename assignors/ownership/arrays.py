"""Ownership as arrays: who owns what over time, and the 0/1 matrix of members and partitions.

For numpy, pandas and scipy. An assignment is a matrix with a row a member and a column a partition;
a rebalance is the difference of two of them, and where every partition has one owner before and
after, moves are half of its L1 norm. What a matrix cannot say is how long anything took: that is in
`start` and `end` of the ownerships.

A matrix of many members is nearly empty. `row_pointers` gives it as scipy's sparse matrices take
it, without scipy:

    indptr, indices = row_pointers(matrix)
    scipy.sparse.csr_array((numpy.ones(len(indices), bool), indices, indptr), shape=matrix.shape)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assignors.ownership.changes import TopicPartition, pairs
from assignors.ownership.intervals import Ownership
from wire import TopicPartitions
from wire.text import utf16_key

NOBODY = -1
"""In place of a member's number."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OwnershipArrays:
    """K ownerships of N members and P partitions as columns, in the order in which they began."""

    members: tuple[str, ...]
    """N member ids; their places are the numbers in `member`."""
    partitions: tuple[TopicPartition, ...]
    """P topics and partition numbers; their places are the numbers in `partition`."""
    member: NDArray[np.int32]
    """int32[K]: who owned."""
    partition: NDArray[np.int32]
    """int32[K]: what."""
    start: NDArray[np.int64]
    """int64[K]: from when on, in the unit of the ownerships."""
    end: NDArray[np.int64]
    """int64[K]: the first moment after it; `intervals.FOREVER` while it lasts."""


def ownership_arrays(
    listed: Iterable[Ownership],
    *,
    members: Iterable[str] = (),
    partitions: Iterable[TopicPartition] = (),
) -> OwnershipArrays:
    """Return ownerships as arrays.

    `members` and `partitions` are there whether or not any ownership has them, so that two results
    can be compared. Both are sorted, names as in Java. Cost: O(K log K + N + P).

    >>> from assignors.ownership.changes import Change
    >>> from assignors.ownership.intervals import ownerships
    >>> found = ownership_arrays(ownerships([
    ...     Change(at=0, member_id="a", owned={"t": (0, 1)}),
    ...     Change(at=5, member_id="a", owned={"t": (0,)}),
    ...     Change(at=8, member_id="b", owned={"t": (1,)}),
    ... ]))
    >>> found.members, found.partitions
    (('a', 'b'), (('t', 0), ('t', 1)))
    >>> found.member, found.partition, found.start
    (array([0, 0, 1], dtype=int32), array([0, 1, 1], dtype=int32), array([0, 0, 8]))
    """
    rows = sorted(listed, key=lambda one: one.start)
    names = sorted({*members, *(one.member_id for one in rows)}, key=utf16_key)
    columns = sorted(
        {*partitions, *(one.topic_partition for one in rows)},
        key=lambda one: (utf16_key(one[0]), one[1]),
    )
    number = {name: place for place, name in enumerate(names)}
    column = {one: place for place, one in enumerate(columns)}
    return OwnershipArrays(
        members=tuple(names),
        partitions=tuple(columns),
        member=np.array([number[one.member_id] for one in rows], dtype=np.int32),
        partition=np.array([column[one.topic_partition] for one in rows], dtype=np.int32),
        start=np.array([one.start for one in rows], dtype=np.int64),
        end=np.array([one.until for one in rows], dtype=np.int64),
    )


def matrix_at(arrays: OwnershipArrays, at: int) -> NDArray[np.bool_]:
    """Return who owns what at one moment: bool[N, P].

    A column without any is a partition that nobody owns, one with two is doubly owned. Cost:
    O(K + N P).

    >>> matrix_at(example(), 6), matrix_at(example(), 9)
    (array([[ True, False],
           [False, False]]), array([[ True, False],
           [False,  True]]))
    """
    found = np.zeros((len(arrays.members), len(arrays.partitions)), dtype=np.bool_)
    now = (arrays.start <= at) & (at < arrays.end)
    found[arrays.member[now], arrays.partition[now]] = True
    return found


def owners_at(arrays: OwnershipArrays, at: ArrayLike) -> NDArray[np.int32]:
    """Return the owner of each partition at each of T moments: int32[T, P].

    An owner is the number of a member, `NOBODY` where there is none; of several the one that began
    last. `at` is int64[T], in any order. Cost: O(K log T + T P), plus the moments of all
    ownerships.

    >>> owners_at(example(), [9, 0, 6])
    array([[ 0,  1],
           [ 0,  0],
           [ 0, -1]], dtype=int32)
    """
    moments, order, first, after = _places(arrays, at)
    found = np.full((len(moments), len(arrays.partitions)), NOBODY, dtype=np.int32)
    columns = zip(arrays.member, arrays.partition, first, after, strict=True)
    for member, partition, begin, end in columns:
        found[begin:end, partition] = member
    unsorted = np.empty_like(found)
    unsorted[order] = found
    return unsorted


def counts_at(arrays: OwnershipArrays, at: ArrayLike) -> NDArray[np.int64]:
    """Return how many partitions each member owns at each of T moments: int64[T, N].

    `at` is int64[T], in any order. Cost: O(K log T + T N).

    >>> counts_at(example(), [9, 0, 6])
    array([[1, 1],
           [2, 0],
           [1, 0]])
    """
    moments, order, first, after = _places(arrays, at)
    steps = np.zeros((len(moments) + 1, len(arrays.members)), dtype=np.int64)
    np.add.at(steps, (first, arrays.member), 1)
    np.add.at(steps, (after, arrays.member), -1)
    unsorted = np.empty((len(moments), len(arrays.members)), dtype=np.int64)
    unsorted[order] = np.cumsum(steps, axis=0)[:-1]
    return unsorted


Places = tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]
"""Sorted moments, their places before that, and of each ownership its first, and the one after."""


def _places(arrays: OwnershipArrays, at: ArrayLike) -> Places:
    moments = np.asarray(at, dtype=np.int64)
    if moments.ndim != 1:
        raise ValueError(
            f"moments are one row of numbers, and these have {moments.ndim} dimensions"
        )
    order = np.argsort(moments, kind="stable")
    moments = moments[order]
    first, after = (np.searchsorted(moments, each) for each in (arrays.start, arrays.end))
    return moments, order, first, np.maximum(first, after)


def matrix_of(
    assignment: Mapping[str, TopicPartitions],
    members: Sequence[str],
    partitions: Sequence[TopicPartition],
) -> NDArray[np.bool_]:
    """Return an assignment as bool[N, P], in the order of these N members and P partitions.

    Raises `KeyError` for a member or partition that is not among them. Cost: O(N P).

    >>> matrix_of({"a": {"t": (1,)}, "b": {}}, ["a", "b"], [("t", 0), ("t", 1)])
    array([[False,  True],
           [False, False]])
    """
    number = {name: place for place, name in enumerate(members)}
    column = {one: place for place, one in enumerate(partitions)}
    found = np.zeros((len(members), len(partitions)), dtype=np.bool_)
    for member_id, owned in assignment.items():
        found[number[member_id], [column[one] for one in pairs(owned)]] = True
    return found


def moves_between(before: NDArray[np.bool_], after: NDArray[np.bool_]) -> int:
    """Return how many partitions have another owner: half the L1 norm of the difference.

    Both are bool[N, P] with the same members and partitions. A partition that has an owner in one
    of them alone counts half, rounded down in all. Cost: O(N P).

    >>> moves_between(matrix_at(example(), 0), matrix_at(example(), 9))
    1
    """
    return int(np.count_nonzero(before != after)) // 2


def row_pointers(matrix: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return bool[N, P] in compressed rows: int64[N + 1] and int32[number of ones].

    The ones of row `n` are in the columns `indices[indptr[n]:indptr[n + 1]]`, in order. Cost:
    O(N P).

    >>> row_pointers(matrix_at(example(), 0))
    (array([0, 2, 2]), array([0, 1], dtype=int32))
    """
    indptr = np.zeros(len(matrix) + 1, dtype=np.int64)
    np.cumsum(matrix.sum(axis=1), out=indptr[1:])
    return indptr, np.nonzero(matrix)[1].astype(np.int32)


def example() -> OwnershipArrays:
    """Return the arrays of the examples here: of two partitions of `a` one goes to `b`."""
    return ownership_arrays(
        [
            Ownership(topic="t", partition=0, member_id="a", start=0),
            Ownership(topic="t", partition=1, member_id="a", start=0, end=5),
            Ownership(topic="t", partition=1, member_id="b", start=8),
        ]
    )
