"""Names of entries as numbers: those known so far, and others that are learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np

from assignors.arrays import Int64
from assignors.group_bytes.entries.places import Entries
from assignors.group_bytes.names import (
    NAME_BYTES_MAX,
    NameTable,
    find,
    name_table,
)

COMPARED_MAX = 2_048
"""Names of up to so many entries, none of which is known, are compared with each other rather than
with some of them."""
UNKNOWN_AT_ONCE = 256
"""So many unknown names are looked at before the others are compared with them."""
TABLE_FACTOR = 16
"""Repeats are looked for in a table of up to so many cells for each number there is."""
LEARNING_MAX = 4
"""Times that this is done; messages with names that are unknown after it are read alone."""


@dataclass(slots=True)
class KnownNames:
    """Names known so far, and the table in which they are found."""

    numbers: dict[bytes, int]
    """Name -> its number, from 0 in the order in which they were found."""
    table: NameTable | None = None
    """Of the first names, if it has been made."""
    headers: dict[bytes, int] = field(default_factory=dict)
    """Length, as one byte, and bytes of a name -> its number: of names in lists read alone."""
    written: tuple[str, ...] = ()
    """The first names, as texts."""

    def all_in_table(self) -> NameTable:
        """Return the table of all names, made if it is not there. Cost: O(names)."""
        if self.table is None or len(self.table.length) < len(self.numbers):
            self.table = name_table(list(self.numbers))
        return self.table

    def texts(self) -> tuple[str, ...]:
        """Return the names, which are UTF-8, as texts. Cost: O(names), O(1) if asked again."""
        if len(self.written) < len(self.numbers):
            self.written = tuple(map(bytes.decode, self.numbers))
        return self.written


def numbered_names(names: Sequence[str]) -> KnownNames | None:
    """Return different names, numbered in this order, with their table.

    `None` where one cannot stand in bytes, or has 256 of them or more. Cost: O(names).
    """
    try:
        encoded = list(map(str.encode, names))
    except UnicodeEncodeError:
        return None
    if not all(0 < len(name) < NAME_BYTES_MAX for name in encoded):
        return None
    headers = {bytes([len(name)]) + name: number for number, name in enumerate(encoded)}
    numbers = dict(zip(encoded, headers.values(), strict=True))
    known = KnownNames(numbers, headers=headers, written=tuple(names))
    known.all_in_table()
    return known


def recognised_names(entries: Entries, known: KnownNames) -> Int64:
    """Return the number of each entry's name, int64[E], -1 where it was not recognised.

    Names that are not known are learned and added, as long as a few of them account for all that
    are unknown. Cost: O(E x words of a name).
    """
    count = len(entries.name_length)
    if not count:
        return np.zeros(0, dtype=np.int64)
    if known.numbers or count > COMPARED_MAX:
        return _names_by_table(entries, known)
    return _looked_up(entries, known)


def _names_by_table(entries: Entries, known: KnownNames) -> Int64:
    """Return the same, with the names known so far as a table, and tables of those learned."""
    number = np.full(len(entries.name_length), -1, dtype=np.int64)
    if known.numbers:
        number = _found(entries, known.all_in_table(), None)
    for _ in range(LEARNING_MAX):
        if int(number.min()) >= 0:
            break
        left = np.flatnonzero(number < 0)
        names = _new_names(entries, left, known.numbers)
        if not names:
            break
        base = len(known.numbers)
        known.numbers |= {name: base + place for place, name in enumerate(names)}
        is_all = len(left) == len(number)
        found = _found(entries, name_table(names), None if is_all else left)
        if base:
            found[found >= 0] += base
        if is_all:
            number = found
        else:
            number[left] = found
    return number


def _found(entries: Entries, table: NameTable, some: Int64 | None) -> Int64:
    """Return which name of a table each entry has, or some entries have, -1 for none of them."""
    start, length = entries.name_start, entries.name_length
    if some is not None:
        start, length = start[some], length[some]
    return find(table, entries.buffer, start, length)


def _looked_up(entries: Entries, known: KnownNames) -> Int64:
    """Return the same, looked up one by one. Cost: O(E)."""
    starts, lengths = entries.name_start.tolist(), entries.name_length.tolist()
    names = [
        entries.buffer[start : start + length]
        for start, length in zip(starts, lengths, strict=True)
    ]
    found = sorted(name for name in dict.fromkeys(names) if name and is_text(name))
    known.numbers |= {name: number for number, name in enumerate(found)}
    return np.fromiter(map(known.numbers.get, names, repeat(-1)), np.int64, len(names))


def _new_names(entries: Entries, left: Int64, numbers: dict[bytes, int]) -> list[bytes]:
    """Return some names of these entries, which are not among `numbers`, in the order found."""
    some = left[:: max(1, len(left) // min(UNKNOWN_AT_ONCE, 32 + len(left) // 32))]
    starts, lengths = entries.name_start[some], entries.name_length[some]
    names = dict.fromkeys(
        entries.buffer[start : start + length]
        for start, length in zip(starts.tolist(), lengths.tolist(), strict=True)
    )
    # Sorted as most lists are: then numbers ascend in these.
    return sorted(name for name in names if name not in numbers and is_text(name))


def repeated_rows(row: Int64, number: Int64, number_count: int) -> Int64:
    """Return the rows that have a number twice. Rows ascend. Cost: O(N), and a sort if needed."""
    key = row * (number_count + 1)
    key += number
    if np.count_nonzero(key[1:] > key[:-1]) >= len(key) - 1:
        return np.zeros(0, dtype=np.int64)
    key_count = (int(row[-1]) + 1) * (number_count + 1)
    if key_count <= TABLE_FACTOR * len(key) and int(number.min()) >= 0:
        occurs = np.zeros(key_count, dtype=np.bool_)
        occurs[key] = True
        if np.count_nonzero(occurs) == len(key):
            return np.zeros(0, dtype=np.int64)
    key.sort()
    # A number of -1 belongs to the row, not to the one before it.
    again: Int64 = (key[1:][key[1:] == key[:-1]] + 1) // (number_count + 1)
    return again


def is_text(name: bytes) -> bool:
    """Return whether these bytes are a name that a broker accepts as text: UTF-8."""
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True
