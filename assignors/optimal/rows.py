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

from assignors.problem import NOBODY, Bool, Int32, Int64


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
    cell: Int64
    """int64[H]: row * M + owner of each partition that has an owner."""
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
    if not class_count:
        return np.full(topic_count, NOBODY, dtype=np.int32), np.zeros((0, 0), dtype=np.bool_)
    if class_count == 1 and len(class_of) and first[-1] > 0 and takes.all():
        return (first[1:] > first[:-1]) - np.int32(1), np.ones((1, 1), dtype=np.bool_)
    present = np.bincount(class_of, minlength=class_count)
    if np.count_nonzero(present) < class_count:
        takes = takes & (present > 0)[:, None]
    # A row of memory for each topic: numpy is many times faster along those.
    taken = np.array(takes.T, order="C")
    sizes = first[1:] - first[:-1]
    if np.count_nonzero(sizes) < len(sizes):
        taken[sizes == 0] = False
    packed = np.packbits(taken, axis=1)
    width = packed.shape[1]
    patterns: list[bytes] = packed.view(f"V{width}").ravel().tolist()
    different, nobody = set(patterns), bytes(width)
    if len(different) == topic_count and nobody not in different:  # as with random lists
        return np.arange(topic_count, dtype=np.int32), taken
    rows: dict[bytes, int] = {}
    first_topic: list[int] = []
    row_of_topic = [NOBODY] * topic_count
    for topic, pattern in enumerate(patterns):
        if pattern == nobody:
            continue
        row = rows.setdefault(pattern, len(rows))
        row_of_topic[topic] = row
        if row == len(first_topic):
            first_topic.append(topic)
    return np.array(row_of_topic, dtype=np.int32), taken[first_topic]


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
    allowed = by_member(row_takes, class_of)
    remote = None
    if racks is not None and remote_classes is not None:
        remote = remote_classes[:, racks.rack]
        assert remote.shape == (row_count, member_count)
    is_taken = row_of >= 0
    are_all = np.count_nonzero(is_taken) == len(is_taken)
    owner, cell = owned_cells(owner, row_of, allowed, None if are_all else is_taken)
    taken = row_of if are_all else row_of[is_taken]
    return Rows(
        row_of=row_of,
        takes=row_takes,
        size=np.bincount(taken, minlength=row_count),
        owner=owner,
        cell=cell,
        allowed=allowed,
        remote=remote,
    )


def by_member(of_class: Bool, class_of: Int32) -> Bool:
    """Return bool[R, M] of bool[R, K], row by row in memory."""
    member_count = len(class_of)
    if of_class.shape[1] == member_count and (class_of == np.arange(member_count)).all():
        return of_class
    return of_class.take(class_of, axis=1)


def subscribed_owner(owner: Int32, row_of: Int32, allowed: Bool) -> Int32:
    """Return `owner`, int32[P], with `NOBODY` for owners that do not subscribe to the partition."""
    return owned_cells(owner, row_of, allowed, row_of >= 0)[0]


def owned_cells(
    owner: Int32, row_of: Int32, allowed: Bool, is_taken: Bool | None
) -> tuple[Int32, Int64]:
    """Return what `subscribed_owner` does, and `Rows.cell`.

    `is_taken`, bool[P], says which partitions are in a row: `None` if all are.
    """
    cell = row_of * np.int64(allowed.shape[1])
    cell += owner
    # Where nobody is, in `owner` or in `row_of`, that is a cell of somebody else.
    has_owner = owner >= 0
    is_held = has_owner if is_taken is None else has_owner & is_taken
    if not allowed.all():
        is_held = is_held & allowed.ravel().take(cell, mode="clip")
    held_count = np.count_nonzero(is_held)
    if held_count == len(owner):
        return owner, cell
    if held_count < np.count_nonzero(has_owner):
        wrong = (has_owner & ~is_held).nonzero()[0]
        owner = owner.copy()
        owner[wrong] = NOBODY
    return owner, cell[is_held]


def _split_by_racks(row_of: Int32, row_takes: Bool, racks: Racks) -> tuple[Int32, Bool, Bool]:
    """Return rows that also share their replica set, and which racks are remote from each.

    The last one is bool[R, racks + 1]: its last column stands for members without a rack, so
    that it can be indexed with a rack of -1.
    """
    set_count = len(racks.replica_racks)
    is_wanted = row_of >= 0
    key: Int32 | Int64 = racks.replica_set
    if len(row_takes) > 1:
        key = row_of * np.int64(set_count) + racks.replica_set
    if is_wanted.all():
        label, split = np.unique(key, return_inverse=True)
    else:
        label, number = np.unique(key[is_wanted], return_inverse=True)
        split = np.full(len(row_of), NOBODY, dtype=np.int32)
        split[is_wanted] = number
    remote = np.zeros((len(label), racks.replica_racks.shape[1] + 1), dtype=np.bool_)
    remote[:, :-1] = ~racks.replica_racks[label % set_count]
    return split.astype(np.int32), row_takes[label // set_count], remote
