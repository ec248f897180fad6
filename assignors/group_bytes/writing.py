"""Entries of a topic and its partition numbers, written for many messages at once.

An entry's length, name, count and first number are a row of a table, filled up with zeros in front.
Each row is written at its place in one buffer, the last one first: so what stands before it covers
the zeros. Further numbers, and what stands between two messages, follow at theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int32, Int64, bounds_of
from assignors.group_bytes.lock_step import (
    COUNT_SIZE,
    INT32,
    NAME_LENGTH_SIZE,
    NUMBER_SIZE,
    column,
    view_of,
)
from assignors.group_bytes.names import NAME_BYTES_MAX
from wire.text import encode_utf8

Bytes = NDArray[np.uint8]

ONE_NUMBER = b"\0\0\0\1\0\0\0\0"
"""A count of 1, and a number."""
CUT_MAX = 1 << 20
"""Fewer bytes than this are copied once more before they are cut: bytes are cut faster."""


def messages_of_entries(
    topics: Sequence[str],
    *,
    member: Int32 | Int64,
    topic: Int32 | Int64,
    number: Int64,
    member_count: int,
    before: bytes,
    behind: bytes,
) -> list[bytes] | None:
    """Return the entries of each member behind their count, between these bytes.

    `member`, `topic` and `number` are [N], a partition each, in the order of the members, then of
    the topics. `None` where a name is too long; raises `WireError` for a topic that cannot be
    written. Cost: O(T + N + members).
    """
    names = list(map(encode_utf8, topics))
    name_size = np.fromiter(map(len, names), np.int64, len(names))
    longest = int(name_size.max(initial=0))
    if longest > NAME_BYTES_MAX:
        return None
    if not len(number):
        return [before + bytes(COUNT_SIZE) + behind] * member_count
    width = NAME_LENGTH_SIZE + longest + len(ONE_NUMBER)
    headers = [
        (len(name).to_bytes(2, "big") + name + ONE_NUMBER).rjust(width, b"\0") for name in names
    ]
    is_first = np.empty(len(number), dtype=np.bool_)
    is_first[0] = True
    np.not_equal(member[1:], member[:-1], out=is_first[1:])
    is_first[1:] |= topic[1:] != topic[:-1]
    first = is_first.nonzero()[0]
    has_further = len(first) < len(number)  # hardly any, in a large group
    holder, first_number = member, number
    if has_further:
        topic, holder, first_number = topic.take(first), member.take(first), number.take(first)
        further_count = np.append(first[1:], len(number)) - first - 1
    rows = np.frombuffer(b"".join(headers), f"V{width}").take(topic).view(np.uint8)
    rows = rows.reshape(len(first), width)
    column(rows, INT32, width - NUMBER_SIZE)[:] = first_number
    size = (name_size + (width - longest)).take(topic)
    if has_further:
        column(rows, INT32, width - NUMBER_SIZE - COUNT_SIZE)[:] = further_count + 1
        size += NUMBER_SIZE * further_count
    end = bounds_of(size)
    # Between two messages: what is behind the one, and what is before the other with its count.
    between = np.frombuffer(behind + before + bytes(COUNT_SIZE), dtype=np.uint8)
    gap_size = len(between)
    gap = np.empty((member_count + 1, gap_size), dtype=np.uint8)
    gap[:] = between
    entry_count = np.bincount(holder, minlength=member_count)
    column(gap, INT32, gap_size - COUNT_SIZE)[:-1] = entry_count
    shift = np.arange(0, gap_size * len(gap), gap_size)
    gap_at = end[bounds_of(entry_count)] + shift
    gap_at += width  # room in front for the zeros of the first row
    out = np.empty(int(gap_at[-1]) + gap_size, dtype=np.uint8)
    place = shift[1:].take(holder)
    place += end[1:]
    if has_further:
        place -= NUMBER_SIZE * further_count
    _put(out, place, rows)
    if has_further:
        place += width - NUMBER_SIZE
        place -= NUMBER_SIZE * first
        further = (~is_first).nonzero()[0]
        view_of(out, INT32)[place.repeat(further_count) + NUMBER_SIZE * further] = number[further]
    _put(out, gap_at, gap)
    gap_at += len(behind)
    return _cut(out, gap_at)


def _put(out: Bytes, place: Int64, rows: Bytes) -> None:
    """Write the rows of a table, uint8[N, W], at these places, the last one first."""
    record = np.dtype(f"V{rows.shape[1]}")
    view_of(out, record)[place[::-1]] = rows.view(record).ravel()[::-1]


def _cut(out: Bytes, place: Int64) -> list[bytes]:
    """Return the bytes between these places."""
    cuts = pairwise(place.tolist())
    if len(out) >= CUT_MAX:
        return [bytes(out.data[start:stop]) for start, stop in cuts]
    text = out.tobytes()
    return [text[start:stop] for start, stop in cuts]
