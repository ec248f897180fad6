"""Entries of any layout, read in lock step: the first one of every message, then the second one.

In a large group most topics have fewer partitions than there are members, so that a member owns
one partition of each of its topics: where it is so in the first entry of all messages, all are
read so, which takes half the time, and once more where that turns out to be wrong. So it is with
names of one length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Bool, Int32, Int64, bounds_of
from assignors.group_bytes.entries.places import (
    COUNT_SIZE,
    NAME_LENGTH_SIZE,
    NUMBER_SIZE,
    PAD,
    Entries,
    int16_view,
    int32_view,
    view_of,
)
from wire.constructors import unchecked

_entries = unchecked(Entries)

UInt8 = NDArray[np.uint8]
HEADER_SIZE = NAME_LENGTH_SIZE + COUNT_SIZE
"""Bytes of the length in front of a name and of the count behind it."""
COUNT_AND_NUMBER = COUNT_SIZE + NUMBER_SIZE
COUNTED = np.dtype((np.void, COUNT_AND_NUMBER))
ONE = np.uint32(1 << 24)
"""A count of 1, read with its first byte as the lowest: numpy compares these faster."""
BEHIND = np.arange(HEADER_SIZE, HEADER_SIZE + 4 * 256, 4)
"""What an entry with so many numbers has beside its name."""


def entries_in_lock_step(
    buffer: bytes, place: Int64, end: Int64, is_plain: Bool, read: Int64
) -> Entries:
    """Read one entry of each message at a time; move `place` behind them.

    `read`, int64[R], says how many entries each message has, and becomes 0 where one is odd: then
    `is_plain` becomes false.
    """
    ptr = bounds_of(read)
    active = np.flatnonzero(read)
    most = int(read.max(initial=0))
    fewer = most - read[active]
    # Numpy sorts 16 bits in linear time.
    active = active[(fewer.astype(np.uint16) if most < 1 << 16 else fewer).argsort(kind="stable")]
    # How many messages have an entry in each step: those with most come first.
    message_count = (-read[active]).searchsorted(-np.arange(most)).tolist()
    steps = _Steps(place[active], ptr[active], ptr[active + 1] - 1, message_count)
    uint8 = np.frombuffer(buffer, dtype=np.uint8)
    alike = _single if _are_single(uint8, steps.first) else _of_one_name_size
    found = alike(buffer, steps) or _of_any_layout(uint8, steps)
    place[active] = found.end
    row = np.arange(len(read)).repeat(read)
    start, length, count, number = found.begin + 2, found.length, found.number_count, found.number
    is_odd = place > end
    if found.is_odd is not None:
        is_odd[row[found.is_odd]] = True
    is_odd &= read > 0
    if is_odd.any():
        is_plain[is_odd] = False
        read[is_odd] = 0
        kept = read[row] > 0
        row, start, length, count = row[kept], start[kept], length[kept], count[kept]
        number = None if number is None else number[kept]
    return _entries(
        buffer=buffer,
        read=read,
        row=row,
        name_start=start,
        name_length=length,
        count=count,
        number=number,
    )


class _Steps(NamedTuple):
    """Where A messages with E entries begin, those with most entries first."""

    first: Int64
    """int64[A]: of the first entry of each message."""
    entry: Int64
    """int64[A]: its number among all entries; the others follow it."""
    last: Int64
    """int64[A]: the number of the last one."""
    message_count: list[int]
    """How many messages have an entry in each step."""


class _Found(NamedTuple):
    """E entries of A messages."""

    begin: Int64
    """int64[E]."""
    end: Int64
    """int64[A]: where the last one of each message ends."""
    length: Int64
    """int64[E]: bytes of the name."""
    number_count: Int64
    """int64[E]: how many numbers it has."""
    number: Int32 | None
    """As in `Entries`."""
    is_odd: Bool | None
    """bool[E]: what is no plain entry; `None` where all are."""


def _single(buffer: bytes, steps: _Steps) -> _Found | None:
    """Return the entries where all have one number, `None` elsewhere."""
    uint8 = np.frombuffer(buffer, dtype=np.uint8)
    begin, at = _begins(uint8, steps, is_single=True)
    length, number = _single_numbers(buffer, begin)
    if number is None:
        return None
    high = uint8.take(begin, mode="clip")
    is_odd = high != 0 if high.any() else None
    return _Found(begin, at, length, np.broadcast_to(np.int64(1), (len(begin),)), number, is_odd)


def _of_one_name_size(buffer: bytes, steps: _Steps) -> _Found | None:
    """Return the entries where all names have one length, `None` elsewhere.

    Where the first names differ in their lengths, that is seen at once.
    """
    int16, int32 = int16_view(buffer), int32_view(buffer)
    length = int(int16[steps.first[0]]) if len(steps.first) else -1
    if length < 0 or not (int16[steps.first] == length).all():
        return None
    uint8 = np.frombuffer(buffer, dtype=np.uint8)
    are_long = uint8.take(steps.first + (length + 4), mode="clip").any()
    begin, at = _begins(uint8, steps, name_size=length, are_long=bool(are_long))
    if int(at.max()) > len(buffer) - PAD:
        return None
    count = _sizes(begin, at, steps.last)
    count -= HEADER_SIZE + length
    count >>= 2
    is_alike = (int16[begin] == length).all() and (int32[begin + (2 + length)] == count).all()
    if not is_alike or int(count.min()) < 1:
        return None
    return _Found(begin, at, np.broadcast_to(np.int64(length), (len(begin),)), count, None, None)


def _of_any_layout(uint8: UInt8, steps: _Steps) -> _Found:
    """Return the entries, whatever they are."""
    begin, at = _begins(uint8, steps)
    length = uint8.take(begin + 1, mode="clip").astype(np.int64)
    count = _sizes(begin, at, steps.last)
    count -= length + HEADER_SIZE
    count >>= 2
    high = uint8.take(begin, mode="clip")
    counted = begin + 2
    counted += length
    high |= uint8.take(counted, mode="clip")
    counted += 1
    high |= uint8.take(counted, mode="clip")
    is_odd = None
    if high.any() or int(count.min(initial=1)) < 1:
        is_odd = (high != 0) | (count < 1)
    return _Found(begin, at, length, count, None, is_odd)


def _sizes(begin: Int64, end: Int64, last: Int64) -> Int64:
    """Return the bytes of each entry, int64[E]; the last ones of the messages end at `end`."""
    size = np.empty(len(begin), dtype=np.int64)
    np.subtract(begin[1:], begin[:-1], out=size[:-1])
    size[last] = end - begin[last]
    return size


def _begins(
    uint8: UInt8,
    steps: _Steps,
    *,
    is_single: bool = False,
    name_size: int | None = None,
    are_long: bool = True,
) -> tuple[Int64, Int64]:
    """Return where entries begin, int64[E], and where the last one of each message ends.

    All have one number, or names of this size, or what they say. If they are not long, all have
    fewer than 256 numbers.
    """
    begin = np.empty(sum(steps.message_count), dtype=np.int64)
    behind = BEHIND + (name_size or 0)
    at, index = steps.first.copy(), steps.entry.copy()
    for messages in steps.message_count:
        place, entry = at[:messages], index[:messages]
        begin[entry] = place
        entry += 1
        # The low byte of each length and the two low bytes of each count: one byte is read faster
        # than two or four. Whether that is all of them is seen later; until then anything is
        # read, within the buffer.
        if name_size is not None:
            size = behind.take(uint8.take(place + (name_size + 5), mode="clip"))
            if are_long:
                size += uint8.take(place + (name_size + 4), mode="clip").astype(np.int64) << 10
            place += size
            continue
        place += uint8.take(place + 1, mode="clip")
        if is_single:
            place += BEHIND[1]
            continue
        high = uint8.take(place + 4, mode="clip")
        place += BEHIND.take(uint8.take(place + 5, mode="clip"))
        if high.any():
            place += high.astype(np.int64) << 10
    return begin, at


def _are_single(uint8: UInt8, begin: Int64) -> bool:
    """Return whether these entries seem to have one number each: by the last byte of the count."""
    counted = begin + 5
    counted += uint8.take(begin + 1, mode="clip")
    return bool((uint8.take(counted, mode="clip") == 1).all())


def _single_numbers(buffer: bytes, begin: Int64) -> tuple[Int64, Int32 | None]:
    """Return the bytes of each entry's name, int64[E], and its number, int32[E].

    `None` where some entry has another count than 1, or a long name.
    """
    length = np.frombuffer(buffer, dtype=np.uint8).take(begin + 1, mode="clip").astype(np.int64)
    counted = begin + length
    counted += 2
    if int(counted.max(initial=0)) > len(buffer) - COUNT_AND_NUMBER:
        return length, None
    # As bytes: all eight of them are read as fast as four.
    found = view_of(buffer, COUNTED)[counted]
    if not (found.view("<u4")[::2] == ONE).all():
        return length, None
    return length, found.view(">i4")[1::2].astype(np.int32)
