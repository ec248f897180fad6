"""Lists of names in many messages: at once where all names have one length, else in lock step."""

from __future__ import annotations

import numpy as np

from assignors.arrays import Bool, Int64
from assignors.group_bytes.entries.places import NAME_LENGTH_SIZE, Entries
from assignors.group_bytes.names import WORD, bytes_at, column
from wire.constructors import unchecked

_entries = unchecked(Entries)

STEP_MIN = 16
"""So many lists at least are read in one step; the rest of the longest ones is read alone."""


def listed_names(
    buffer: bytes, first: Int64, stop: Int64, count: Int64, is_plain: Bool
) -> tuple[Entries, Int64]:
    """Return the names of R lists, and where each list ends, int64[R].

    `first`, `stop` and `count`, int64[R], are where the first name of each list stands, where its
    message ends, and how many names it has. `is_plain`, bool[R], becomes false for lists that end
    behind their message, and for the few with more names than nearly all others.
    """
    return _of_one_length(buffer, first, stop, count) or _in_lock_step(
        buffer, first, stop, count, is_plain
    )


def _of_one_length(
    buffer: bytes, first: Int64, stop: Int64, count: Int64
) -> tuple[Entries, Int64] | None:
    """Return the names of all lists where all have one length, `None` elsewhere."""
    has_names = np.flatnonzero(count)
    if not len(has_names):
        return None
    at = int(first[has_names[0]])
    length = int.from_bytes(buffer[at : at + NAME_LENGTH_SIZE], "big")
    each = NAME_LENGTH_SIZE + length
    end = first + each * count
    if length < WORD or (end > stop).any():
        return None
    ptr = count.cumsum()
    start = (first - each * (ptr - count)).repeat(count)
    start += np.arange(0, each * len(start), each)
    records = bytes_at(buffer, start, each)
    if not (column(records, ">u2", 0) == length).all():
        return None
    start += NAME_LENGTH_SIZE
    entries = _entries(
        buffer=buffer,
        read=count,
        row=np.arange(len(count)).repeat(count),
        name_start=start,
        name_length=np.broadcast_to(np.int64(length), (len(records),)),
        count=count,
        records=records,
    )
    return entries, end


def _in_lock_step(
    buffer: bytes, first: Int64, stop: Int64, count: Int64, is_plain: Bool
) -> tuple[Entries, Int64]:
    """Return the same, read in lock step: the first name of each list, then the second of each.

    Lists that end behind their message stop being plain, and the few with more names than nearly
    all others: one step costs as much for one list as for a hundred.
    """
    longest = int(np.sort(count)[-min(STEP_MIN, len(count))])
    is_plain &= count <= longest
    count *= is_plain
    end = first.copy()
    ptr = np.append(0, count.cumsum())
    uint8 = np.frombuffer(buffer, dtype=np.uint8)
    active = np.flatnonzero(count)
    active = active[np.argsort(-count[active], kind="stable")]
    at, index, left = end[active], ptr[active], -count[active]
    place = np.empty(int(ptr[-1]), dtype=np.int64)
    for step in range(1, longest + 1):
        place[index] = at
        index += 1
        # The low byte of the length; the other one, and what leaves its message, is seen at the
        # end. Until then anything is read, within the buffer.
        at += uint8.take(at + 1, mode="clip")
        at += NAME_LENGTH_SIZE
        going_on = int(left.searchsorted(-step))
        if going_on < len(at):
            end[active[going_on : len(at)]] = at[going_on:]
            at, index, left = at[:going_on], index[:going_on], left[:going_on]
    is_plain &= end <= stop
    row = np.arange(len(count)).repeat(count)
    is_plain[row[uint8.take(place, mode="clip") != 0]] = False
    if not is_plain.all():
        is_kept = is_plain[row]
        place, row = place[is_kept], row[is_kept]
    entries = _entries(
        buffer=buffer,
        read=count,
        row=row,
        name_start=place + NAME_LENGTH_SIZE,
        name_length=uint8.take(place + 1).astype(np.int64),
        count=count,
    )
    return entries, end
