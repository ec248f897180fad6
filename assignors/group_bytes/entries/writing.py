"""Entries of a topic and its partition numbers, written for many messages at once.

Nearly everybody has one partition of each of its topics in a large group, and topics that are
numbered have names of one length. Then all entries have one size: they are the rows of a table.
Elsewhere each part of an entry is written at its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Bool, Int32, Int64, bounds_of
from assignors.group_bytes.entries.places import (
    COUNT_SIZE,
    INT32,
    NAME_LENGTH_SIZE,
    NUMBER_SIZE,
    view_of,
)
from assignors.group_bytes.names import NAME_BYTES_MAX, column
from wire.text import encode_utf8

FURTHER_MAX = 8
"""Entries are rows of a table where at most one partition in so many follows another of its
entry: what stands before such a number is cut out again."""
ONE_NUMBER = b"\0\0\0\1\0\0\0\0"
"""A count of 1, and a number."""
CUT_MAX = 1 << 20
"""Fewer bytes than this are copied once more before they are cut: bytes are cut faster."""


class EntryHeaders(NamedTuple):
    """What an entry of each of T topics begins with."""

    start: NDArray[np.uint8]
    """uint8[T, W]: zeros, length and name, a count of 1, and a number of 0 at the end."""
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
    if longest >= NAME_BYTES_MAX:
        return None
    width = NAME_LENGTH_SIZE + longest + len(ONE_NUMBER)
    written = [
        (len(name).to_bytes(2, "big") + name + ONE_NUMBER).rjust(width, b"\0") for name in names
    ]
    start = np.frombuffer(b"".join(written), dtype=np.uint8).reshape(len(names), width)
    are_alike = not np.count_nonzero(size != longest)
    return EntryHeaders(start, size + NAME_LENGTH_SIZE, are_alike)


class _Entries(NamedTuple):
    """N partitions, by member and topic, and the E entries that they make."""

    member: Int32 | Int64
    topic: Int32 | Int64
    number: Int64
    is_first: Bool
    """bool[N]: whether an entry begins with it."""
    first: Int64
    """int64[E]: the partitions with which entries begin."""


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
    is_first = np.empty(len(number), dtype=np.bool_)
    is_first[0] = True
    np.not_equal(member[1:], member[:-1], out=is_first[1:])
    is_first[1:] |= topic[1:] != topic[:-1]
    entries = _Entries(member, topic, number, is_first, is_first.nonzero()[0])
    further_count = len(number) - len(entries.first)
    if headers.are_alike and FURTHER_MAX * further_count <= len(number):
        return _of_rows(headers, entries, member_count, before, behind)
    return _at_places(headers, entries, member_count, before, behind)


def _of_rows(
    headers: EntryHeaders, entries: _Entries, member_count: int, before: bytes, behind: bytes
) -> list[bytes]:
    """Return the messages where all entries of one number have one size, and few have several."""
    size, member = headers.start.shape[1], entries.member
    further = (~entries.is_first).nonzero()[0]
    entry_count = np.bincount(member, minlength=member_count)
    end = size * entry_count
    if len(further):
        further_count = np.bincount(member[further], minlength=member_count)
        entry_count = entry_count - further_count
        end -= (size - NUMBER_SIZE) * further_count
    rows = _rows(headers, entries, further)
    text = rows if len(rows) >= CUT_MAX else bytes(rows)
    counts, ends = entry_count.tolist(), end.cumsum().tolist()
    begin = {count: before + count.to_bytes(COUNT_SIZE, "big") for count in set(counts)}
    return [
        b"".join((begin[count], text[start:stop], behind))
        for count, start, stop in zip(counts, [0, *ends], ends, strict=False)
    ]


def _rows(headers: EntryHeaders, entries: _Entries, further: Int64) -> memoryview:
    """Return all entries, of which few have several numbers: `further` are all but the first."""
    size = headers.start.shape[1]
    rows = headers.start.take(entries.topic, axis=0)  # as an index it would cost three times that
    column(rows, INT32, size - NUMBER_SIZE)[:] = entries.number
    text = rows.reshape(-1).data
    if not len(further):
        return text
    count = column(rows, INT32, size - NUMBER_SIZE - COUNT_SIZE)
    count[entries.first] = _lengths(entries)
    stop = size * further
    go_on = stop + (size - NUMBER_SIZE)
    kept = map(slice, [0, *go_on.tolist()], [*stop.tolist(), len(text)])
    return memoryview(b"".join(map(text.__getitem__, kept)))


def _at_places(
    headers: EntryHeaders, entries: _Entries, member_count: int, before: bytes, behind: bytes
) -> list[bytes]:
    """Return the messages, of which each part is written at its place in one buffer.

    Between two messages stand what is behind the one, and what is before the other with its count.
    """
    first, width = entries.first, headers.start.shape[1]
    topic, member = entries.topic[first], entries.member[first]
    rows = headers.start.take(topic, axis=0)
    column(rows, INT32, width - NUMBER_SIZE)[:] = entries.number[first]
    has_further = len(first) < len(entries.number)
    further_count = _lengths(entries) - 1 if has_further else 0
    if has_further:
        column(rows, INT32, width - NUMBER_SIZE - COUNT_SIZE)[:] = further_count + 1
    further_size = NUMBER_SIZE * further_count
    size = headers.size.take(topic) + (further_size + (COUNT_SIZE + NUMBER_SIZE))
    end = bounds_of(size)
    between = behind + before + bytes(COUNT_SIZE)
    gap_size = len(between)
    gap = np.empty((member_count + 1, gap_size), dtype=np.uint8)
    gap[:] = np.frombuffer(between, dtype=np.uint8)
    entry_count = np.bincount(member, minlength=member_count)
    column(gap, INT32, gap_size - COUNT_SIZE)[:-1] = entry_count
    shift = np.arange(0, gap_size * len(gap), gap_size)
    gap_at = end[bounds_of(entry_count)] + shift
    gap_at += width  # room in front for the zeros of the first row
    out = np.empty(int(gap_at[-1]) + gap_size, dtype=np.uint8)
    place = end[1:] - further_size
    place += shift[1:].take(member)
    # The last one first: the zeros of a row stand where the row before it ends.
    rows = rows.view(f"V{width}").ravel()
    view_of(out, rows.dtype)[place[::-1]] = rows[::-1]
    if has_further:
        further = (~entries.is_first).nonzero()[0]
        place += width - NUMBER_SIZE
        place -= NUMBER_SIZE * first
        number_at = place.repeat(further_count)
        number_at += NUMBER_SIZE * further
        view_of(out, INT32)[number_at] = entries.number[further]
    gaps = gap.view(f"V{gap_size}").ravel()
    view_of(out, gaps.dtype)[gap_at] = gaps
    gap_at += len(behind)
    cuts = pairwise(gap_at.tolist())
    if len(out) >= CUT_MAX:
        return [bytes(out.data[start:stop]) for start, stop in cuts]
    text = out.tobytes()
    return [text[start:stop] for start, stop in cuts]


def _lengths(entries: _Entries) -> Int64:
    """Return how many partitions each entry has, int64[E]."""
    first = entries.first
    length = np.empty(len(first), dtype=np.int64)
    np.subtract(first[1:], first[:-1], out=length[:-1])
    length[-1] = len(entries.number) - first[-1]
    return length
