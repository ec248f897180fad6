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
from assignors.group_bytes.entries.places import (
    COUNT_SIZE,
    NAME_LENGTH_SIZE,
    NUMBER_SIZE,
    Entries,
    EntryRecords,
    view_of,
)
from assignors.group_bytes.names import WORD, bytes_at, column
from wire.constructors import unchecked
from wire.cursor import COUNT_LIMIT

_entry_records = unchecked(EntryRecords)

UINT16, UINT32 = np.dtype(">u2"), np.dtype(">u4")


class _Layout(NamedTuple):
    """What all entries have in common."""

    name_length: int
    number_count: int

    @property
    def size(self) -> int:
        """Bytes of an entry."""
        numbers = COUNT_SIZE + NUMBER_SIZE * self.number_count
        return NAME_LENGTH_SIZE + self.name_length + numbers


def entries_of_one_layout(
    buffer: bytes, place: Int64, end: Int64, read: Int64
) -> EntryRecords | None:
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
    length = view_of(buffer, UINT16)[at]
    count = view_of(buffer, UINT32)[at + (2 + layout.name_length)]
    is_alike = bool((length == layout.name_length).all())
    if not is_alike or not (count == layout.number_count).all():
        return None
    entries = _entries(buffer, place, active, read, layout)
    if entries is not None:
        place[active] = after
    return entries


def entries_that_fill(
    buffer: bytes, place: Int64, end: Int64, read: Int64
) -> Entries | EntryRecords | None:
    """Return the entries of R messages, where all have one layout and end where the entries do.

    As `entries_of_one_layout`; nothing is moved, and there may be no entries at all.
    """
    room = end - place
    active = room.nonzero()[0]
    if not len(active):
        return None if read.any() else _nothing(buffer, read)
    layout = _layout_at(buffer, int(place[active[0]]))
    is_plain = 0 < layout.number_count <= COUNT_LIMIT and int(read.max()) <= COUNT_LIMIT
    if not is_plain or np.count_nonzero(read * layout.size != room):
        return None
    return _entries(buffer, place, active, read, layout)


def repeated_names(entries: EntryRecords, numbers: Mapping[bytes, int]) -> list[int] | None:
    """Return the numbers of the names in each message, where all messages name the same topics.

    That is, in the same order, and all of them known and different; `None` elsewhere.
    """
    records, names = entries.records, f"V{entries.name_size}"
    written = np.ndarray((entries.repeated,), names, records, 2, (records.shape[1],))
    found = list(map(numbers.get, written.tolist(), repeat(-1)))
    if not found or min(found) < 0 or len(set(found)) < len(found):
        return None
    return found


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
    buffer: bytes, place: Int64, active: Int64, read: Int64, layout: _Layout
) -> EntryRecords | None:
    """Return the entries of R messages, which begin at `place`; only some are active, int64[A].

    `None` where one has another layout; all lie within the buffer.
    """
    size, is_all = layout.size, len(active) == len(read)
    at, entry_count = (place, read) if is_all else (place[active], read[active])
    each, total = int(entry_count[0]), int(entry_count.sum())
    is_even = each * len(active) == total and not np.count_nonzero(entry_count != each)
    if is_even:
        records = bytes_at(buffer, at, size * each).reshape(total, size)
    else:
        start = np.repeat(at - size * (entry_count.cumsum() - entry_count), entry_count)
        start += np.arange(0, size * total, size)
        records = bytes_at(buffer, start, size)
    repeated = each if is_even and _are_repeated(records, len(active), layout) else 0
    # Where all headers are those of the first message, its own are all there are.
    some = records[:repeated] if repeated else records
    differ = np.count_nonzero(column(some, ">u2", 0) != layout.name_length)
    count = column(some, ">u4", 2 + layout.name_length)
    if differ or np.count_nonzero(count != layout.number_count):
        return None
    return _entry_records(
        buffer=buffer,
        read=read,
        records=records,
        first_name=place + 2,
        name_size=layout.name_length,
        number_count=layout.number_count,
        repeated=repeated,
    )


def _are_repeated(records: NDArray[np.uint8], message_count: int, layout: _Layout) -> bool:
    """Return whether all messages have the same names, lengths and counts in their entries.

    All have as many entries. A header that is shorter than a word is not compared.
    """
    header, each = layout.size - 4 * layout.number_count, len(records) // message_count
    if header < WORD or (records[0, :header] != records[-each, :header]).any():
        return False  # mostly known by the first entries of the first and the last message
    for first in (*range(0, header - WORD, WORD), header - WORD):
        words = column(records, "<u8", first).reshape(message_count, each)
        if np.count_nonzero(words != words[0]):
            return False
    return True
