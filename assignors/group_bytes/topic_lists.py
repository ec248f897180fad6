"""The topic lists of a group's Subscriptions: each different list is read once.

Where all have one list, or a few lists alternate, a member costs a comparison. Where many lists
differ, they are read together in lock step: the first name of every list, then the second. Names
have no zero bytes and fewer than 256 others: a list read alone is cut at the zero bytes of the
lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import itemgetter

import numpy as np

from assignors.arrays import Int32, Int64
from assignors.group_bytes.entries import (
    NAME_LENGTH_SIZE,
    Found,
    KnownNames,
    Messages,
    Sections,
    int16_view,
    int32_view,
    is_text,
    listed_names,
    recognised_names,
    repeated_rows,
)
from wire.cursor import COUNT_LIMIT

LATEST = 3
"""The version of Subscriptions that has every field."""
PLAIN_VERSIONS = {bytes([0, version]): version for version in range(LATEST + 1)}
TOGETHER_MIN = 64
"""So many different lists at least are read together."""
MEMBERS_A_LIST = 4
"""So many members, on the average, begin alike where lists are compared before they are read."""
FEW = 3
SAMPLE, MOSTLY = 64, 0.75
"""Lists are not compared where most of so many begin differently: a larger part than this."""
FIRST_BYTES_MAX = 128
"""What begins alike: as many bytes as the shortest of a few lists has, up to so many."""
ZERO = b"\0"
COUNT_AT = 2
"""Where the number of names stands: behind the version."""
START = 6
"""Where the first name begins: behind the version and the number of names."""
NONE: Int64 = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLists:
    """The topic lists of M members: S of them, some of which may be equal, over T names."""

    known: KnownNames
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


@dataclass(slots=True)
class _Reading:
    """What has been read so far."""

    list_of: Int64
    end: Int64
    numbered: KnownNames
    """Names with their numbers."""
    known: dict[tuple[int, ...], int] = field(default_factory=dict)
    """The names of a list that was read alone -> its number."""
    list_count: int = 0
    counts: list[Sequence[int] | Int64] = field(default_factory=list)
    """How many names lists have, in the order of their numbers."""
    names: list[Sequence[int] | Int64] = field(default_factory=list)
    """The numbers of their names, list after list."""

    def add(self, counts: Sequence[int] | Int64, names: Sequence[int] | Int64) -> int:
        """Add lists with so many of these names; return the number of the first."""
        self.counts.append(counts)
        self.names.append(names)
        self.list_count += len(counts)
        return self.list_count - len(counts)


def _reading(count: int, names: KnownNames | None) -> _Reading:
    """Return what is known of so many lists before any is read."""
    return _Reading(
        list_of=np.full(count, -1, dtype=np.int64),
        end=np.full(count, 2, dtype=np.int64),
        numbered=_copied(names),
    )


def _copied(names: KnownNames | None) -> KnownNames:
    """Return these names, to which others may be added."""
    if names is None:
        return KnownNames({})
    return KnownNames(names.numbers.copy(), names.table, names.headers.copy(), names.written)


def equal_lists(blobs: Sequence[bytes], names: KnownNames | None = None) -> TopicLists | None:
    """Return the lists where all have the version and list of the first, `None` elsewhere.

    Cost: a comparison for each, and reading the first one.
    """
    version = PLAIN_VERSIONS.get(blobs[0][:2], -1) if blobs else -1
    if version < 0 or not blobs[-1].startswith(_first_bytes(blobs[0])):
        return None
    read, count = _Reading(list_of=NONE, end=NONE, numbered=_copied(names)), len(blobs)
    number, end = _read_one(read, blobs[0])
    if number < 0 or not all(map(bytes.startswith, blobs, repeat(blobs[0][:end]))):
        return None
    (listed,) = read.names
    return TopicLists(
        known=read.numbered,
        list_ptr=np.array([0, len(listed)], dtype=np.int64),
        name=np.array(listed, dtype=np.int32),
        list_of=np.zeros(count, dtype=np.int64),
        version=np.full(count, version, dtype=np.int64),
        end=np.full(count, end, dtype=np.int64),
    )


def different_lists(
    blobs: Sequence[bytes], messages: Messages, names: KnownNames | None = None
) -> TopicLists:
    """Return the topic lists of these messages, joined as they are.

    Cost: a comparison for a list that is known, else its length.
    """
    version, read = _versions(messages), _reading(len(blobs), names)
    left = _read_alike(read, blobs, messages, np.flatnonzero(version >= 0))
    _read_different(read, blobs, messages, left)
    listed = [np.asarray(each, dtype=np.int32) for each in read.names]
    return TopicLists(
        known=read.numbered,
        list_ptr=np.concatenate([[0], *read.counts], dtype=np.int64).cumsum(),
        name=np.concatenate([np.zeros(0, dtype=np.int32), *listed]),
        list_of=read.list_of,
        version=version,
        end=read.end,
    )


def are_mostly_different(blobs: Sequence[bytes]) -> bool:
    """Return whether most members begin differently, by the first bytes of some."""
    some = blobs[:: len(blobs) // FEW + 1]
    begin = slice(2, min(map(len, map(_first_bytes, some)), default=0))
    some = blobs[:: len(blobs) // SAMPLE + 1]
    return len(set(map(itemgetter(begin), some))) > MOSTLY * len(some)


def located_lists(messages: Messages, each: int) -> tuple[Sections, Int64] | None:
    """Return the lists where all names have so many bytes, with their length, and where they end.

    They may end behind their message, which may be shorter than their count. `None` where one is
    not of the latest version, or has 65,536 names or more.
    """
    int32, begin = int32_view(messages.buffer), messages.begin
    if np.count_nonzero(int32[begin] != LATEST << 16):  # the version, and half of the count
        return None
    count = int32[begin + COUNT_AT].astype(np.int64)
    first = begin + START
    return Sections(first, count), first + each * count


def lists_of_names(names: KnownNames, found: Found, end: Int64) -> TopicLists:
    """Return the lists of R members of the latest version, which end there in the bytes."""
    return TopicLists(
        known=names,
        list_ptr=found.list_ptr,
        name=found.listed.astype(np.int32),
        list_of=np.arange(len(end)),
        version=np.full(len(end), LATEST, dtype=np.int64),
        end=end,
    )


def _versions(messages: Messages) -> Int64:
    """Return the version of each Subscription, -1 where it is not plain."""
    version = int16_view(messages.buffer)[messages.begin].astype(np.int64)
    is_plain = (version >= 0) & (version <= LATEST) & (messages.end - messages.begin >= START)
    return (
        version if np.count_nonzero(is_plain) == len(version) else np.where(is_plain, version, -1)
    )


def _first_bytes(blob: bytes) -> bytes:
    """Return the version and the topic list, or the first `FIRST_BYTES_MAX` bytes of both."""
    count, at = int.from_bytes(blob[2:START], "big"), START
    while count and at < min(FIRST_BYTES_MAX, len(blob) - 1):
        count -= 1
        at += NAME_LENGTH_SIZE + blob[at + 1]
    return blob[: min(at, FIRST_BYTES_MAX)]


def _read_alike(read: _Reading, blobs: Sequence[bytes], messages: Messages, rows: Int64) -> Int64:
    """Read the lists of rows that begin like many others; return the other rows.

    One of those that begin alike is read, the others are compared with it.
    """
    some = rows[:: len(rows) // FEW + 1].tolist()
    begin = slice(2, min((len(_first_bytes(blobs[row])) for row in some), default=0))
    some = rows[:: len(rows) // SAMPLE + 1].tolist()
    if len({blobs[row][begin] for row in some}) > MOSTLY * len(some):
        return rows
    chosen = _chosen(blobs, rows)
    firsts = [blob[begin] for blob in chosen]
    samples = dict(zip(firsts, rows.tolist(), strict=True))
    if MEMBERS_A_LIST * len(samples) > len(rows):
        return rows
    _read_different(read, blobs, messages, np.array(list(samples.values()), dtype=np.int64))
    # Nothing starts with one of no sections: that is for lists that are not plain.
    sections: dict[bytes, bytes | tuple[()]] = {
        first: blobs[row][2 : read.end[row]] if read.list_of[row] >= 0 else ()
        for first, row in samples.items()
    }
    wanted = map(sections.__getitem__, firsts)
    begin_so = map(bytes.startswith, chosen, wanted, repeat(2))
    is_equal = np.fromiter(begin_so, np.bool_, len(rows))
    equal = rows[is_equal]
    sample = np.fromiter(map(samples.__getitem__, firsts), np.int64, len(rows))[is_equal]
    read.list_of[equal], read.end[equal] = read.list_of[sample], read.end[sample]
    return rows[~is_equal]


def _read_different(
    read: _Reading, blobs: Sequence[bytes], messages: Messages, rows: Int64
) -> None:
    """Read the lists of these rows, which mostly differ."""
    if len(rows) >= TOGETHER_MIN:
        rows = _read_together(read, messages, rows)
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
        numbers = tuple(map(read.numbered.headers.__getitem__, names))
    except KeyError:
        if not _learn(read, names):
            return -1, 2
        numbers = tuple(map(read.numbered.headers.__getitem__, names))
    known = read.known.get(numbers)
    if known is None:
        if len(set(numbers)) < count:
            return -1, 2
        known = read.known[numbers] = read.add([count], numbers)
    return known, START + count + sum(map(len, names))


def _learn(read: _Reading, headers: Sequence[bytes]) -> bool:
    """Give numbers to new names, each behind its length; return whether all are plain."""
    numbers = read.numbered.numbers
    new = [header for header in headers if header not in read.numbered.headers]
    names = [header[1:] for header in new]
    if not all(new) or not all(names) or [header[0] for header in new] != list(map(len, names)):
        return False
    if not b"".join(names).isascii() and not all(map(is_text, names)):
        return False
    for header, name in zip(new, names, strict=True):
        read.numbered.headers[header] = numbers.setdefault(name, len(numbers))
    return True


def _read_together(read: _Reading, messages: Messages, rows: Int64) -> Int64:
    """Read the lists of these rows at once; return the rows that have to be read alone."""
    buffer, begin, stop = messages
    if len(rows) < len(begin):
        begin, stop = begin[rows], stop[rows]
    first = begin + START
    count = int32_view(buffer)[begin + COUNT_AT].astype(np.int64)
    is_plain = (count >= 0) & (count <= COUNT_LIMIT) & (first + 3 * count <= stop)
    count *= is_plain
    entries, end = listed_names(buffer, first, stop, count, is_plain)
    row = entries.row
    number = recognised_names(entries, read.numbered)
    if len(number) and number[number.argmin()] < 0:
        is_plain[row[number < 0]] = False
    is_plain[repeated_rows(row, number, len(read.numbered.numbers))] = False
    if np.count_nonzero(is_plain) == len(is_plain):
        plain, end = rows, end - begin
    else:
        number = number[is_plain[row]]
        plain, count, end = rows[is_plain], count[is_plain], (end - begin)[is_plain]
    number_of_first = read.add(count, number)
    read.list_of[plain] = np.arange(number_of_first, number_of_first + len(plain))
    read.end[plain] = end
    return rows[~is_plain]
