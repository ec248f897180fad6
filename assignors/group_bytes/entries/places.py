"""Entries as places in a buffer, and the numbers that stand at any place of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int64

COUNT_LIMIT = 1_000_000
"""Longest array that Kafka 4.4 reads."""


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
    records: NDArray[np.uint8] | None = None
    """uint8[E, S]: the bytes of each entry, row by row, where all have S bytes and one layout."""


def int16_view(buffer: bytes) -> NDArray[np.int16]:
    """Return every 2 bytes of `buffer`, at any offset, as a big-endian number."""
    return view_of(buffer, ">i2")


def int32_view(buffer: bytes | bytearray) -> NDArray[np.int32]:
    """Return every 4 bytes of `buffer`, at any offset, as a big-endian number."""
    return view_of(buffer, ">i4")


def view_of(buffer: bytes | bytearray, dtype: str) -> NDArray[Any]:
    """Return the number that stands at each place of `buffer`."""
    size = np.dtype(dtype).itemsize
    return np.ndarray((len(buffer) - size + 1,), dtype, buffer, strides=(1,))
