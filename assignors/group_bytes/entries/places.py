"""Entries as places in a buffer, and the numbers that stand at any place of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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
PADDING = bytes(PAD)


class Messages(NamedTuple):
    """The bytes of R messages, one behind the other."""

    buffer: bytes
    """With `PAD` zeros at the end."""
    begin: Int64
    """int64[R]: less than that where first bytes are left out."""
    end: Int64
    """int64[R]."""


def sizes_of(parts: Sequence[bytes | memoryview]) -> Int64:
    """Return how many bytes each has, int64[R]."""
    return np.fromiter(map(len, parts), np.int64, len(parts))


def joined_messages(
    parts: Sequence[bytes | memoryview], size: Int64, *, left_out: int = 0
) -> Messages:
    """Return the messages, of which these `parts` are left without their first `left_out` bytes.

    `size`, int64[R], are the sizes of the parts. Cost: O(bytes).
    """
    end = size.cumsum()
    return Messages(b"".join((*parts, PADDING)), end - size - left_out, end)


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


def int16_view(buffer: bytes) -> NDArray[np.int16]:
    """Return every 2 bytes of `buffer`, at any offset, as a big-endian number."""
    return view_of(buffer, INT16)


def int32_view(buffer: bytes | bytearray) -> NDArray[np.int32]:
    """Return every 4 bytes of `buffer`, at any offset, as a big-endian number."""
    return view_of(buffer, INT32)


def view_of(buffer: bytes | bytearray | NDArray[np.uint8], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the number that stands at each place of `buffer`."""
    return np.ndarray((len(buffer) - dtype.itemsize + 1,), dtype, buffer, 0, EACH_BYTE)
