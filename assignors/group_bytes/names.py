"""Topic names recognised inside a buffer, many at once and exactly.

A name is its length and its bytes as 8-byte words, the last word ending where the name ends. A
hash of all of them leads to one candidate, and every word of it is compared, so a wrong
candidate is never taken. Names whose places collide go into a further table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int64

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
    levels: tuple[tuple[np.uint64, Int64], ...]
    """Shift, and int64[2^(64 - shift)]: place -> name; where there is none, any."""


def name_table(names: Sequence[bytes]) -> NameTable:
    """Return a table of different names; empty ones and those above `NAME_BYTES_MAX` match nothing.

    Cost: O(total length).

    >>> table = name_table([b"orders", b"payments"])
    >>> buffer = b"..payments..orders" + bytes(16)
    >>> find(table, word_view(buffer), np.array([2, 12, 0]), np.array([8, 6, 4])).tolist()
    [1, 0, -1]
    """
    fitting = [name if 0 < len(name) <= NAME_BYTES_MAX else b"" for name in names]
    length = np.fromiter(map(len, fitting), np.int64, len(fitting))
    width = max(1, -(-int(length.max(initial=0)) // WORD))
    buffer = b"".join([*fitting, bytes(WORD)])
    words = _words(word_view(buffer), length.cumsum() - length, length, width)
    levels: list[tuple[np.uint64, Int64]] = []
    left, mixed = np.flatnonzero(length > 0), _mixed(words)
    while len(left) and len(levels) < LEVELS_MAX:
        shift = np.uint64(64 - len(left).bit_length() - 2)
        place = (mixed[left] >> shift).view(np.int64)
        places = np.zeros(1 << (64 - int(shift)), dtype=np.int64)
        places[place[::-1]] = left[::-1]  # of several the first stays
        levels.append((shift, places))
        left = left[places[place] != left]
        mixed = _rehashed(mixed)
    return NameTable(length=length, words=words, levels=tuple(levels))


def find(table: NameTable, view: UInt64, start: Int64, length: Int64) -> Int64:
    """Return which name stands at `start` with `length` bytes, int64[N], -1 for none of them.

    `view` is `word_view` of the buffer, which has 8 bytes more than the last name needs.
    Cost: O(N x words).
    """
    shortest, longest = int(length.min(initial=NAME_BYTES_MAX)), int(length.max(initial=0))
    if shortest < 1 or longest > len(table.words) * WORD:
        fits = (length > 0) & (length <= len(table.words) * WORD)
        found = np.full(len(start), -1, dtype=np.int64)
        found[fits] = find(table, view, start[fits], length[fits])
        return found
    words = _words(view, start, length, len(table.words))
    return _found(table, words, shortest if shortest == longest else length)


def find_in_records(table: NameTable, records: NDArray[np.uint8], first: int, length: int) -> Int64:
    """Return which name stands in each row of `records`, uint8[N, S], at byte `first`.

    Returns int64[N] as `find` does. All have this length; eight bytes more stand behind it.
    """
    if not 0 < length <= len(table.words) * WORD:
        return np.full(len(records), -1, dtype=np.int64)
    words = []
    for k in range(len(table.words)):
        word = column(records, "<u8", first + min(WORD * k, max(length - WORD, 0))).copy()
        words.append(word & MASKS[length] if length < WORD else word)
    return _found(table, tuple(words), length)


def column(records: NDArray[np.uint8], dtype: str, first: int) -> NDArray[Any]:
    """Return the number at byte `first` of each row of `records`, uint8[N, S]. Cost: O(1)."""
    return np.ndarray((len(records),), dtype, records, first, (records.shape[1],))


def _found(table: NameTable, words: tuple[UInt64, ...], length: Int64 | int) -> Int64:
    """Return which name has these words and this length, int64[N]."""
    mixed = _mixed(words)
    found = np.full(len(mixed), -1, dtype=np.int64)
    has_one_length = isinstance(length, int) and bool((table.length == length).all())
    left: Int64 | None = None  # all of them
    for shift, places in table.levels:
        candidate = places[(mixed >> shift).view(np.int64)]
        same = table.words[0][candidate] == words[0]
        for known, word in zip(table.words[1:], words[1:], strict=True):
            same &= known[candidate] == word
        if not has_one_length:
            same &= table.length[candidate] == length
        other = np.flatnonzero(~same)
        candidate[other] = -1
        if left is None:
            found, left = candidate, other
        else:
            found[left] = candidate
            left = left[other]
        if not len(other):
            break
        length = length if isinstance(length, int) else length[other]
        mixed, words = _rehashed(mixed[other]), tuple(word[other] for word in words)
    return found


def word_view(buffer: bytes) -> UInt64:
    """Return every 8 bytes of `buffer`, at any offset, as little-endian words."""
    return np.ndarray((max(len(buffer) - WORD + 1, 0),), "<u8", buffer, strides=(1,))


def _words(view: UInt64, start: Int64, length: Int64, count: int) -> tuple[UInt64, ...]:
    """Return words 0 to `count` - 1 of names; beyond a name's end that is its last word again."""
    if not len(start):
        return (np.zeros(0, dtype=np.uint64),) * count
    shortest, longest = int(length.min()), int(length.max())
    mask = MASKS[np.minimum(length, WORD)] if shortest < WORD else None
    last: Int64 | int = max(longest - WORD, 0)
    if shortest < longest:
        last = np.maximum(length - WORD, 0)
    words = []
    for k in range(count):
        word = view[start if k == 0 else start + np.minimum(WORD * k, last)]
        words.append(word if mask is None else word & mask)
    return tuple(words)


def _mixed(words: Sequence[UInt64]) -> UInt64:
    """Return bits that depend on every word, the highest ones most."""
    mixed = words[0] * MULTIPLIER
    for word in words[1:]:
        mixed ^= mixed >> FOLD
        mixed ^= word
        mixed *= MULTIPLIER
    return mixed


def _rehashed(mixed: UInt64) -> UInt64:
    """Return other bits for every number. Source: Fibonacci hashing, Knuth, TAOCP 3, 6.4."""
    return (mixed ^ (mixed >> FOLD)) * MULTIPLIER
