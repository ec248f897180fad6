"""Entries that all have names of one length and as many numbers, read at once.

So it is in a large group whose topics are numbered. Elsewhere the first entries differ nearly
always, which costs a look at one entry of each message.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int64
from assignors.group_bytes.entries.places import COUNT_LIMIT, Entries, view_of
from assignors.group_bytes.names import MASKS, WORD, column


class _Layout(NamedTuple):
    """What all entries have in common."""

    name_length: int
    number_count: int

    @property
    def size(self) -> int:
        """Bytes of an entry."""
        return 2 + self.name_length + 4 + 4 * self.number_count


def entries_of_one_layout(buffer: bytes, place: Int64, end: Int64, read: Int64) -> Entries | None:
    """Return the entries of R messages, where all have one layout; then move `place` behind them.

    `read`, int64[R], says how many entries each message has. `None` where there are none or where
    they differ; then `place` stays.
    """
    active = np.flatnonzero(read)
    if not len(active):
        return None
    at, entry_count = place[active], read[active]
    layout = _layout_at(buffer, int(at[0]))
    if not 0 < layout.number_count <= COUNT_LIMIT:
        return None
    after = at + layout.size * entry_count
    if (after > end[active]).any():
        return None
    length = view_of(buffer, ">u2")[at]
    count = view_of(buffer, ">u4")[at + (2 + layout.name_length)]
    is_alike = bool((length == layout.name_length).all())
    if not is_alike or not (count == layout.number_count).all():
        return None
    entries = _entries(buffer, at, active, read, layout)
    if entries is not None:
        place[active] = after
    return entries


def entries_that_fill(buffer: bytes, place: Int64, end: Int64, read: Int64) -> Entries | None:
    """Return the entries of R messages, where all have one layout and end where the entries do.

    As `entries_of_one_layout`; nothing is moved, and there may be no entries at all.
    """
    room = end - place
    active = np.flatnonzero(room)
    if not len(active):
        return None if read.any() else _nothing(buffer, read)
    layout = _layout_at(buffer, int(place[active[0]]))
    is_plain = 0 < layout.number_count <= COUNT_LIMIT and int(read.max()) <= COUNT_LIMIT
    if not is_plain or not (read * layout.size == room).all():
        return None
    return _entries(buffer, place[active], active, read, layout)


def repeated_names(
    entries: Entries, records: NDArray[np.uint8], numbers: Mapping[bytes, int]
) -> Int64 | None:
    """Return the number of each entry's name, int64[E], where all messages name the same topics.

    That is, in the same order, and all of them known; `None` elsewhere. Cost: O(E).
    """
    each, message_count = int(entries.read.max()), int(np.count_nonzero(entries.read))
    if each * message_count != len(records):
        return None
    length = int(entries.name_length[0])
    # Behind a name stand its count and a number at least: eight bytes.
    for place in (*range(2, 2 + length - WORD, WORD), max(2, 2 + length - WORD)):
        words = column(records, "<u8", place)
        if length < WORD:
            words = words & MASKS[length]
        if not (words.reshape(message_count, each) == words[:each]).all():
            return None
    first = [name.tobytes() for name in records[:each, 2 : 2 + length]]
    found = list(map(numbers.get, first, repeat(-1)))
    return np.tile(np.array(found), message_count) if min(found) >= 0 else None


def _nothing(buffer: bytes, read: Int64) -> Entries:
    """Return no entries."""
    empty = np.zeros(0, dtype=np.int64)
    return Entries(
        buffer=buffer, read=read, row=empty, name_start=empty, name_length=empty, count=empty
    )


def _layout_at(buffer: bytes, place: int) -> _Layout:
    """Return the layout of the entry at `place`."""
    name_length = buffer[place] << 8 | buffer[place + 1]
    count_at = place + 2 + name_length
    return _Layout(name_length, int.from_bytes(buffer[count_at : count_at + 4], "big"))


def _entries(
    buffer: bytes, at: Int64, active: Int64, read: Int64, layout: _Layout
) -> Entries | None:
    """Return the entries of the active messages, int64[A], which begin at `at`.

    `None` where one has another layout; all lie within the buffer.
    """
    size, entry_count = layout.size, read[active]
    each, total = int(entry_count[0]), int(entry_count.sum())
    if each * len(active) == total and bool((entry_count == each).all()):
        start = (at[:, None] + np.arange(0, size * each, size)).ravel()
        records = _bytes_at(buffer, at, size * each).reshape(total, size)
    else:
        start = np.repeat(at - size * (entry_count.cumsum() - entry_count), entry_count)
        start += np.arange(0, size * total, size)
        records = _bytes_at(buffer, start, size)
    is_alike = bool((column(records, ">u2", 0) == layout.name_length).all())
    count = column(records, ">u4", 2 + layout.name_length)
    if not is_alike or not (count == layout.number_count).all():
        return None
    start += 2
    return Entries(
        buffer=buffer,
        read=read,
        row=np.repeat(active, entry_count),
        name_start=start,
        name_length=_same(layout.name_length, total),
        count=_same(layout.number_count, total),
        records=records,
    )


def _bytes_at(buffer: bytes, place: Int64, size: int) -> NDArray[np.uint8]:
    """Return so many bytes at each place, uint8[N, size]."""
    found = np.ndarray((len(buffer) - size + 1,), f"V{size}", buffer, strides=(1,))[place]
    return found.view(np.uint8).reshape(len(place), size)


def _same(number: int, count: int) -> Int64:
    """Return one number so many times, int64[N], without memory for each."""
    return np.ndarray((count,), np.int64, np.array([number]), strides=(0,))
