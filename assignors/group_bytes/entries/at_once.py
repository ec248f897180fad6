"""Names of one length found in whole messages at once, in topic lists and in owned topics.

Such a name stands behind the two bytes of its length. These may stand elsewhere as well, as parts
of numbers: a place counts if a known name follows it, and all is taken only if entries stand at
just these places, each where the one before ends. Elsewhere the other readers are asked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assignors.arrays import Bool, Int64, OwnedArrays, bounds_of
from assignors.group_bytes.entries.places import (
    COUNT_SIZE,
    NAME_LENGTH_SIZE,
    NUMBER_SIZE,
    PAD,
    int32_view,
)
from assignors.group_bytes.entries.recognised import KnownNames, repeated_rows
from assignors.group_bytes.names import NameTable, find


class Sections(NamedTuple):
    """A part of each of R messages: a list of names, or entries."""

    start: Int64
    """int64[R]: of the first name or entry, with its length."""
    size: Int64
    """int64[R]: how many there are."""


class Found(NamedTuple):
    """The names of R messages: those of their topic lists, and what they own."""

    list_ptr: Int64
    """int64[R + 1]: list r has the names listed[list_ptr[r]:list_ptr[r + 1]]."""
    listed: Int64
    """int64[E]: numbers of the names in the lists, list by list, none twice in a list."""
    owned: OwnedArrays


def found_at_once(
    buffer: bytes, known: KnownNames, lists: Sections, owned: Sections, end: Int64
) -> Found | None:
    """Return what R messages list and own which have names of this table alone, all of one length.

    The length has one byte. Entries, of what is `owned`, lie behind the list and end at `end`,
    int64[R], within the message. No list or entry begins before the message does. `None` where
    anything is odd. Cost: O(bytes), less than a nanosecond each, and O(names + partitions).
    """
    table = known.all_in_table()
    each = NAME_LENGTH_SIZE + int(table.length[0])
    begin, number = _places_of_names(buffer, table, each - NAME_LENGTH_SIZE)
    size = _by_turns(lists.size, owned.size)
    bounds = bounds_of(size)
    if len(begin) != bounds[-1] or size[size.argmin()] < 0:
        return None
    section = np.arange(len(size)).repeat(size)
    if len(repeated_rows(section, number, len(table.length))):
        return None
    is_owned = (section & 1).astype(np.bool_)
    entry = is_owned.nonzero()[0]
    int32 = int32_view(buffer)
    after = begin + each
    place = after[entry]
    count = int32[place].astype(np.int64)
    place += COUNT_SIZE
    after[entry] = place + NUMBER_SIZE * count
    starts = _by_turns(lists.start, owned.start)
    if not _are_adjacent(begin, after, starts, size, bounds) or (
        len(count) and count[count.argmin()] < 1
    ):
        return None
    ends = owned.start.copy()
    some = owned.size.nonzero()[0]
    ends[some] = after[bounds[2::2][some] - 1]
    if np.count_nonzero(ends != end):
        return None
    number_ptr = bounds_of(count)
    place -= NUMBER_SIZE * number_ptr[:-1]
    place = place.repeat(count)
    place += np.arange(0, NUMBER_SIZE * len(place), NUMBER_SIZE)
    partition = int32[place].astype(np.int32)
    if len(partition) and partition[partition.argmin()] < 0:
        return None
    names, entry_ptr = known.texts(), bounds_of(owned.size)
    arrays = OwnedArrays(
        names=names,
        name_set=frozenset(names),
        entry_ptr=entry_ptr,
        topic=number[entry],
        number_ptr=number_ptr,
        number=partition,
    )
    return Found(bounds[::2] - entry_ptr, number[~is_owned], arrays)


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
    lengths = np.broadcast_to(np.int64(length), (len(begin),))
    number = find(table, buffer, begin + NAME_LENGTH_SIZE, lengths)
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
