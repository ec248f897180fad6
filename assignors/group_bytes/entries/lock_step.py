"""Entries of any layout, read in lock step: the first one of every message, then the second one.

In a large group most topics have fewer partitions than there are members, so that a member owns
one partition of each of its topics: where it is so in the first entry of all messages, all are
read so, which takes half the time, and once more where that turns out to be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Bool, Int32, Int64
from assignors.group_bytes.entries.places import Entries, entry_bounds, view_of

UInt8 = NDArray[np.uint8]
HEADER_SIZE = 2 + 4
"""Bytes of the length in front of a name and of the count behind it."""
COUNT_AND_NUMBER = 8
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
    uint8 = np.frombuffer(buffer, dtype=np.uint8)
    ptr = entry_bounds(read)
    active = np.flatnonzero(read)
    active = active[np.argsort(-read[active], kind="stable")]
    step_count = int(read.max(initial=0))
    # How many messages have an entry in each step: those with most come first.
    message_count = np.searchsorted(-read[active], -np.arange(step_count)).tolist()
    first, index = place[active], ptr[active]
    number: Int32 | None = None
    if _are_single(uint8, first):
        begin, at = _begins(uint8, first, index, message_count, is_single=True)
        length, number = _single_numbers(buffer, begin)
    if number is None:
        begin, at = _begins(uint8, first, index, message_count, is_single=False)
        length = uint8.take(begin + 1, mode="clip").astype(np.int64)
    place[active] = at
    row = np.arange(len(read)).repeat(read)
    start = begin + 2
    high = uint8.take(begin, mode="clip")
    is_odd = place > end
    if number is not None:
        count = np.broadcast_to(np.int64(1), (len(begin),))
    else:
        after = np.append(begin[1:], 0)
        after[ptr[active + 1] - 1] = at
        count = after - start
        count -= length + 4
        count >>= 2
        counted = start + length
        high |= uint8.take(counted, mode="clip")
        counted += 1
        high |= uint8.take(counted, mode="clip")
        is_odd[row[count < 1]] = True
    if high.any():
        is_odd[row[high != 0]] = True
    is_odd &= read > 0
    if is_odd.any():
        is_plain[is_odd] = False
        read[is_odd] = 0
        kept = read[row] > 0
        row, start, length, count = row[kept], start[kept], length[kept], count[kept]
        number = None if number is None else number[kept]
    return Entries(
        buffer=buffer,
        read=read,
        row=row,
        name_start=start,
        name_length=length,
        count=count,
        number=number,
    )


def _begins(
    uint8: UInt8, first: Int64, index: Int64, message_count: Sequence[int], *, is_single: bool
) -> tuple[Int64, Int64]:
    """Return where entries begin, int64[E], and where the last one of each message ends.

    Their first ones begin at `first` and are numbered `index`; step k reads `message_count[k]`
    messages. All have one number, or as many as they say.
    """
    begin = np.empty(sum(message_count), dtype=np.int64)
    at, index = first.copy(), index.copy()
    for messages in message_count:
        place, entry = at[:messages], index[:messages]
        begin[entry] = place
        entry += 1
        # The low byte of each length and the two low bytes of each count: one byte is read faster
        # than two or four. Whether that is all of them is seen later; until then anything is
        # read, within the buffer.
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
    found = view_of(buffer, f"V{COUNT_AND_NUMBER}")[counted]
    if not (found.view("<u4")[::2] == ONE).all():
        return length, None
    return length, found.view(">i4")[1::2].astype(np.int32)
