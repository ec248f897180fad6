"""Entries as places in a buffer, and the numbers that stand at any place of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int32, Int64
from assignors.group_bytes.names import NAME_BYTES_MAX

PAD = NAME_BYTES_MAX + 16
"""Zeros behind the bytes: so much is read where a name stands, or a number."""
NAME_LENGTH_SIZE, COUNT_SIZE, NUMBER_SIZE = 2, 4, 4
"""Bytes of the length of a name, of the count behind it, and of a partition number."""
INT16, INT32 = np.dtype(">i2"), np.dtype(">i4")
EACH_BYTE = (1,)
Number = TypeVar("Number", np.int32, np.int64, np.bool_)
PADDING = bytes(PAD)


class Messages(NamedTuple):
    """The bytes of R messages, one behind the other."""

    buffer: bytes
    """With `PAD` zeros at the end."""
    begin: Int64
    """int64[R]."""
    end: Int64
    """int64[R]."""
    left_out: int
    """How many bytes of each message are not there, its first ones."""


def filled(count: int, number: int, dtype: type[Number]) -> NDArray[Number]:
    """Return as many of one number, in half the time of `numpy.full`."""
    made = np.empty(count, dtype=dtype)
    made.fill(number)
    return made


def sizes_of(parts: Sequence[bytes]) -> Int64:
    """Return how many bytes each has, int64[R]."""
    return np.fromiter(map(len, parts), np.int64, len(parts))


def joined_messages(parts: Sequence[bytes], size: Int64, *, left_out: int = 0) -> Messages:
    """Return the messages, of which these `parts` are left without their first `left_out` bytes.

    `size`, int64[R], are the sizes of the parts. Cost: O(bytes).
    """
    end = size.cumsum()
    return Messages(b"".join((*parts, PADDING)), end - size, end, left_out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """E entries, as places in a buffer that ends in `PAD` zeros."""

    buffer: bytes
    read: Int64
    """int64[R]: how many entries each message has here."""
    row: Int64
    """int64[E]: whose entry it is, each message's in their order."""
    name_start: Int64
    """int64[E]."""
    name_length: Int64
    """int64[E]."""
    count: Int64
    """int64[E]: how many numbers stand behind the name and this count."""
    number: Int32 | None = None
    """int32[E]: the numbers, where each entry has one and it has been read already."""
    records: NDArray[np.uint8] | None = None
    """uint8[E, S]: the bytes of each entry, row by row, where all have S bytes and one layout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRecords:
    """E entries of one layout: the same as `Entries`, of which most is computed when asked for."""

    buffer: bytes
    read: Int64
    """int64[R]: how many entries each message has here."""
    records: NDArray[np.uint8]
    """uint8[E, S]: the bytes of each entry, row by row."""
    first_name: Int64
    """int64[R]: where the first name of each message stands, anywhere if there is none."""
    name_size: int
    """Bytes of each name."""
    number_count: int
    """How many numbers each entry has."""
    repeated: int
    """How many entries each message has that has some, if all name the same topics; else 0."""

    @property
    def row(self) -> Int64:
        """int64[E]. Cost: O(E)."""
        return np.arange(len(self.read)).repeat(self.read)

    @property
    def name_start(self) -> Int64:
        """int64[E]. Cost: O(E)."""
        size = self.records.shape[1]
        begin = self.first_name - size * (self.read.cumsum() - self.read)
        start: Int64 = begin.repeat(self.read)
        start += np.arange(0, size * len(self.records), size)
        return start

    @property
    def name_length(self) -> Int64:
        """int64[E], without memory for each."""
        return np.broadcast_to(np.int64(self.name_size), (len(self.records),))

    @property
    def count(self) -> Int64:
        """int64[E], without memory for each."""
        return np.broadcast_to(np.int64(self.number_count), (len(self.records),))

    def numbers(self) -> Int32:
        """Return the numbers of all entries, entry by entry. Cost: O(numbers)."""
        size, each = self.records.shape[1], self.number_count
        first = size - 4 * each
        of_entry = (len(self.records), each)
        found = np.ndarray(of_entry, ">i4", self.records, first, (size, 4))
        return found.astype(np.int32).ravel()


def int16_view(buffer: bytes) -> NDArray[np.int16]:
    """Return every 2 bytes of `buffer`, at any offset, as a big-endian number."""
    return view_of(buffer, INT16)


def int32_view(buffer: bytes | bytearray) -> NDArray[np.int32]:
    """Return every 4 bytes of `buffer`, at any offset, as a big-endian number."""
    return view_of(buffer, INT32)


def view_of(buffer: bytes | bytearray | NDArray[np.uint8], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the number that stands at each place of `buffer`."""
    return np.ndarray((len(buffer) - dtype.itemsize + 1,), dtype, buffer, 0, EACH_BYTE)
