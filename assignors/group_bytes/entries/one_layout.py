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
    length = view_of(buffer, ">u2")[at]
    count = view_of(buffer, ">u4")[at + (2 + layout.name_length)]
    is_alike = bool((length == layout.name_length).all())
    is_alike = is_alike and bool((count == layout.number_count).all())
    if not is_alike or (after > end[active]).any():
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
    ends = entry_count.cumsum()
    start = np.repeat(at - size * (ends - entry_count), entry_count)
    start += np.arange(0, size * len(start), size)
    found = np.ndarray((len(buffer) - size + 1,), f"V{size}", buffer, strides=(1,))[start]
    records = found.view(np.uint8).reshape(len(start), size)
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
        name_length=np.broadcast_to(np.int64(layout.name_length), start.shape),
        count=np.broadcast_to(np.int64(layout.number_count), start.shape),
        records=records,
    )
