"""How many partitions of each row every member owns, and how many it has: a table of two counts.

Up to 30 million cells (rows x members) it is two arrays, 8 bytes a cell. Larger ones are kept
sparse: the cells in which something is owned, 24 bytes each, and a dictionary of those that
changed, about 120 bytes each. The search reads and writes single cells of both in the same way.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from assignors.problem import Bool, Int32, Int64
from wire.constructors import unchecked

Integers = NDArray[np.int32] | NDArray[np.int64] | NDArray[np.uint16] | NDArray[np.uint8]
DENSE_MAX = 30_000_000
"""Cells of the largest table that is kept as arrays."""
TABLE_FACTOR = 16
"""Keys are counted, or looked up, in a table of up to so many possible ones for each there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """Cells of a table that are not 0, by row and then member. All int64[C]."""

    row: Int64
    member: Int64
    count: Int64


_cells = unchecked(Cells)


class Counts(Protocol):
    """Numbers by cell: row * members + member."""

    def __getitem__(self, cell: int, /) -> int:
        """Return the number in this cell."""
        ...

    def __setitem__(self, cell: int, value: int, /) -> None:
        """Change the number in this cell."""
        ...


Kinds = tuple[list[int], list[int], list[int], list[int]]
"""By row, four sets of members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseTable:
    """A table as two arrays."""

    owned: Int32
    """int32[R, M]."""
    placed: Int32
    """int32[R, M]: what the member has now."""

    def views(self) -> tuple[Counts, Counts]:
        """Return `owned` and `placed` for reading one number at a time."""
        return self.owned.ravel().data, self.placed.ravel().data

    def give_back(self, remote: Bool) -> None:
        """Let members have nothing in these cells."""
        self.placed[remote] = 0

    def sums(self) -> tuple[Int64, Int64]:
        """Return how much of each row is placed, and how much each member has."""
        return self.placed.sum(axis=1, dtype=np.int64), self.placed.sum(axis=0, dtype=np.int64)

    def counts(self, row: int, members: Int64) -> Int64:
        """Return how much of the row these members have."""
        found: Int64 = self.placed[row][members].astype(np.int64)
        return found

    def add(self, row: int, members: Int64, given: Int64) -> None:
        """Let these members have more of the row."""
        of_row = self.placed[row]
        of_row[members] += given.astype(np.int32)

    def add_cells(self, cell: Int64, given: Int64) -> None:
        """Add to these cells, each once: row * members + member."""
        self.placed.ravel()[cell] += given.astype(np.int32)

    def add_rows(self, rows: Int64, given: Int64) -> None:
        """Let members have more of these rows, each once: `given` is int64[rows, M]."""
        self.placed[rows] += given.astype(np.int32)

    def kinds(self, allowed: Bool, *, is_below: bool) -> Kinds:
        """Return by row who is allowed, has less than it owns, some but no more, and more.

        No member has less than it owns unless `is_below`.
        """
        row_count, width = self.placed.shape
        has = np.empty((3, row_count, width), dtype=np.bool_)
        np.greater(self.placed, 0, out=has[0])
        np.greater(self.placed, self.owned, out=has[1])
        has[2] = allowed
        sets = bit_sets(has.reshape(3 * row_count, width))
        some, above, may = (sets[at : at + row_count] for at in range(0, len(sets), row_count))
        below = bit_sets(self.placed < self.owned) if is_below else [0] * row_count
        return may, below, [one ^ more for one, more in zip(some, above, strict=True)], above

    def changes(self) -> tuple[Cells, Cells]:
        """Return in which cells members have less than they own, and more, and how much."""
        placed, owned = self.placed.ravel(), self.owned.ravel()
        at = (placed != owned).nonzero()[0]
        change = placed[at].astype(np.int64)
        change -= owned[at]
        return _signed(at, change, self.owned.shape[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseTable:
    """A table of which most cells are 0."""

    row_count: int
    member_count: int
    held: Cells
    """What is owned."""
    keys: Int64
    """int64[C]: row * members + member of `held`, ascending."""
    change: dict[int, int] = field(default_factory=dict)
    """By key: how many more the member has than it owns; no zeros."""

    def views(self) -> tuple[Counts, Counts]:
        """Return what is owned and placed for reading one number at a time."""
        owned = SparseOwned(self.keys.data, self.held.count.data)
        return owned, SparsePlaced(owned, self.change)

    def give_back(self, remote: Bool) -> None:
        """Let members have nothing in these cells."""
        away = remote[self.held.row, self.held.member]
        lost = (-self.held.count[away]).tolist()
        self.change.update(zip(self.keys[away].tolist(), lost, strict=True))

    def sums(self) -> tuple[Int64, Int64]:
        """Return how much of each row is placed, and how much each member has."""
        by_row = np.zeros(self.row_count, dtype=np.int64)
        by_member = np.zeros(self.member_count, dtype=np.int64)
        np.add.at(by_row, self.held.row, self.held.count)
        np.add.at(by_member, self.held.member, self.held.count)
        for cells, sign in zip(self.changes(), (-1, 1), strict=True):
            np.add.at(by_row, cells.row, sign * cells.count)
            np.add.at(by_member, cells.member, sign * cells.count)
        return by_row, by_member

    def counts(self, row: int, members: Int64) -> Int64:
        """Return how much of the row these members have."""
        _, placed = self.views()
        return np.array([placed[row * self.member_count + member] for member in members.tolist()])

    def add(self, row: int, members: Int64, given: Int64) -> None:
        """Let these members have more of the row."""
        _, placed = self.views()
        some = np.flatnonzero(given)
        for member, amount in zip(members[some].tolist(), given[some].tolist(), strict=True):
            placed[row * self.member_count + member] += amount

    def add_cells(self, cell: Int64, given: Int64) -> None:
        """Add to these cells, each once: row * members + member."""
        _, placed = self.views()
        for at, amount in zip(cell.tolist(), given.tolist(), strict=True):
            placed[at] += amount

    def add_rows(self, rows: Int64, given: Int64) -> None:
        """Let members have more of these rows, each once: `given` is int64[rows, M]."""
        place, member = given.nonzero()
        self.add_cells(rows[place] * self.member_count + member, given[place, member])

    def kinds(self, allowed: Bool, *, is_below: bool) -> Kinds:  # noqa: ARG002 - as of `DenseTable`
        """Return what `DenseTable.kinds` does."""
        below, above = [0] * self.row_count, [0] * self.row_count
        within = [0] * self.row_count
        held = (self.held.row.tolist(), self.held.member.tolist(), self.held.count.tolist())
        for row, member, count in zip(*held, strict=True):
            change = self.change.get(row * self.member_count + member, 0)
            if -count < change <= 0:
                within[row] |= 1 << member
        for key, change in self.change.items():
            row, member = divmod(key, self.member_count)
            if change < 0:
                below[row] |= 1 << member
            else:
                above[row] |= 1 << member
        return bit_sets(allowed), below, within, above

    def changes(self) -> tuple[Cells, Cells]:
        """Return in which cells members have less than they own, and more, and how much."""
        at = np.array(sorted(self.change), dtype=np.int64)
        change = np.array([self.change[key] for key in at.tolist()], dtype=np.int64)
        return _signed(at, change, self.member_count)


@dataclass(frozen=True, slots=True)
class SparseOwned:
    """What is owned in single cells. Cost: O(log C)."""

    keys: memoryview[int]
    counts: memoryview[int]

    def __getitem__(self, cell: int) -> int:
        """Return how much the member owns of the row."""
        at = bisect_left(self.keys, cell)
        return self.counts[at] if at < len(self.keys) and self.keys[at] == cell else 0

    def __setitem__(self, cell: int, value: int) -> None:
        """Refuse: what is owned does not change."""
        raise TypeError("what is owned does not change")


@dataclass(frozen=True, slots=True)
class SparsePlaced:
    """What members have in single cells. Cost: O(log C)."""

    owned: SparseOwned
    change: dict[int, int]

    def __getitem__(self, cell: int) -> int:
        """Return how much the member has of the row."""
        return self.owned[cell] + self.change.get(cell, 0)

    def __setitem__(self, cell: int, value: int) -> None:
        """Change how much the member has of the row."""
        change = value - self.owned[cell]
        if change:
            self.change[cell] = change
        else:
            self.change.pop(cell, None)


Table = DenseTable | SparseTable


def table_of(cell: Int64, row_count: int, member_count: int) -> Table:
    """Return the table in which members have what they own.

    `cell` has row * members + member of each partition that somebody owns.

    >>> table_of(np.array([5, 5, 5, 0]), 2, 3).sums()
    (array([1, 3]), array([1, 0, 3]))
    """
    cell_count = row_count * member_count
    if cell_count <= DENSE_MAX and is_small(cell_count, len(cell)):
        table = np.bincount(cell, minlength=cell_count).astype(np.int32)
        owned = table.reshape(row_count, member_count)
        return DenseTable(owned=owned, placed=owned.copy())
    if cell_count <= DENSE_MAX:
        owned = np.zeros((row_count, member_count), dtype=np.int32)
        if len(cell):
            keys, count = np.unique(cell, return_counts=True)
            owned.ravel()[keys] = count
        return DenseTable(owned=owned, placed=owned.copy())
    keys, count = np.unique(cell, return_counts=True)
    held = _cells_at(keys, count, member_count)
    return SparseTable(row_count=row_count, member_count=member_count, held=held, keys=keys)


def is_small(key_count: int, count: int) -> bool:
    """Return whether a table of all keys that can be takes less time than sorting `count` keys."""
    return key_count <= TABLE_FACTOR * count


def _cells_at(keys: Int64, count: Int64, member_count: int) -> Cells:
    """Return cells from row * members + member."""
    row, member = np.divmod(keys, np.int64(member_count))
    return _cells(row=row, member=member, count=count)


def _signed(keys: Int64, change: Int64, member_count: int) -> tuple[Cells, Cells]:
    row, member = np.divmod(keys, np.int64(member_count))
    less = (change < 0).nonzero()[0]
    if not len(less):
        return _cells(row=less, member=less, count=less), _cells(
            row=row, member=member, count=change
        )
    more = (change > 0).nonzero()[0]
    return (
        _cells(row=row[less], member=member[less], count=-change[less]),
        _cells(row=row[more], member=member[more], count=change[more]),
    )


def bit_sets(table: Bool) -> list[int]:
    """Return each row of the table as an integer whose bit j is column j.

    >>> bit_sets(np.array([[True, False, True], [False, False, False]]))
    [5, 0]
    """
    packed = np.ascontiguousarray(np.packbits(table, axis=1, bitorder="little"))
    width = packed.shape[1]
    if not width:
        return [0] * len(table)
    sets: list[bytes] = packed.view(f"V{width}").ravel().tolist()
    return [int.from_bytes(each, "little") for each in sets]


def narrow(values: Integers, value_count: int) -> Integers:
    """Return the values as uint8 or uint16 where they fit: numpy then sorts in linear time."""
    if value_count <= 1 << 8:
        return values.astype(np.uint8)
    return values.astype(np.uint16) if value_count <= 1 << 16 else values
