"""Topic names recognised inside a buffer, many at once and exactly.

A name is its length and its bytes as 8-byte words, the last word ending where the name ends. A
hash of all of them leads to one candidate, and every word of it is compared, so a wrong
candidate is never taken. Names whose places collide go into a further table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int32, Int64

UInt64 = NDArray[np.uint64]

NAME_BYTES_MAX = 256
"""Longer names are not recognised; Kafka's brokers allow 249 bytes."""
LEVELS_MAX = 16
"""Tables in a row; names that collide in all of them, which takes an attack, are not recognised."""
WORD = 8
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
FOLD = np.uint64(29)
MASKS = np.array([(1 << (8 * size)) - 1 for size in range(WORD + 1)], dtype=np.uint64)
"""MASKS[n] keeps the first n bytes of a little-endian word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NameTable:
    """T names, to be found by `find`."""

    length: Int64
    """int64[T]."""
    words: tuple[UInt64, ...]
    """W arrays uint64[T]: word k of a name starts at byte min(8 k, length - 8)."""
    levels: tuple[tuple[np.uint64, Int32], ...]
    """Shift, and int32[2^(64 - shift)]: place -> name, -1 where there is none."""


def name_table(names: Sequence[bytes]) -> NameTable:
    """Return a table of different names; empty ones and those above `NAME_BYTES_MAX` match nothing.

    Cost: O(total length).

    >>> table = name_table([b"orders", b"payments"])
    >>> buffer = b"..payments..orders" + bytes(16)
    >>> find(table, word_view(buffer), np.array([2, 12, 0]), np.array([8, 6, 4])).tolist()
    [1, 0, -1]
    """
    fitting = [name if 0 < len(name) <= NAME_BYTES_MAX else b"" for name in names]
    length = np.array([len(name) for name in fitting], dtype=np.int64)
    width = max(1, -(-max(map(len, fitting), default=0) // WORD)) * WORD
    buffer = b"".join(name.ljust(width + WORD, b"\0") for name in fitting) + bytes(WORD)
    start = np.arange(len(fitting), dtype=np.int64) * (width + WORD)
    words = _words(word_view(buffer), start, length, width // WORD)
    levels: list[tuple[np.uint64, Int32]] = []
    left, mixed = np.flatnonzero(length > 0), _mixed(length, words)
    while len(left) and len(levels) < LEVELS_MAX:
        shift = np.uint64(64 - len(left).bit_length() - 2)
        place = (mixed[left] >> shift).astype(np.int64)
        places = np.full(1 << (64 - int(shift)), -1, dtype=np.int32)
        places[place[::-1]] = left[::-1]  # of several the first stays
        levels.append((shift, places))
        left = left[places[place] != left]
        mixed = _rehashed(mixed)
    return NameTable(length=length, words=words, levels=tuple(levels))


def find(table: NameTable, view: UInt64, start: Int64, length: Int64) -> Int32:
    """Return which name stands at `start` with `length` bytes, int32[N], -1 for none of them.

    `view` is `word_view` of the buffer, which has 8 bytes more than the last name needs.
    Cost: O(N x words).
    """
    fits = (length > 0) & (length <= len(table.words) * WORD)
    if not fits.all():
        found = np.full(len(start), -1, dtype=np.int32)
        found[fits] = find(table, view, start[fits], length[fits])
        return found
    words = _words(view, start, length, len(table.words))
    mixed = _mixed(length, words)
    found = np.full(len(start), -1, dtype=np.int32)
    left: Int64 | None = None  # all of them
    for shift, places in table.levels:
        candidate = places[(mixed >> shift).astype(np.int64)]
        same = (candidate >= 0) & (table.length[candidate] == length)
        for known, word in zip(table.words, words, strict=True):
            same &= known[candidate] == word
        other = np.flatnonzero(~same)
        candidate[other] = -1
        if left is None:
            found, left = candidate, other
        else:
            found[left] = candidate
            left = left[other]
        if not len(other):
            break
        length, mixed = length[other], _rehashed(mixed[other])
        words = tuple(word[other] for word in words)
    return found


def word_view(buffer: bytes) -> UInt64:
    """Return every 8 bytes of `buffer`, at any offset, as little-endian words."""
    return np.ndarray((max(len(buffer) - WORD + 1, 0),), "<u8", buffer, strides=(1,))


def _words(view: UInt64, start: Int64, length: Int64, count: int) -> tuple[UInt64, ...]:
    """Return words 0 to `count` - 1 of names; beyond a name's end that is its last word again."""
    if not len(start):
        return (np.zeros(0, dtype=np.uint64),) * count
    is_short = int(length.min()) < WORD
    mask = MASKS[np.minimum(length, WORD)] if is_short else None
    last = np.maximum(length - WORD, 0)
    words = []
    for k in range(count):
        word = view[start if k == 0 else start + np.minimum(WORD * k, last)]
        words.append(word if mask is None else word & mask)
    return tuple(words)


def _mixed(length: Int64, words: Sequence[UInt64]) -> UInt64:
    mixed = length.astype(np.uint64)
    for word in words:
        mixed = _rehashed(mixed ^ word)
    return mixed


def _rehashed(mixed: UInt64) -> UInt64:
    """Return other bits for every number. Source: Fibonacci hashing, Knuth, TAOCP 3, 6.4."""
    return (mixed ^ (mixed >> FOLD)) * MULTIPLIER
