"""The topic lists of a group's Subscriptions: each different list is read once.

Most members have the list of the member before, byte for byte, which costs a comparison; a few
lists that alternate are found by their first bytes. Where many lists differ, they are read in
lock step: the first name of every list, then the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise, repeat

import numpy as np

from assignors.arrays import Int32, Int64
from assignors.group_bytes.entries import (
    COUNT_LIMIT,
    NAME_LIMIT,
    PAD,
    in_row_order,
    is_text,
    read_entries,
    recognised_names,
    repeated_rows,
)

PLAIN_VERSIONS = {bytes([0, version]): version for version in range(4)}
ALONE_MAX = 8_192
"""So many bytes of different lists are read one by one, as they come."""
TOGETHER_MIN = 64
"""So many others at least are read in lock step."""
FIRST_BYTES = 32
"""A list is looked for among those read so far by so many of its bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLists:
    """The topic lists of M members: S different ones, over T names."""

    numbers: dict[bytes, int]
    """T names, numbered from 0 in the order in which they were found."""
    list_ptr: Int64
    """int64[S + 1]: list s has the names name[list_ptr[s]:list_ptr[s + 1]]."""
    name: Int32
    """int32[E]: numbers of names, none twice in a list, in the order of the bytes."""
    list_of: Int64
    """int64[M]: the list of each member, -1 where its bytes are not plain."""
    version: Int64
    """int64[M], -1 for one that is not plain."""
    end: Int64
    """int64[M]: where the topic list ends in the member's bytes."""
    are_equal: bool = False
    """Whether all are known to have one version and one list, which are plain."""

    def topics(self) -> list[tuple[str, ...]]:
        """Return the S lists by name. Cost: O(E)."""
        known = [name.decode() for name in self.numbers]
        names = list(map(known.__getitem__, self.name.tolist()))
        ptr = self.list_ptr.tolist()
        return [tuple(names[start:end]) for start, end in pairwise(ptr)]


@dataclass(slots=True)
class _Reading:
    """What has been read so far."""

    list_of: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    sections: dict[bytes, int] = field(default_factory=dict)
    """Bytes of a list -> its number, -1 for one that is not plain."""
    lists: list[Sequence[int] | Int64] = field(default_factory=list)
    """The numbers of each list's names."""
    numbers: dict[bytes, int] = field(default_factory=dict)
    """Name -> its number."""


def topic_lists(blobs: Sequence[bytes]) -> TopicLists:
    """Return the topic lists. Cost: a comparison for a list that is known, else its length."""
    read = _Reading()
    if blobs and (equal := _all_equal(read, blobs)):
        return equal
    version = [PLAIN_VERSIONS.get(blob[:2], -1) for blob in blobs]
    waiting = _read_alone(read, blobs, version)
    if len(waiting) >= TOGETHER_MIN:
        waiting = _read_together(read, blobs, waiting)
    for row in waiting:
        read.list_of[row], read.end[row] = _read_one(read, blobs[row])
    counts = np.array([0, *map(len, read.lists)], dtype=np.int64)
    lists = [np.asarray(numbers, dtype=np.int32) for numbers in read.lists]
    return TopicLists(
        numbers=read.numbers,
        list_ptr=np.cumsum(counts),
        name=np.concatenate([np.zeros(0, dtype=np.int32), *lists]),
        list_of=np.array(read.list_of, dtype=np.int64),
        version=np.array(version, dtype=np.int64),
        end=np.array(read.end, dtype=np.int64),
    )


def _all_equal(read: _Reading, blobs: Sequence[bytes]) -> TopicLists | None:
    """Return the lists of a group in which all have the version and the list of the first."""
    version = PLAIN_VERSIONS.get(blobs[0][:2], -1)
    known, end = _read_one(read, blobs[0])
    if version < 0 or known < 0:
        return None
    first = blobs[0][:end]
    if not all(map(bytes.startswith, blobs, repeat(first))):
        return None
    return TopicLists(
        numbers=read.numbers,
        list_ptr=np.array([0, len(read.lists[0])], dtype=np.int64),
        name=np.array(read.lists[0], dtype=np.int32),
        list_of=np.zeros(len(blobs), dtype=np.int64),
        version=np.full(len(blobs), version, dtype=np.int64),
        end=np.full(len(blobs), end, dtype=np.int64),
        are_equal=True,
    )


def _read_alone(read: _Reading, blobs: Sequence[bytes], version: Sequence[int]) -> list[int]:
    """Read the first few different lists and all that equal them; return the other rows."""
    waiting: list[int] = []
    by_first_bytes: dict[bytes, bytes] = {}
    section, place, read_alone = b"", -1, 0
    for row, blob in enumerate(blobs):
        if place < 0 or not blob.startswith(section, 2):
            place = -1
            if version[row] >= 0:
                first = blob[2 : 2 + FIRST_BYTES]
                section = by_first_bytes.get(first, b"")
                if section and blob.startswith(section, 2):
                    place = read.sections[section]
                elif read_alone < ALONE_MAX:
                    place, end = _read_one(read, blob)
                    section = blob[2:end]
                    read_alone += end
                    by_first_bytes[first] = section
                else:
                    waiting.append(row)
        read.list_of.append(place if version[row] >= 0 else -1)
        read.end.append(2 + len(section))
    return waiting


def _read_one(read: _Reading, blob: bytes) -> tuple[int, int]:
    """Return the number of a list and where it ends; -1 where it is not plain."""
    count = int.from_bytes(blob[2:6], "big")
    if count > min(COUNT_LIMIT, len(blob) // 2):
        return -1, 2
    names = []
    place = 6
    try:
        for _ in range(count):
            end = place + 2 + (blob[place] << 8 | blob[place + 1])
            names.append(blob[place + 2 : end])
            place = end
    except IndexError:
        return -1, 2
    if place > len(blob):
        return -1, 2
    section = blob[2:place]
    known = read.sections.get(section)
    if known is None:
        known = read.sections[section] = _new_list(read, names, is_ascii=section.isascii())
    return known, place


def _new_list(read: _Reading, names: Sequence[bytes], *, is_ascii: bool) -> int:
    """Return the number of a list that is new, -1 where a name is odd or stands twice.

    `is_ascii` says that the names and their lengths are: then they are text, and short enough.
    """
    if is_ascii and not read.numbers and len(set(names)) == len(names):
        read.numbers.update(zip(names, range(len(names)), strict=True))
        read.lists.append(range(len(names)))
        return len(read.lists) - 1
    numbers = []
    for name in names:
        number = read.numbers.get(name)
        if number is None:
            if not is_ascii and (len(name) >= NAME_LIMIT or not is_text(name)):
                return -1
            number = read.numbers[name] = len(read.numbers)
        numbers.append(number)
    if len(set(numbers)) < len(numbers):
        return -1
    read.lists.append(numbers)
    return len(read.lists) - 1


def _read_together(read: _Reading, blobs: Sequence[bytes], waiting: Sequence[int]) -> list[int]:
    """Read the lists of these rows in lock step; return the rows that have to be read alone."""
    chosen = [blobs[row] for row in waiting]
    bounds = np.zeros(len(chosen) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, chosen), np.int64, len(chosen)), out=bounds[1:])
    buffer = b"".join([*chosen, bytes(PAD)])
    start = bounds[:-1] + 2
    place, is_plain = start.copy(), np.ones(len(chosen), dtype=np.bool_)
    entries = read_entries(buffer, place, bounds[1:], is_plain, has_numbers=False)
    order, ptr = in_row_order(entries)
    assert order is not None, "names alone have no numbers to be alike in"
    number = recognised_names(entries, read.numbers)[order]
    row = entries.row[order]
    is_plain[row[number < 0]] = False
    is_plain[repeated_rows(row, number, len(read.numbers))] = False
    ends = (place - bounds[:-1]).tolist()
    left = []
    for found, (waiter, plain, first, end, names_from, names_to) in enumerate(
        zip(
            waiting,
            is_plain.tolist(),
            start.tolist(),
            place.tolist(),
            ptr.tolist(),
            ptr[1:].tolist(),
            strict=False,
        )
    ):
        if not plain:
            left.append(waiter)
            continue
        section = buffer[first:end]
        known = read.sections.get(section)
        if known is None:
            known = read.sections[section] = len(read.lists)
            read.lists.append(number[names_from:names_to])
        read.list_of[waiter], read.end[waiter] = known, ends[found]
    return left
