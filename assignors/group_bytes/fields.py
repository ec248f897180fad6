"""The fields behind the topic lists, read in lock step over all members.

First the UserData of everybody, then the first owned topic of everybody, the second of everybody,
and so on to the rack. A member stops being plain where its bytes are not; every read stays within
its own bytes. What a member says of owned topics is left as places in the buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Bool, Int64
from assignors.group_bytes.topic_lists import COUNT_LIMIT, NAME_LIMIT, TopicLists

TOGETHER_MIN = 16
"""So many members at least are read in one step; the rest of the longest ones is read alone."""
PAD = NAME_LIMIT + 16
"""Zeros behind the bytes, so that no read of a string's length leaves the buffer."""


@dataclass(slots=True, kw_only=True)
class Fields:
    """What stands behind the topic lists, of M members. E: entries of owned topics."""

    buffer: bytes
    is_plain: Bool
    """bool[M]."""
    generation: Int64
    """int64[M]."""
    user_data: dict[int, bytes]
    rack_ids: dict[int, str]
    row: Int64
    """int64[E]: whose entry; then where its name starts, its length, how many numbers."""
    name_start: Int64
    name_length: Int64
    count: Int64


def read_fields(blobs: Sequence[bytes], lists: TopicLists) -> Fields:
    """Return the fields behind the topic lists, read in lock step."""
    member_count = len(blobs)
    parts = [
        blob[end:] if topic_list >= 0 else b""
        for blob, end, topic_list in zip(blobs, lists.end, lists.list_of, strict=True)
    ]
    bounds = np.zeros(member_count + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, member_count), out=bounds[1:])
    buffer = b"".join([*parts, bytes(PAD)])
    place, end = bounds[:-1].copy(), bounds[1:]
    is_plain = np.array(lists.list_of, dtype=np.int64) >= 0
    int32 = int32_view(buffer)
    user_data = _user_data(buffer, int32, place, end, is_plain)
    is_plain &= place + 4 <= end
    entry_count = np.where(is_plain, int32[np.where(is_plain, place, 0)], 0).astype(np.int64)
    place += 4
    # An entry has 10 bytes at least, and a null array is not plain.
    is_plain &= (entry_count >= 0) & (entry_count <= COUNT_LIMIT)
    is_plain &= entry_count * 10 <= np.maximum(end - place, 0)
    entries = _entries(buffer, place, end, is_plain, entry_count)
    version = np.array(lists.version, dtype=np.int64)
    generation = _generations(int32, version, place, end, is_plain)
    rack_ids = _rack_ids(buffer, version, place, end, is_plain)
    is_plain &= place == end
    return Fields(
        buffer=buffer,
        is_plain=is_plain,
        generation=generation,
        user_data=user_data,
        rack_ids=rack_ids,
        row=entries[0],
        name_start=entries[1],
        name_length=entries[2],
        count=entries[3],
    )


def _user_data(
    buffer: bytes, int32: NDArray[np.int32], place: Int64, end: Int64, is_plain: Bool
) -> dict[int, bytes]:
    """Read UserData; move `place` behind it. Empty UserData is not plain."""
    is_plain &= place + 4 <= end
    length = int32[np.where(is_plain, place, 0)].astype(np.int64)
    place += 4
    has = is_plain & (length >= 0)
    is_plain &= (length < 0) | ((length > 0) & (place + length <= end))
    has &= is_plain
    rows = np.flatnonzero(has)
    found = {
        row: buffer[start : start + size]
        for row, start, size in zip(
            rows.tolist(), place[rows].tolist(), length[rows].tolist(), strict=True
        )
    }
    place[rows] += length[rows]
    return found


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


def _generations(
    int32: NDArray[np.int32], version: Int64, place: Int64, end: Int64, is_plain: Bool
) -> Int64:
    """Read the generation of versions 2 and 3; move `place` behind it."""
    has = version >= 2
    is_plain &= ~has | (place + 4 <= end)
    there = has & is_plain
    generation = np.where(there, int32[np.where(there, place, 0)], -1).astype(np.int64)
    is_plain &= generation >= -1
    place[there] += 4
    return generation


def _rack_ids(
    buffer: bytes, version: Int64, place: Int64, end: Int64, is_plain: Bool
) -> dict[int, str]:
    """Read the rack of version 3; move `place` behind it. An empty rack is not plain."""
    has = version >= 3
    is_plain &= ~has | (place + 2 <= end)
    there = has & is_plain
    length = np.where(there, int16_view(buffer)[np.where(there, place, 0)], -1).astype(np.int64)
    place[there] += 2
    is_plain &= (length != 0) & (place + length <= end)
    found: dict[int, str] = {}
    known: dict[bytes, str] = {}
    for row in np.flatnonzero(is_plain & (length > 0)).tolist():
        start = int(place[row])
        data = buffer[start : start + int(length[row])]
        try:
            found[row] = known.get(data) or known.setdefault(data, data.decode())
        except UnicodeDecodeError:
            is_plain[row] = False
    rows = np.flatnonzero(length > 0)
    place[rows] += length[rows]
    return found


def int16_view(buffer: bytes) -> NDArray[np.int16]:
    """Return every 2 bytes of `buffer`, at any offset, as a big-endian number."""
    return np.ndarray((len(buffer) - 1,), ">i2", buffer, strides=(1,))


def int32_view(buffer: bytes) -> NDArray[np.int32]:
    """Return every 4 bytes of `buffer`, at any offset, as a big-endian number."""
    return np.ndarray((len(buffer) - 3,), ">i4", buffer, strides=(1,))
