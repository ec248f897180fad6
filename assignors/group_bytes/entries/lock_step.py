"""Entries read in lock step: the first one of every message, then the second one.

In a large group most topics have fewer partitions than there are members, so that a member owns
one partition of each of its topics. Where the names have one length too, as those of numbered
topics have, all entries have one size, and are read at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Bool, Int64, bounds_of
from assignors.group_bytes.entries.places import (
    COUNT_SIZE,
    NAME_LENGTH_SIZE,
    NUMBER_SIZE,
    PAD,
    Entries,
)
from assignors.group_bytes.names import bytes_at, column

UInt8 = NDArray[np.uint8]
HEADER_SIZE = NAME_LENGTH_SIZE + COUNT_SIZE
"""Bytes of the length in front of a name and of the count behind it."""
LAST_OF_COUNT = HEADER_SIZE - 1


def entries_in_lock_step(
    buffer: bytes, place: Int64, end: Int64, is_plain: Bool, read: Int64
) -> Entries:
    """Read one entry of each message at a time; move `place` behind them.

    `read`, int64[R], says how many entries each message has, and becomes 0 where one is odd: then
    `is_plain` becomes false.
    """
    ptr = bounds_of(read)
    active = np.flatnonzero(read)
    alike = _of_one_size(buffer, place, end, read, ptr) if len(active) else None
    if alike is not None:
        return alike
    most = int(read.max(initial=0))
    fewer = most - read[active]
    # Numpy sorts 16 bits in linear time.
    active = active[(fewer.astype(np.uint16) if most < 1 << 16 else fewer).argsort(kind="stable")]
    # How many messages have an entry in each step: those with most come first.
    message_count = (-read[active]).searchsorted(-np.arange(most)).tolist()
    at, index, last = place[active], ptr[active], ptr[active + 1] - 1
    begin, at, length, count, is_odd_entry = _any_count(buffer, at, index, last, message_count)
    place[active] = at
    row = np.arange(len(read)).repeat(read)
    start = begin + NAME_LENGTH_SIZE
    is_odd = place > end
    if np.count_nonzero(is_odd_entry):
        is_odd[row[is_odd_entry]] = True
    is_odd &= read > 0
    if np.count_nonzero(is_odd):
        is_plain[is_odd] = False
        read[is_odd] = 0
        kept = read[row] > 0
        row, start, length, count = row[kept], start[kept], length[kept], count[kept]
    return Entries(
        buffer=buffer,
        read=read,
        row=row,
        name_start=start,
        name_length=length,
        count=count,
    )


def _of_one_size(
    buffer: bytes, place: Int64, end: Int64, read: Int64, ptr: Int64
) -> Entries | None:
    """Return what `entries_in_lock_step` does where each entry has one number and all one size.

    `None` elsewhere, which the first entry of each message shows nearly always.
    """
    uint8 = np.frombuffer(buffer, dtype=np.uint8)
    length = uint8[place + 1]
    name_length = int(length[read.argmax()])
    size = HEADER_SIZE + NUMBER_SIZE + name_length
    after = place + size * read
    if np.count_nonzero((length != name_length) & (read > 0)) or np.count_nonzero(after > end):
        return None
    begin = (place - size * ptr[:-1]).repeat(read)
    begin += np.arange(0, size * len(begin), size)
    records = bytes_at(buffer, begin, size)
    if np.count_nonzero(column(records, ">u2", 0) != name_length):
        return None
    if np.count_nonzero(column(records, ">u4", NAME_LENGTH_SIZE + name_length) != 1):
        return None
    number = column(records, ">i4", size - NUMBER_SIZE).astype(np.int32)
    place[:] = after  # where there are no entries, nothing moves
    begin += NAME_LENGTH_SIZE
    return Entries(
        buffer=buffer,
        read=read,
        row=np.arange(len(read)).repeat(read),
        name_start=begin,
        name_length=np.broadcast_to(np.int64(name_length), (len(begin),)),
        count=np.broadcast_to(np.int64(1), (len(begin),)),
        number=number,
    )


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
    is_odd: Bool
    """bool[E]: not a plain entry."""


def _any_count(
    buffer: bytes, at: Int64, index: Int64, last: Int64, message_count: list[int]
) -> _Found:
    """Return the entries.

    `at`, int64[A], is where the first entry of each message begins, `index` its number among all
    entries and `last` that of the last one, messages with most entries first. `message_count` says
    how many messages have an entry in each step.
    """
    uint8 = np.frombuffer(buffer, dtype=np.uint8)
    begin, end = _begins(uint8, at, index, message_count)
    length = uint8[begin + 1].astype(np.int64)
    count = np.empty(len(begin), dtype=np.int64)  # of bytes first, then of numbers
    np.subtract(begin[1:], begin[:-1], out=count[:-1])
    count[last] = end - begin[last]
    count -= length + HEADER_SIZE
    count >>= 2
    # A longer name or count than was read has a byte that is not zero here.
    high = uint8[begin]
    counted = begin + NAME_LENGTH_SIZE
    counted += length
    high |= uint8[counted]
    counted += 1
    high |= uint8[counted]
    return _Found(begin, end, length, count, (high != 0) | (count < 1))


def _begins(uint8: UInt8, at: Int64, index: Int64, message_count: list[int]) -> tuple[Int64, Int64]:
    """Return where entries begin, int64[E], and where the last one of each message ends, int64[A].

    Arguments as in `_any_count`; the first two arrays change.
    """
    begin = np.empty(sum(message_count), dtype=np.int64)
    behind = len(uint8) - PAD + 1  # the last message ends before it
    for messages in message_count:
        place, entry = at[:messages], index[:messages]
        begin[entry] = place
        entry += 1
        # The low byte of each length and the two low bytes of each count: one byte is read faster
        # than two or four. Whether that is all of them is seen later; until then anything is
        # read, within the buffer.
        place += uint8[place + 1]
        high = uint8[place + 4]
        size = uint8[place + LAST_OF_COUNT].astype(np.int64)
        if np.count_nonzero(high):
            size += high.astype(np.int64) << 8
        place += HEADER_SIZE + NUMBER_SIZE * size
        np.minimum(place, behind, out=place)
    return begin, at
