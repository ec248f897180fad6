"""The topic lists of a group's Subscriptions: each different list is read once.

Where all have one list, or a few lists alternate, a member costs a comparison. Where many lists
differ, they are read together: at once where all names have one length, else in lock step, the
first name of every list, then the second. Names have no zero bytes and fewer than 256 others:
a list read alone is cut at the zero bytes of the lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise, repeat

import numpy as np

from assignors.arrays import Bool, Int32, Int64
from assignors.group_bytes.entries import (
    COUNT_LIMIT,
    Entries,
    is_text,
    recognised_names,
    repeated_rows,
)
from assignors.group_bytes.names import NAME_BYTES_MAX, WORD, column

PLAIN_VERSIONS = {bytes([0, version]): version for version in range(4)}
TOGETHER_MIN = 64
"""So many different lists at least are read together."""
MEMBERS_A_LIST = 4
"""So many members, on the average, begin alike where lists are compared before they are read."""
FEW = 3
SAMPLE, MOSTLY = 64, 0.75
"""Lists are not compared where most of so many begin differently: a larger part than this."""
FIRST_BYTES_MAX = 128
"""What begins alike: as many bytes as the shortest of a few lists has, up to so many."""
STEP_MIN = 16
"""So many lists at least are read in one step; the rest of the longest ones is read alone."""
ZERO = b"\0"
START = 6
"""Where the first name begins: behind the version and the number of names."""
LENGTH_SIZE = 2
PAD = NAME_BYTES_MAX
"""Zeros behind the bytes: so much is read where a name stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLists:
    """The topic lists of M members: S of them, some of which may be equal, over T names."""

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

    list_of: Int64
    end: Int64
    headers: dict[bytes, int] = field(default_factory=dict)
    """Length, as one byte, and bytes of a name -> its number."""
    known: dict[tuple[int, ...], int] = field(default_factory=dict)
    """The names of a list that was read alone -> its number."""
    list_count: int = 0
    counts: list[Sequence[int] | Int64] = field(default_factory=list)
    """How many names lists have, in the order of their numbers."""
    names: list[Sequence[int] | Int64] = field(default_factory=list)
    """The numbers of their names, list after list."""
    numbers: dict[bytes, int] = field(default_factory=dict)
    """Name -> its number."""

    def add(self, counts: Sequence[int] | Int64, names: Sequence[int] | Int64) -> int:
        """Add lists with so many of these names; return the number of the first."""
        self.counts.append(counts)
        self.names.append(names)
        self.list_count += len(counts)
        return self.list_count - len(counts)


def _reading(count: int) -> _Reading:
    """Return what is known of so many lists before any is read."""
    return _Reading(
        list_of=np.full(count, -1, dtype=np.int64), end=np.full(count, 2, dtype=np.int64)
    )


def topic_lists(blobs: Sequence[bytes]) -> TopicLists:
    """Return the topic lists. Cost: a comparison for a list that is known, else its length."""
    equal = _equal(blobs)
    if equal is not None:
        return equal
    version, read = _versions(blobs), _reading(len(blobs))
    _read_different(read, blobs, _read_alike(read, blobs, np.flatnonzero(version >= 0)))
    names = [np.asarray(each, dtype=np.int32) for each in read.names]
    return TopicLists(
        numbers=read.numbers,
        list_ptr=np.concatenate([[0], *read.counts], dtype=np.int64).cumsum(),
        name=np.concatenate([np.zeros(0, dtype=np.int32), *names]),
        list_of=read.list_of,
        version=version,
        end=read.end,
    )


def _versions(blobs: Sequence[bytes]) -> Int64:
    """Return the version of each Subscription, -1 where it is not plain."""
    if blobs and all(map(bytes.startswith, blobs, repeat(blobs[0][:2]))):
        return np.full(len(blobs), PLAIN_VERSIONS.get(blobs[0][:2], -1), dtype=np.int64)
    return np.array([PLAIN_VERSIONS.get(blob[:2], -1) for blob in blobs], dtype=np.int64)


def _equal(blobs: Sequence[bytes]) -> TopicLists | None:
    """Return the lists where all have the version and list of the first, `None` elsewhere."""
    version = PLAIN_VERSIONS.get(blobs[0][:2], -1) if blobs else -1
    if version < 0:
        return None
    read, count = _reading(0), len(blobs)
    number, end = _read_one(read, blobs[0])
    if number < 0 or not all(map(bytes.startswith, blobs, repeat(blobs[0][:end]))):
        return None
    (names,) = read.names
    return TopicLists(
        numbers=read.numbers,
        list_ptr=np.array([0, len(names)], dtype=np.int64),
        name=np.array(names, dtype=np.int32),
        list_of=np.zeros(count, dtype=np.int64),
        version=np.full(count, version, dtype=np.int64),
        end=np.full(count, end, dtype=np.int64),
        are_equal=True,
    )


def _read_alike(read: _Reading, blobs: Sequence[bytes], rows: Int64) -> Int64:
    """Read the lists of rows that begin like many others; return the other rows.

    One of those that begin alike is read, the others are compared with it.
    """
    some = rows[:: len(rows) // FEW + 1].tolist()
    tried = _reading(0)
    shortest = min((_read_one(tried, blobs[row])[1] for row in some), default=0)
    begin = slice(2, min(max(shortest, START), FIRST_BYTES_MAX))
    some = rows[:: len(rows) // SAMPLE + 1].tolist()
    if len({blobs[row][begin] for row in some}) > MOSTLY * len(some):
        return rows
    chosen = _chosen(blobs, rows)
    firsts = [blob[begin] for blob in chosen]
    samples = dict(zip(firsts, rows.tolist(), strict=True))
    if MEMBERS_A_LIST * len(samples) > len(rows):
        return rows
    _read_different(read, blobs, np.array(list(samples.values()), dtype=np.int64))
    # Nothing starts with one of no sections: that is for lists that are not plain.
    sections: dict[bytes, bytes | tuple[()]] = {
        first: blobs[row][2 : read.end[row]] if read.list_of[row] >= 0 else ()
        for first, row in samples.items()
    }
    wanted = map(sections.__getitem__, firsts)
    is_equal = np.array(list(map(bytes.startswith, chosen, wanted, repeat(2))), dtype=np.bool_)
    equal = rows[is_equal]
    sample = np.array(list(map(samples.__getitem__, firsts)), dtype=np.int64)[is_equal]
    read.list_of[equal], read.end[equal] = read.list_of[sample], read.end[sample]
    return rows[~is_equal]


def _read_different(read: _Reading, blobs: Sequence[bytes], rows: Int64) -> None:
    """Read the lists of these rows, which mostly differ."""
    if len(rows) >= TOGETHER_MIN:
        rows = _read_together(read, blobs, rows)
    for row in rows.tolist():
        read.list_of[row], read.end[row] = _read_one(read, blobs[row])


def _chosen(blobs: Sequence[bytes], rows: Int64) -> Sequence[bytes]:
    return blobs if len(rows) == len(blobs) else [blobs[row] for row in rows.tolist()]


def _read_one(read: _Reading, blob: bytes) -> tuple[int, int]:
    """Return the number of a list and where it ends; -1 where it is not plain."""
    count = int.from_bytes(blob[2:START], "big")
    if len(blob) < START or count > min(COUNT_LIMIT, len(blob) // 2):
        return -1, 2
    before, *names = blob[START:].split(ZERO, count) if count else (b"",)
    if before or len(names) < count:
        return -1, 2
    if names:
        last = names[-1]
        names[-1] = last[: 1 + last[0]] if last else last
    try:
        numbers = tuple(map(read.headers.__getitem__, names))
    except KeyError:
        if not _learn(read, names):
            return -1, 2
        numbers = tuple(map(read.headers.__getitem__, names))
    known = read.known.get(numbers)
    if known is None:
        if len(set(numbers)) < count:
            return -1, 2
        known = read.known[numbers] = read.add([count], numbers)
    return known, START + count + sum(map(len, names))


def _learn(read: _Reading, headers: Sequence[bytes]) -> bool:
    """Give numbers to new names, each behind its length; return whether all are plain."""
    new = [header for header in headers if header not in read.headers]
    names = [header[1:] for header in new]
    if not all(new) or not all(names) or [header[0] for header in new] != list(map(len, names)):
        return False
    if not b"".join(names).isascii() and not all(map(is_text, names)):
        return False
    for header, name in zip(new, names, strict=True):
        read.headers[header] = read.numbers.setdefault(name, len(read.numbers))
    return True


def _read_together(read: _Reading, blobs: Sequence[bytes], rows: Int64) -> Int64:
    """Read the lists of these rows at once; return the rows that have to be read alone."""
    chosen = _chosen(blobs, rows)
    size = np.fromiter(map(len, chosen), np.int64, len(chosen))
    heads = [blob[2:START] for blob in chosen]
    if int(size.min()) < START:
        heads = [head.ljust(START - 2, b"\xff") for head in heads]
    count = np.frombuffer(b"".join(heads), ">i4").astype(np.int64)
    is_plain = (count >= 0) & (count <= COUNT_LIMIT) & (START + 3 * count <= size)
    count *= is_plain
    entries, end = _names_of_one_length(chosen, size, count) or _names(
        chosen, size, count, is_plain
    )
    row = entries.row
    number = recognised_names(entries, read.numbers)
    is_plain[row[number < 0]] = False
    is_plain[repeated_rows(row, number, len(read.numbers))] = False
    if not is_plain.all():
        number = number[is_plain[row]]
    plain = rows[is_plain]
    first = read.add(count[is_plain], number)
    read.list_of[plain] = np.arange(first, first + len(plain))
    read.end[plain] = end[is_plain]
    return rows[~is_plain]


def _names_of_one_length(
    blobs: Sequence[bytes], size: Int64, count: Int64
) -> tuple[Entries, Int64] | None:
    """Return the names of all lists where all have one length, `None` elsewhere.

    `size` and `count`, int64[R], are the bytes of each message and the names of its list. Where
    that ends in its message is returned, too, int64[R].
    """
    has_names = np.flatnonzero(count)
    if not len(has_names):
        return None
    length = int.from_bytes(blobs[has_names[0]][START : START + LENGTH_SIZE], "big")
    each = LENGTH_SIZE + length
    end = START + each * count
    if length < WORD or (end > size)[has_names].any():
        return None
    parts = map(bytes.__getitem__, blobs, map(slice, repeat(START), end.tolist()))
    buffer = b"".join(parts)
    records = np.frombuffer(buffer, dtype=np.uint8).reshape(-1, each)
    if not (column(records, ">u2", 0) == length).all():
        return None
    entries = Entries(
        buffer=buffer,
        read=count,
        row=np.arange(len(count)).repeat(count),
        name_start=np.arange(LENGTH_SIZE, len(buffer), each),
        name_length=np.broadcast_to(np.int64(length), (len(records),)),
        count=count,
        records=records,
    )
    return entries, end


def _names(
    blobs: Sequence[bytes], size: Int64, count: Int64, is_plain: Bool
) -> tuple[Entries, Int64]:
    """Return the same, read in lock step: the first name of each list, then the second of each.

    Lists that end behind their message stop being plain, and the few with more names than nearly
    all others: one step costs as much for one list as for a hundred.
    """
    longest = int(np.sort(count)[-min(STEP_MIN, len(count))])
    is_plain &= count <= longest
    count *= is_plain
    buffer = b"".join([*blobs, bytes(PAD)])
    stop = size.cumsum()
    end = stop - size + START
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
        at += LENGTH_SIZE
        going_on = int(left.searchsorted(-step))
        if going_on < len(at):
            end[active[going_on : len(at)]] = at[going_on:]
            at, index, left = at[:going_on], index[:going_on], left[:going_on]
    is_plain &= end <= stop
    end += size - stop
    row = np.arange(len(count)).repeat(count)
    is_plain[row[uint8.take(place, mode="clip") != 0]] = False
    if not is_plain.all():
        is_kept = is_plain[row]
        place, row = place[is_kept], row[is_kept]
    entries = Entries(
        buffer=buffer,
        read=count,
        row=row,
        name_start=place + LENGTH_SIZE,
        name_length=uint8.take(place + 1).astype(np.int64),
        count=count,
    )
    return entries, end
