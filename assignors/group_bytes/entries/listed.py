"""Lists of names in many messages, read in lock step."""

from __future__ import annotations

import numpy as np

from assignors.arrays import Bool, Int64
from assignors.group_bytes.entries.places import NAME_LENGTH_SIZE, PAD, Entries

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
    longest = int(np.sort(count)[-min(STEP_MIN, len(count))])
    is_plain &= count <= longest
    count *= is_plain
    end = first.copy()
    ptr = np.append(0, count.cumsum())
    uint8 = np.frombuffer(buffer, dtype=np.uint8)
    behind = len(uint8) - PAD + 1  # the last message ends before it
    active = np.flatnonzero(count)
    active = active[np.argsort(-count[active], kind="stable")]
    at, index, left = end[active], ptr[active], -count[active]
    place = np.empty(int(ptr[-1]), dtype=np.int64)
    for step in range(1, longest + 1):
        place[index] = at
        index += 1
        # The low byte of the length; the other one, and what leaves its message, is seen at the
        # end. Until then anything is read, within the buffer.
        at += uint8[at + 1]
        at += NAME_LENGTH_SIZE
        np.minimum(at, behind, out=at)
        going_on = int(left.searchsorted(-step))
        if going_on < len(at):
            end[active[going_on : len(at)]] = at[going_on:]
            at, index, left = at[:going_on], index[:going_on], left[:going_on]
    is_plain &= end <= stop
    row = np.arange(len(count)).repeat(count)
    is_plain[row[uint8[place] != 0]] = False
    if np.count_nonzero(is_plain) < len(is_plain):
        is_kept = is_plain[row]
        place, row = place[is_kept], row[is_kept]
    entries = Entries(
        buffer=buffer,
        read=count,
        row=row,
        name_start=place + NAME_LENGTH_SIZE,
        name_length=uint8[place + 1].astype(np.int64),
        count=count,
    )
    return entries, end
