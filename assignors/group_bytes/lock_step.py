"""Many messages read in lock step: one field of all of them at a time.

A `Cursor` has a place in each message. Numbers are read at all places at once; names of a list, and
entries of a topic with its partition numbers, one of each message at a time. Every read stays
within the bytes of its message, so hostile counts cost nothing. Bytes that are not plain raise
`NotPlainError`: then the messages want another reader, all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Bool, Int32, Int64, OwnedArrays, bounds_of
from assignors.group_bytes.in_turn import NotPlainError
from assignors.group_bytes.names import NAME_BYTES_MAX, WORD, WORDS_MAX, bytes_at, find, name_table
from wire.cursor import COUNT_LIMIT

PAD = WORD * WORDS_MAX + 16
"""Zeros behind the bytes: so much is read where a name stands, or a number."""
NAME_LENGTH_SIZE, COUNT_SIZE, NUMBER_SIZE = 2, 4, 4
"""Bytes of the length of a name, of the count behind it, and of a partition number."""
HEADER_SIZE = NAME_LENGTH_SIZE + COUNT_SIZE
INT16, INT32 = np.dtype(">i2"), np.dtype(">i4")
STEP_MIN = 16
"""A step reads one entry of this many messages at least, on the average; fewer are read in turn."""
LEARNING_MAX = 8
"""Times that unknown names are learned; messages with names that are unknown then are not plain."""
LEARNED_MIN, LEARNED_PART = 256, 32
"""Of the unknown names one in so many is looked at, and at least so many."""
TABLE_FACTOR = 16
"""Repeats are looked for in a table of up to this many cells for each number."""


class Entries(NamedTuple):
    """E entries of R messages: a topic's name, perhaps with partition numbers behind it."""

    entry_count: Int64
    """int64[R]: how many entries each message has."""
    name_start: Int64
    """int64[E]: where the name stands, message by message."""
    name_length: Int64
    """int64[E]."""
    number_count: Int64
    """int64[E]: how many numbers stand behind the name and their count."""
    number: Int32 | None = None
    """int32[E]: the numbers, where each entry has one and it has been read already."""


@dataclass(slots=True)
class Cursor:
    """A place in each of R messages."""

    buffer: bytes
    """The messages one behind the other, and `PAD` zeros."""
    place: Int64
    """int64[R]: where the next field begins."""
    end: Int64
    """int64[R]."""

    def numbers(self, dtype: np.dtype[Any], is_there: Bool | None = None) -> Int64:
        """Read a number of each message, int64[R], -1 where `is_there` says that it has none."""
        if is_there is not None and np.count_nonzero(is_there) == len(is_there):
            is_there = None
        place, size = self.place, np.int64(dtype.itemsize)
        after = place + (size if is_there is None else size * is_there)
        require(after <= self.end)
        found = view_of(self.buffer, dtype)[place].astype(np.int64)
        if is_there is not None:
            found[~is_there] = -1
        self.place = after
        return found

    def skip(self, size: Int64) -> Int64:
        """Move behind so many bytes of each message, none where that is negative."""
        begin = self.place
        self.place = begin + np.maximum(size, 0)
        require(self.place <= self.end)
        return begin

    def names(self, count: Int64) -> Entries:
        """Read this many names of each message, behind their lengths."""
        self._require_counts(count, NAME_LENGTH_SIZE + 1)
        uint8 = np.frombuffer(self.buffer, dtype=np.uint8)
        begin = self._walk(uint8, count, has_numbers=False)
        require(uint8[begin] == 0)
        length = uint8[begin + 1].astype(np.int64)
        return Entries(count, begin + NAME_LENGTH_SIZE, length, np.zeros_like(begin))

    def entries(self) -> Entries:
        """Read the count of entries, and the entries, of each message."""
        count = self.numbers(INT32)
        self._require_counts(count, HEADER_SIZE + NUMBER_SIZE)
        uint8 = np.frombuffer(self.buffer, dtype=np.uint8)
        alike = self._entries_of_one_size(uint8, count)
        if alike is not None:
            return alike
        begin = self._walk(uint8, count, has_numbers=True)
        length = uint8[begin + 1].astype(np.int64)
        size = np.empty(len(begin), dtype=np.int64)
        np.subtract(begin[1:], begin[:-1], out=size[:-1])
        some = count.nonzero()[0]
        last = count.cumsum()[some] - 1
        size[last] = self.place[some] - begin[last]
        number_count = (size - length - HEADER_SIZE) >> 2
        # A longer name or count than was read has a byte that is not zero here.
        high = uint8[begin]
        counted = begin + NAME_LENGTH_SIZE
        counted += length
        high |= uint8[counted]
        counted += 1
        high |= uint8[counted]
        require((high == 0) & (number_count > 0))
        return Entries(count, begin + NAME_LENGTH_SIZE, length, number_count)

    def _require_counts(self, count: Int64, size_min: int) -> None:
        """Raise for counts that do not fit the bytes, and where steps would read few messages."""
        most = np.minimum((self.end - self.place) // size_min, COUNT_LIMIT)
        require((count >= 0) & (count <= most))
        if STEP_MIN * int(count.max(initial=0)) > int(count.sum()):
            raise NotPlainError

    def _walk(self, uint8: NDArray[np.uint8], count: Int64, *, has_numbers: bool) -> Int64:
        """Return where each entry begins, int64[E]; move behind the last one of each message.

        Of lengths and counts the low bytes are read: whether that is all of them is seen later.
        """
        most = int(count.max(initial=0))
        fewer = most - count
        # Numpy sorts 16 bits in linear time.
        order = (fewer.astype(np.uint16) if most < 1 << 16 else fewer).argsort(kind="stable")
        at, index = self.place[order], bounds_of(count)[order]
        begin = np.empty(int(count.sum()), dtype=np.int64)
        behind = len(uint8) - PAD + 1  # the last message ends before it
        # How many messages have an entry in each step: those with most come first.
        for messages in (-count[order]).searchsorted(-np.arange(most)).tolist():
            place, entry = at[:messages], index[:messages]
            begin[entry] = place
            entry += 1
            place += uint8[place + 1]
            if has_numbers:
                high = uint8[place + (HEADER_SIZE - 2)]
                size = uint8[place + (HEADER_SIZE - 1)].astype(np.int64)
                if np.count_nonzero(high):
                    size += high.astype(np.int64) << 8
                place += HEADER_SIZE + NUMBER_SIZE * size
            else:
                place += NAME_LENGTH_SIZE
            np.minimum(place, behind, out=place)
        self.place[order] = at
        require(self.place <= self.end)
        return begin

    def _entries_of_one_size(self, uint8: NDArray[np.uint8], count: Int64) -> Entries | None:
        """Return the entries where each has one number and all have one size; `None` elsewhere.

        In a large group most topics have fewer partitions than there are members, so a member owns
        one partition of each of its topics, and numbered topics have names of one length. The first
        entry of each message nearly always shows that it is not so.
        """
        place = self.place
        if not np.count_nonzero(count):
            return Entries(count, count[:0], count[:0], count[:0])
        length = uint8[place + 1]
        name_length = int(length[count.argmax()])
        size = HEADER_SIZE + NUMBER_SIZE + name_length
        after = place + size * count
        if np.count_nonzero((length != name_length) & (count > 0)) or np.count_nonzero(
            after > self.end
        ):
            return None
        begin = (place - size * bounds_of(count)[:-1]).repeat(count)
        begin += np.arange(0, size * len(begin), size)
        records = bytes_at(self.buffer, begin, size)
        if np.count_nonzero(column(records, ">u2", 0) != name_length):
            return None
        if np.count_nonzero(column(records, ">u4", NAME_LENGTH_SIZE + name_length) != 1):
            return None
        self.place = after
        number = column(records, INT32, size - NUMBER_SIZE).astype(np.int32)
        begin += NAME_LENGTH_SIZE
        return Entries(count, begin, np.full(len(begin), name_length), np.ones_like(begin), number)


def cursor_of(messages: Sequence[bytes | memoryview]) -> Cursor:
    """Return a cursor at the beginning of these messages. Cost: O(bytes)."""
    size = np.fromiter(map(len, messages), np.int64, len(messages))
    end = size.cumsum()
    return Cursor(b"".join((*messages, bytes(PAD))), end - size, end)


def require(is_plain: Bool) -> None:
    """Raise `NotPlainError` unless all are true."""
    if np.count_nonzero(is_plain) < len(is_plain):
        raise NotPlainError


def view_of(buffer: bytes | NDArray[np.uint8], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the number that stands at each place of `buffer`."""
    return np.ndarray((len(buffer) - dtype.itemsize + 1,), dtype, buffer, 0, (1,))


def column(records: NDArray[np.uint8], dtype: str | np.dtype[Any], first: int) -> NDArray[Any]:
    """Return the number at byte `first` of each row of `records`, uint8[N, S]. Cost: O(1)."""
    return np.ndarray((len(records),), dtype, records, first, (records.shape[1],))


def topics_of(buffer: bytes, entries: Entries, known: dict[bytes, int]) -> Int64:
    """Return the number of each entry's name, int64[E]; names that are not known are added.

    Raises `NotPlainError` for a name that is no text, for a message that has one twice, and where
    names are unknown after some have been learned. Cost: O(E x words of a name).
    """
    start, length = entries.name_start, entries.name_length
    if not len(start):
        return np.zeros(0, dtype=np.int64)
    if not known:
        add_names(known, _new_names(buffer, start, length))
    number = find(name_table(list(known)), buffer, start, length)
    for _ in range(LEARNING_MAX):
        left = (number < 0).nonzero()[0]
        if not len(left):
            break
        first = len(known)
        new = _new_names(buffer, start[left], length[left])
        if not known.keys().isdisjoint(new):
            raise NotPlainError  # it is known, and is not found
        add_names(known, new)
        found = find(name_table(new), buffer, start[left], length[left])
        number[left] = np.where(found < 0, -1, found + first)
    else:
        raise NotPlainError
    row = np.arange(len(entries.entry_count)).repeat(entries.entry_count)
    if _has_repeats(row, number, len(known)):
        raise NotPlainError
    return number


def add_names(known: dict[bytes, int], names: Iterable[bytes]) -> None:
    """Give numbers to names; `NotPlainError` for one that is empty, too long, or no text."""
    for name in names:
        if not 0 < len(name) <= NAME_BYTES_MAX:
            raise NotPlainError
        try:
            name.decode()
        except UnicodeDecodeError:
            raise NotPlainError from None
        known.setdefault(name, len(known))


def _new_names(buffer: bytes, start: Int64, length: Int64) -> list[bytes]:
    """Return some of these names, sorted as most lists are: then numbers ascend in these."""
    some = slice(None, None, max(1, min(len(start) // LEARNED_MIN, LEARNED_PART)))
    places = zip(start[some].tolist(), length[some].tolist(), strict=True)
    return sorted({buffer[begin : begin + size] for begin, size in places})


def _has_repeats(row: Int64, number: Int64, number_count: int) -> bool:
    """Return whether a row has a number twice. Rows ascend. Cost: O(N), and a sort if needed."""
    key = row * number_count
    key += number
    if np.count_nonzero(key[1:] > key[:-1]) >= len(key) - 1:
        return False
    key_count = (int(row[-1]) + 1) * number_count
    if key_count <= TABLE_FACTOR * len(key):
        occurs = np.zeros(key_count, dtype=np.bool_)
        occurs[key] = True
        return bool(np.count_nonzero(occurs) < len(key))
    key.sort()
    return bool(np.count_nonzero(key[1:] == key[:-1]))


def owned_arrays(buffer: bytes, entries: Entries, known: dict[bytes, int]) -> OwnedArrays:
    """Return the entries as arrays, row by row; names that are not known are added.

    Raises `NotPlainError` as `topics_of`, and for a negative number. Cost: O(names + numbers).
    """
    topic = topics_of(buffer, entries, known)
    number, number_ptr = entries.number, bounds_of(entries.number_count)
    if number is None:
        first = entries.name_start + entries.name_length
        first += COUNT_SIZE
        first -= NUMBER_SIZE * number_ptr[:-1]
        first = first.repeat(entries.number_count)
        first += np.arange(0, NUMBER_SIZE * len(first), NUMBER_SIZE)
        number = view_of(buffer, INT32)[first].astype(np.int32)
    if int(number.min(initial=0)) < 0:
        raise NotPlainError
    return OwnedArrays(
        names=tuple(map(bytes.decode, known)),
        entry_ptr=bounds_of(entries.entry_count),
        topic=topic,
        number_ptr=number_ptr,
        number=number,
    )
