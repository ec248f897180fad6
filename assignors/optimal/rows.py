"""The table that is solved: rows of interchangeable partitions x members.

Partitions that the same members may take, with replicas in the same racks, differ only in
their present owner. So they share a row, and what has to be found is how many partitions of each
row every member gets. Equal subscriptions make one row, one member that differs makes two,
disjoint subscriptions one each, and there are never more than topics x rack sets: the cost of
the search does not depend on the number of partitions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assignors.optimal.flow.table import Cells, cells_at
from assignors.problem import NOBODY, Bool, Int32, Int64

TABLE_FACTOR = 16
"""Counts are made in a table of rows x members of up to so many cells for each partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Racks:
    """Racks of members and replicas. Lengths: M members, P partitions, S replica sets, R racks."""

    rack: Int32
    """int32[M]: rack of each member, -1 for none: every partition is local to such a member."""
    replica_set: Int32
    """int32[P]: row of `replica_racks`."""
    replica_racks: Bool
    """bool[S, R]: which racks a set of replicas covers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Who may take, and who owns, how much of each row. Lengths: R rows, M members, K classes."""

    row_of: Int32
    """int32[P]: row of each partition, -1 where no member may take it."""
    takes: Bool
    """bool[R, K]: which classes take the row."""
    size: Int64
    """int64[R]: partitions in each row, at least 1."""
    owner: Int32
    """int32[P]: whom stickiness favours, only owners that may take the partition."""
    held: Cells
    """How many partitions of each row `owner` gives each member."""
    allowed: Bool
    """bool[R, M]: who may take from the row."""
    remote: Bool | None
    """bool[R, M]: whose rack holds no replica of the row; `None` where racks do not matter."""


def topic_rows(first: Int64, takes: Bool, class_of: Int32) -> tuple[Int32, Bool]:
    """Return the row of each topic, int32[T], and which classes take each row, bool[R, K].

    Topics without partitions or without subscribers are in no row: -1.

    >>> takes = np.array([[True, True, False], [True, True, True]])
    >>> row, row_takes = topic_rows(np.array([0, 2, 3, 9]), takes, np.array([0, 1, 1]))
    >>> row.tolist(), row_takes.tolist()
    ([0, 0, 1], [[True, True], [False, True]])
    """
    class_count, topic_count = takes.shape
    present = np.zeros(class_count, dtype=np.bool_)
    present[class_of] = True
    taken = takes.T & present & (np.diff(first) > 0)[:, None]
    row_of_topic = np.full(topic_count, NOBODY, dtype=np.int32)
    patterns = np.packbits(taken, axis=1)
    rows: dict[bytes, int] = {}
    for topic in np.flatnonzero(taken.any(axis=1)).tolist():
        row_of_topic[topic] = rows.setdefault(patterns[topic].tobytes(), len(rows))
    row_takes = np.zeros((len(rows), class_count), dtype=np.bool_)
    used = row_of_topic >= 0
    row_takes[row_of_topic[used]] = taken[used]
    return row_of_topic, row_takes


def build(
    *, row_of: Int32, row_takes: Bool, class_of: Int32, owner: Int32, racks: Racks | None
) -> Rows:
    """Return the table for partitions whose rows by subscribers are `row_of`, int32[P].

    Cost: O(P + R M); with racks O(P log P + R M).
    """
    remote_classes = None
    if racks is not None:
        row_of, row_takes, remote_classes = _split_by_racks(row_of, row_takes, racks)
    row_count, member_count = len(row_takes), len(class_of)
    allowed = row_takes[:, class_of]
    remote = None
    if racks is not None and remote_classes is not None:
        remote = remote_classes[:, racks.rack]
        assert remote.shape == (row_count, member_count)
    owner = subscribed_owner(owner, row_of, allowed)
    held = owner >= 0
    cell = row_of * np.int64(member_count) + owner
    taken = row_of if (row_of >= 0).all() else row_of[row_of >= 0]
    return Rows(
        row_of=row_of,
        takes=row_takes,
        size=np.bincount(taken, minlength=row_count),
        owner=owner,
        held=_counted(cell if held.all() else cell[held], row_count, member_count),
        allowed=allowed,
        remote=remote,
    )


def _counted(cell: Int64, row_count: int, member_count: int) -> Cells:
    """Return how often each cell occurs."""
    if row_count * member_count <= TABLE_FACTOR * len(cell):
        table = np.bincount(cell, minlength=row_count * member_count)
        keys = np.flatnonzero(table)
        return cells_at(keys, table[keys], member_count)
    keys, count = np.unique(cell, return_counts=True)
    return cells_at(keys, count, member_count)


def subscribed_owner(owner: Int32, row_of: Int32, allowed: Bool) -> Int32:
    """Return `owner`, int32[P], with `NOBODY` for owners that do not subscribe to the partition."""
    if allowed.all() and (row_of >= 0).all():
        return owner
    held = np.flatnonzero(owner >= 0)
    row = row_of[held]
    wrong = held[(row < 0) | ~allowed[row, owner[held]]]
    if not len(wrong):
        return owner
    owner = owner.copy()
    owner[wrong] = NOBODY
    return owner


def _split_by_racks(row_of: Int32, row_takes: Bool, racks: Racks) -> tuple[Int32, Bool, Bool]:
    """Return rows that also share their replica set, and which racks are remote from each.

    The last one is bool[R, racks + 1]: its last column stands for members without a rack, so
    that it can be indexed with a rack of -1.
    """
    set_count = len(racks.replica_racks)
    wanted = np.flatnonzero(row_of >= 0)
    key = row_of[wanted] * np.int64(set_count) + racks.replica_set[wanted]
    label, number = np.unique(key, return_inverse=True)
    split = np.full(len(row_of), NOBODY, dtype=np.int32)
    split[wanted] = number
    remote = np.zeros((len(label), racks.replica_racks.shape[1] + 1), dtype=np.bool_)
    remote[:, :-1] = ~racks.replica_racks[label % set_count]
    return split, row_takes[label // set_count], remote
