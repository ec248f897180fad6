"""Names of one length found in whole messages at once, in topic lists and in owned topics.

Such a name stands behind the two bytes of its length. These may stand elsewhere as well, as parts
of numbers: a place counts if a known name follows it, and all is taken only if entries stand at
just these places, each where the one before ends. Elsewhere the other readers are asked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assignors.arrays import Bool, Int64, bounds_of
from assignors.group_bytes.entries.places import (
    COUNT_SIZE,
    NAME_LENGTH_SIZE,
    NUMBER_SIZE,
    PAD,
    Entries,
    int32_view,
)
from assignors.group_bytes.names import NameTable, find
from wire.constructors import unchecked

_entries = unchecked(Entries)


class Sections(NamedTuple):
    """A part of each of R messages: a list of names, or entries."""

    start: Int64
    """int64[R]: of the first name or entry, with its length."""
    size: Int64
    """int64[R]: how many there are."""


class Found(NamedTuple):
    """The names of R messages: those of their topic lists, and of what they own."""

    listed: Int64
    """int64[E]: numbers of the names in the lists, list by list."""
    owned: Int64
    """int64[G]: numbers of the names of entries."""
    entries: Entries


def found_at_once(
    buffer: bytes, table: NameTable, lists: Sections, owned: Sections, end: Int64
) -> Found | None:
    """Return the names of R messages which have names of this table alone, all of one length.

    Entries, of what is `owned`, lie behind the list and end at `end`, int64[R], within the message.
    No list or entry begins before the message does. `None` where anything is odd.
    Cost: O(bytes), less than a nanosecond each, and O(names).
    """
    length = int(table.length[0])
    begin, number = _places_of_names(buffer, table, length)
    count = _by_turns(lists.size, owned.size)
    bounds = bounds_of(count)
    if len(begin) != bounds[-1] or int(count.min()) < 0:
        return None
    is_owned = np.zeros(len(count), dtype=np.bool_)
    is_owned[1::2] = True
    is_owned = is_owned.repeat(count)
    entry = is_owned.nonzero()[0]
    entry_begin = begin[entry]
    numbers: Int64 = int32_view(buffer)[entry_begin + (NAME_LENGTH_SIZE + length)].astype(np.int64)
    if len(numbers) and int(numbers.min()) < 1:
        return None
    after = begin + (NAME_LENGTH_SIZE + length)
    after[entry] += COUNT_SIZE + NUMBER_SIZE * numbers
    if not _are_adjacent(begin, after, _by_turns(lists.start, owned.start), count, bounds):
        return None
    ends = owned.start.copy()
    some = owned.size.nonzero()[0]
    ends[some] = after[bounds[2::2][some] - 1]
    if np.count_nonzero(ends != end):
        return None
    entries = _entries(
        buffer=buffer,
        read=owned.size,
        row=np.arange(len(end)).repeat(owned.size),
        name_start=entry_begin + NAME_LENGTH_SIZE,
        name_length=np.broadcast_to(np.int64(length), (len(entry),)),
        count=numbers,
    )
    return Found(number[~is_owned], number[entry], entries)


def _by_turns(one: Int64, other: Int64) -> Int64:
    """Return the first of one, the first of the other, the second of one, and so on."""
    both = np.empty(2 * len(one), dtype=np.int64)
    both[::2], both[1::2] = one, other
    return both


def _places_of_names(buffer: bytes, table: NameTable, length: int) -> tuple[Int64, Int64]:
    """Return where names of the table stand behind this length, and which."""
    uint8 = np.frombuffer(buffer, dtype=np.uint8)[: len(buffer) - PAD + 1]
    is_length: Bool = uint8[1:] == length
    is_length &= uint8[:-1] == 0
    begin = is_length.nonzero()[0]
    start = begin + NAME_LENGTH_SIZE
    number = find(table, buffer, start, np.broadcast_to(np.int64(length), (len(start),)))
    is_name = number >= 0
    if np.count_nonzero(is_name) < len(number):
        begin, number = begin[is_name], number[is_name]
    return begin, number


def _are_adjacent(begin: Int64, after: Int64, start: Int64, count: Int64, bounds: Int64) -> bool:
    """Return whether each name or entry begins where the one before ends, the first at the start.

    `start` and `count` are those of sections, `bounds` where they begin among all names.
    """
    wanted = np.empty(len(begin), dtype=np.int64)
    wanted[1:] = after[:-1]
    some = count.nonzero()[0]
    wanted[bounds[some]] = start[some]
    return not np.count_nonzero(wanted != begin)
