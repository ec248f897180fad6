"""Entries of a topic and its partition numbers, read in lock step over many messages.

Owned partitions of a Subscription and partitions of an Assignment have the same bytes: a count,
then a name and numbers for each topic. First the first entry of everybody is read, then the
second of everybody. A message that is not plain there is marked; every read stays within its own
bytes, so hostile counts cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Bool, Int64, OwnedArrays
from assignors.group_bytes.names import find, name_table, word_view
from assignors.group_bytes.topic_lists import COUNT_LIMIT, NAME_LIMIT

TOGETHER_MIN = 16
"""So many messages at least are read in one step; the rest of the longest ones is read alone."""
PAD = NAME_LIMIT + 16
"""Zeros behind the bytes, so that no read of a string's length leaves the buffer."""
UNKNOWN_AT_ONCE = 256
"""So many unknown names are looked at before the others are compared with them."""
LEARNING_MAX = 4
"""Times that this is done; messages with names that are unknown after it are read alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """E entries, as places in a buffer that ends in `PAD` zeros."""

    buffer: bytes
    row: Int64
    """int64[E]: whose entry it is."""
    name_start: Int64
    """int64[E]."""
    name_length: Int64
    """int64[E]."""
    count: Int64
    """int64[E]: how many numbers stand behind the name and this count."""


def read_entries(buffer: bytes, place: Int64, end: Int64, is_plain: Bool) -> Entries:
    """Read entries that begin with their count at `place`; move `place` behind them.

    `place` and `end` are int64[R], a message each. `is_plain`, bool[R], becomes false for messages
    with odd entries, and for the few with more entries than nearly all others. Cost: O(E), and
    some calls of numpy for each entry of the longest message.
    """
    int32 = int32_view(buffer)
    is_plain &= place + 4 <= end
    entry_count = np.where(is_plain, int32[np.where(is_plain, place, 0)], 0).astype(np.int64)
    place += 4
    # An entry has 10 bytes at least, and a null array is not plain.
    is_plain &= (entry_count >= 0) & (entry_count <= COUNT_LIMIT)
    is_plain &= entry_count * 10 <= np.maximum(end - place, 0)
    row, start, length, count = _entries(buffer, place, end, is_plain, entry_count)
    return Entries(buffer=buffer, row=row, name_start=start, name_length=length, count=count)


def entry_arrays(entries: Entries, is_plain: Bool, names: Mapping[bytes, str]) -> OwnedArrays:
    """Return the entries as arrays, row by row.

    Rows with a name that is not among `names`, with one twice or with a negative number stop being
    plain. Cost: O(E + numbers).
    """
    row_count = len(is_plain)
    order = _by_row(entries.row, row_count)
    row, count = entries.row[order], entries.count[order]
    start, length = entries.name_start[order], entries.name_length[order]
    topic = find(name_table(list(names)), word_view(entries.buffer), start, length)
    is_plain[row[topic < 0]] = False
    key = row * np.int64(len(names) + 1) + topic
    if bool((np.diff(key) <= 0).any()):
        in_order = np.argsort(key, kind="stable")
        again = np.flatnonzero(np.diff(key[in_order]) == 0) + 1
        is_plain[row[in_order[again]]] = False
    number_ptr = np.zeros(len(count) + 1, dtype=np.int64)
    np.cumsum(count, out=number_ptr[1:])
    first = start + length + 4
    int32 = int32_view(entries.buffer)
    if int(number_ptr[-1]) == len(count):  # one number each
        number = int32[first].astype(np.int64)
        owner_of = row
    else:
        steps = np.arange(int(number_ptr[-1]), dtype=np.int64)
        number = int32[np.repeat(first - 4 * number_ptr[:-1], count) + 4 * steps].astype(np.int64)
        owner_of = np.repeat(row, count) if bool((number < 0).any()) else row
    if len(number) and int(number.min()) < 0:
        is_plain[owner_of[number < 0]] = False
    entry_ptr = np.zeros(row_count + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=row_count), out=entry_ptr[1:])
    return OwnedArrays(
        names=tuple(names.values()),
        name_set=frozenset(names.values()),
        entry_ptr=entry_ptr,
        topic=topic,
        number_ptr=number_ptr,
        number=number,
    )


def learned_names(entries: Entries) -> dict[bytes, str]:
    """Return the names in entries, as long as a few of them account for all others."""
    known: dict[bytes, str] = {}
    left = np.arange(len(entries.row))
    view = word_view(entries.buffer)
    for _ in range(LEARNING_MAX):
        # Entries stand step by step, so neighbours often have one name.
        some = left[:: max(1, len(left) // UNKNOWN_AT_ONCE)]
        starts, lengths = _names_at(entries, some)
        for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
            name = entries.buffer[start : start + length]
            try:
                known[name] = name.decode()
            except UnicodeDecodeError:
                continue
        found = find(name_table(list(known)), view, *_names_at(entries, left))
        left = left[found < 0]
        if not len(left):
            break
    return known


def _entries(
    buffer: bytes, place: Int64, end: Int64, is_plain: Bool, entry_count: Int64
) -> tuple[Int64, Int64, Int64, Int64]:
    """Read owned topics, one of each member at a time; move `place` behind them.

    Rows with odd entries, and the few with more entries than nearly all others, stop being plain.
    """
    int16, int32 = int16_view(buffer), int32_view(buffer)
    sizes = np.sort(entry_count[is_plain])[::-1]
    longest = int(sizes[min(TOGETHER_MIN, len(sizes)) - 1]) if len(sizes) else 0
    is_plain &= entry_count <= longest
    active = np.flatnonzero(is_plain & (entry_count > 0))
    active = active[np.argsort(-entry_count[active], kind="stable")]
    left = entry_count[active]
    found: list[tuple[Int64, Int64, Int64, Int64]] = []
    at, stop = place[active], end[active]
    step = 0
    while len(active):
        step += 1
        length = int16[at].astype(np.int64)
        np.maximum(length, 0, out=length)
        behind = at + (2 + length)
        count = int32[np.minimum(behind, stop)].astype(np.int64)
        after = behind + (4 + 4 * count)
        is_good = (count > 0) & (count <= COUNT_LIMIT) & (after <= stop)
        if not is_good.all():
            is_plain[active[~is_good]] = False
            active, left, at, stop = active[is_good], left[is_good], at[is_good], stop[is_good]
            length, count, after = length[is_good], count[is_good], after[is_good]
        found.append((active, at + 2, length, count))
        going_on = int(np.searchsorted(-left, -step, side="left"))
        if going_on < len(active):
            place[active[going_on:]] = after[going_on:]
            active, left, stop = active[:going_on], left[:going_on], stop[:going_on]
        at = after[:going_on]
    if not found:
        empty = np.zeros(0, dtype=np.int64)
        return empty, empty, empty, empty
    row, start, length, count = (np.concatenate(column) for column in zip(*found, strict=True))
    return row, start, length, count


def _by_row(row: Int64, row_count: int) -> Int64:
    """Return the entries in the order of their rows, each row's in its own order."""
    small: NDArray[np.uint16] | Int64 = row.astype(np.uint16) if row_count < 1 << 16 else row
    return np.argsort(small, kind="stable")


def _names_at(entries: Entries, chosen: Int64) -> tuple[Int64, Int64]:
    return entries.name_start[chosen], entries.name_length[chosen]


def int16_view(buffer: bytes) -> NDArray[np.int16]:
    """Return every 2 bytes of `buffer`, at any offset, as a big-endian number."""
    return np.ndarray((len(buffer) - 1,), ">i2", buffer, strides=(1,))


def int32_view(buffer: bytes) -> NDArray[np.int32]:
    """Return every 4 bytes of `buffer`, at any offset, as a big-endian number."""
    return np.ndarray((len(buffer) - 3,), ">i4", buffer, strides=(1,))
