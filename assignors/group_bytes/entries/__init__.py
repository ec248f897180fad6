"""Entries of a topic and its partition numbers, read in lock step over many messages.

Owned partitions of a Subscription and partitions of an Assignment have the same bytes: a count,
then a name and numbers for each topic. First the first entry of
everybody is read, then the second of everybody. A message that is not plain there is marked;
every read stays within its own bytes, so hostile counts cost nothing.
"""

from __future__ import annotations

import numpy as np

from assignors.arrays import Bool, Int32, Int64, OwnedArrays, bounds_of
from assignors.group_bytes.entries.at_once import Found, Sections, found_at_once
from assignors.group_bytes.entries.listed import listed_names
from assignors.group_bytes.entries.lock_step import entries_in_lock_step
from assignors.group_bytes.entries.places import (
    COUNT_SIZE,
    NAME_LENGTH_SIZE,
    PAD,
    Entries,
    Messages,
    int16_view,
    int32_view,
    joined_messages,
    sizes_of,
)
from assignors.group_bytes.entries.recognised import (
    KnownNames,
    is_text,
    numbered_names,
    recognised_names,
    repeated_rows,
)
from wire.cursor import COUNT_LIMIT

TOGETHER_MIN = 16
"""So many messages at least are read in one step; the rest of the longest ones is read alone."""
ENTRY_SIZE_MIN = 10
"""Bytes of an empty name, a count and one number."""


def read_entries(
    buffer: bytes,
    place: Int64,
    end: Int64,
    is_plain: Bool,
    *,
    is_there: Bool | None = None,
) -> Entries:
    """Read entries that begin with their count at `place`; move `place` behind them.

    `place` and `end` are int64[R], a message each. `is_plain`, bool[R], becomes false for messages
    with odd entries, and for the few with more entries than nearly all others. Where `is_there`,
    bool[R], is false, there are none. Cost: O(E), and some calls of numpy for each entry of the
    longest message.
    """
    there = is_plain if is_there is None else is_plain & is_there
    is_plain &= ~there | (place + 4 <= end)
    there = there & is_plain
    entry_count = np.zeros(len(place), dtype=np.int64)
    entry_count[there] = int32_view(buffer)[place[there]]
    place += COUNT_SIZE * there
    read = _readable(entry_count, place, end, is_plain)
    return entries_in_lock_step(buffer, place, end, is_plain, read)


def _readable(entry_count: Int64, place: Int64, end: Int64, is_plain: Bool) -> Int64:
    """Return how many entries of each message are read in lock step: all or none."""
    # A null array is not plain, nor is one that is longer than its bytes.
    most = (end - place) // ENTRY_SIZE_MIN
    is_plain &= (entry_count >= 0) & (entry_count <= np.minimum(most, COUNT_LIMIT))
    sizes = entry_count[is_plain]
    together_min = max(1, min(TOGETHER_MIN, len(sizes) // 4))
    longest = int(sizes[sizes.argmax()]) if len(sizes) else 0
    if np.count_nonzero(sizes == longest) < together_min <= len(sizes):
        longest = int(np.sort(sizes)[-together_min])
    is_plain &= entry_count <= longest
    return entry_count * is_plain


def owned_arrays(entries: Entries, known: KnownNames, is_plain: Bool) -> OwnedArrays:
    """Return the entries as arrays, row by row; names that are not known are added.

    Rows with a name that was not recognised, with one twice or with a negative number stop being
    plain. Cost: that of `recognised_names`, O(numbers).
    """
    topic = recognised_names(entries, known)
    row = entries.row
    if len(topic) and topic[topic.argmin()] < 0:
        is_plain[row[topic < 0]] = False
    is_plain[repeated_rows(row, topic, len(known.numbers))] = False
    number_ptr, number = _numbers(entries)
    if len(number) and number[number.argmin()] < 0:
        owner_of = np.repeat(row, np.diff(number_ptr))
        is_plain[owner_of[number < 0]] = False
    names = known.texts()
    return OwnedArrays(
        names=names,
        name_set=frozenset(names),
        entry_ptr=bounds_of(entries.read),
        topic=topic,
        number_ptr=number_ptr,
        number=number,
    )


def _numbers(entries: Entries) -> tuple[Int64, Int32]:
    """Return where the numbers of each entry begin, int64[E + 1], and all numbers."""
    if entries.number is not None:
        return np.arange(len(entries.number) + 1), entries.number
    first = entries.name_start + entries.name_length
    first += 4
    int32, count = int32_view(entries.buffer), entries.count
    if int(count.max(initial=1)) == 1:
        return np.arange(len(first) + 1), int32[first].astype(np.int32)
    ptr = bounds_of(count)
    place = np.arange(0, 4 * int(ptr[-1]), 4)
    first -= 4 * ptr[:-1]
    place += first.repeat(count)
    return ptr, int32[place].astype(np.int32)


__all__ = [
    "COUNT_SIZE",
    "NAME_LENGTH_SIZE",
    "PAD",
    "Entries",
    "Found",
    "KnownNames",
    "Messages",
    "Sections",
    "found_at_once",
    "int16_view",
    "int32_view",
    "is_text",
    "joined_messages",
    "listed_names",
    "numbered_names",
    "owned_arrays",
    "read_entries",
    "recognised_names",
    "repeated_rows",
    "sizes_of",
]
