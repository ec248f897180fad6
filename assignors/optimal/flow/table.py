"""How many partitions of each row every member owns, and how many it has: a table of two counts.

Two arrays, 8 bytes a cell (row x member).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from assignors.problem import Bool, Int32, Int64

Integers = NDArray[np.int32] | NDArray[np.int64] | NDArray[np.uint16] | NDArray[np.uint8]
TABLE_FACTOR = 16
"""Keys are counted, or looked up, in a table of up to so many possible ones for each there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """Cells of a table that are not 0, by row and then member. All int64[C]."""

    row: Int64
    member: Int64
    count: Int64


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
class Table:
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


def table_of(cell: Int64, row_count: int, member_count: int) -> Table:
    """Return the table in which members have what they own.

    `cell` has row * members + member of each partition that somebody owns.

    >>> table_of(np.array([5, 5, 5, 0]), 2, 3).sums()
    (array([1, 3]), array([1, 0, 3]))
    """
    cell_count = row_count * member_count
    if is_small(cell_count, len(cell)):
        owned = np.bincount(cell, minlength=cell_count).astype(np.int32)
    else:
        owned = np.zeros(cell_count, dtype=np.int32)
        keys, count = np.unique(cell, return_counts=True)
        owned[keys] = count
    owned = owned.reshape(row_count, member_count)
    return Table(owned=owned, placed=owned.copy())


def is_small(key_count: int, count: int) -> bool:
    """Return whether a table of all keys that can be takes less time than sorting `count` keys."""
    return key_count <= TABLE_FACTOR * count


def _signed(keys: Int64, change: Int64, member_count: int) -> tuple[Cells, Cells]:
    row, member = np.divmod(keys, np.int64(member_count))
    less = (change < 0).nonzero()[0]
    if not len(less):
        return Cells(row=less, member=less, count=less), Cells(row=row, member=member, count=change)
    more = (change > 0).nonzero()[0]
    return (
        Cells(row=row[less], member=member[less], count=-change[less]),
        Cells(row=row[more], member=member[more], count=change[more]),
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
