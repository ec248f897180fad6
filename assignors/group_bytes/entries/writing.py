"""Entries of a topic and its partition numbers, written for many messages at once.

Nearly everybody has one partition of each of its topics in a large group, and topics that are
numbered have names of one length. Then all entries have one size: they are the rows of a table.
Elsewhere each part of an entry is written at its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int32, Int64, bounds_of
from assignors.group_bytes.entries.places import (
    COUNT_SIZE,
    NAME_LENGTH_SIZE,
    NUMBER_SIZE,
    view_of,
)
from assignors.group_bytes.names import NAME_BYTES_MAX, column
from wire.text import encode_utf8

FURTHER_MAX = 8
"""Entries are rows of a table where at most one partition in so many follows another of its
entry: what stands before such a number is cut out again."""
CUT_MAX = 1 << 20
"""Fewer bytes than this are copied once more before they are cut: bytes are cut faster."""


class EntryHeaders(NamedTuple):
    """What an entry of each of T topics begins with."""

    start: NDArray[np.uint8]
    """uint8[T, W]: length and name, a count of 1, and zeros; W has room for one number."""
    size: Int64
    """int64[T]: bytes of length and name."""
    are_alike: bool
    """Whether all have one size: then an entry of one number has W bytes."""


def entry_headers(topics: Sequence[str]) -> EntryHeaders | None:
    """Return what entries of these topics begin with; `None` where a name is too long.

    Raises `WireError` for a topic that cannot be written. Cost: O(T).
    """
    names = list(map(encode_utf8, topics))
    size = np.fromiter(map(len, names), np.int64, len(names))
    longest = int(size.max(initial=0))
    if longest > NAME_BYTES_MAX:
        return None
    width = NAME_LENGTH_SIZE + longest + COUNT_SIZE + NUMBER_SIZE
    start = np.zeros((len(names), width), dtype=np.uint8)
    column(start, ">u2", 0)[:] = size
    # One byte more than the longest has, as numpy knows no texts of none.
    padded = np.array(names, dtype=f"S{longest + 1}").view(np.uint8)
    padded = padded.reshape(len(names), longest + 1)
    start[:, NAME_LENGTH_SIZE : NAME_LENGTH_SIZE + longest + 1] = padded
    last_of_count = NAME_LENGTH_SIZE + COUNT_SIZE - 1
    start.ravel()[size + np.arange(last_of_count, start.size, width)] = 1
    are_alike = np.count_nonzero(size != longest) == 0
    size += NAME_LENGTH_SIZE
    return EntryHeaders(start, size, are_alike)


def messages_of_entries(
    headers: EntryHeaders,
    *,
    member: Int32 | Int64,
    topic: Int32 | Int64,
    number: Int64,
    member_count: int,
    before: bytes,
    behind: bytes,
) -> list[bytes]:
    """Return the entries of each member behind their count, between these bytes.

    `member`, `topic` and `number` are [N], a partition each, in the order of the members, then of
    the topics. Cost: O(N + members).
    """
    if not len(number):
        return [before + bytes(COUNT_SIZE) + behind] * member_count
    is_further = np.zeros(len(number), dtype=np.bool_)
    is_further[1:] = (member[1:] == member[:-1]) & (topic[1:] == topic[:-1])
    further = is_further.nonzero()[0]
    first = (~is_further).nonzero()[0] if len(further) else None
    number_count = np.bincount(member, minlength=member_count)
    entry_count = number_count
    if len(further):
        entry_count = number_count - np.bincount(member[further], minlength=member_count)
    text: bytes | memoryview
    if headers.are_alike and FURTHER_MAX * len(further) <= len(number):
        text = _rows(headers, topic, number, first, further)
        size = headers.start.shape[1]
        length = size * number_count - (size - NUMBER_SIZE) * (number_count - entry_count)
        end = length.cumsum().tolist()
    else:
        out, entries_end = _at_places(headers, topic, number, first)
        text = out.data
        end = entries_end[entry_count.cumsum()].tolist()
    text = memoryview(text) if len(text) >= CUT_MAX else bytes(text)
    counts = entry_count.tolist()
    begin = {count: before + count.to_bytes(COUNT_SIZE, "big") for count in set(counts)}
    return [
        b"".join((begin[count], text[start:stop], behind))
        for count, start, stop in zip(counts, [0, *end], end, strict=False)
    ]


def _rows(
    headers: EntryHeaders,
    topic: Int32 | Int64,
    number: Int64,
    first: Int64 | None,
    further: Int64,
) -> bytes:
    """Return all entries, of which few have several numbers.

    `first` are the partitions with which entries begin, `None` for all; `further` the others.
    """
    size = headers.start.shape[1]
    rows = headers.start.take(topic, axis=0)  # as an index it would cost three times as much
    column(rows, ">i4", size - NUMBER_SIZE)[:] = number
    if first is None:
        return rows.tobytes()
    column(rows, ">i4", size - NUMBER_SIZE - COUNT_SIZE)[first] = _lengths(first, len(topic))
    text = rows.tobytes()
    stop = size * further
    go_on = stop + (size - NUMBER_SIZE)
    kept = map(slice, [0, *go_on.tolist()], [*stop.tolist(), len(text)])
    return b"".join(map(text.__getitem__, kept))


def _at_places(
    headers: EntryHeaders, topic: Int32 | Int64, number: Int64, first: Int64 | None
) -> tuple[NDArray[np.uint8], Int64]:
    """Return all entries, and where the first none, one, two, ... of them end."""
    count: Int64 | int = 1
    if first is not None:
        count, topic = _lengths(first, len(topic)), topic[first]
    width = headers.start.shape[1]
    size: Int64 | int = headers.size.take(topic)
    if headers.are_alike:
        size = width - COUNT_SIZE - NUMBER_SIZE
    end = bounds_of(np.add(size, COUNT_SIZE + NUMBER_SIZE * count))
    place = end[:-1]
    out = np.empty(int(end[-1]) + width, dtype=np.uint8)
    # In ascending order: what is written beyond an entry is written anew for what follows it.
    entries = headers.start.take(topic, axis=0).view(f"V{width}").ravel()
    view_of(out, f"V{width}")[place] = entries
    place = place + size
    int32 = view_of(out, ">i4")
    if first is not None:
        int32[place] = count
        place -= NUMBER_SIZE * first
        place = place.repeat(count)
        place += np.arange(0, NUMBER_SIZE * len(number), NUMBER_SIZE)
    place += COUNT_SIZE
    int32[place] = number
    return out, end


def _lengths(first: Int64, end: int) -> Int64:
    """Return how many there are from each of these places to before the next one, or the end."""
    length = np.empty(len(first), dtype=np.int64)
    np.subtract(first[1:], first[:-1], out=length[:-1])
    length[-1] = end - first[-1]
    return length
