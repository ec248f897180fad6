"""Topic names recognised inside a buffer, many at once and exactly.

A name is its length and its bytes as 8-byte words, with zeros behind its end. A hash of the words
leads to a place in one table; every word of the name that stands there is compared, so a wrong one
is never taken. Names with the same place go into the places behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int64

UInt64 = NDArray[np.uint64]

NAME_BYTES_MAX = 255
"""Longer names are not recognised; Kafka's brokers allow 249 bytes."""
TOGETHER_MAX = 1 << 13
"""Names looked up at once: what is computed of them stays in the processor's cache."""
PROBES_MAX = 16
"""A name that finds as many places taken, which takes an attack, is not recognised."""
PLACES = 4
"""Places of the table for each name, about."""
WORD = 8
WORDS_MAX = NAME_BYTES_MAX // WORD + 1
MULTIPLIERS = np.full(WORDS_MAX, 0x9E3779B97F4A7C15, dtype=np.uint64).cumprod()
"""One for each word of a name. Source: Fibonacci hashing, Knuth, TAOCP 3, 6.4."""
MASKS = np.array(
    [
        [(1 << 8 * min(max(size - first, 0), WORD)) - 1 for size in range(WORD * WORDS_MAX + 1)]
        for first in range(0, WORD * WORDS_MAX, WORD)
    ],
    dtype=np.uint64,
)
"""MASKS[k, n] keeps of word k, which is little-endian, what belongs to the first n bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NameTable:
    """T names, to be found by `find`."""

    length: Int64
    """int64[T], -1 for names that match nothing."""
    words: UInt64
    """uint64[W, T]: word k of a name starts at byte 8 k."""
    shift: np.uint64
    places: Int64
    """int64[2^(64 - shift) + PROBES_MAX]: place -> name; where there is none, any."""
    probe_count: int
    """Places in which a name of the table may stand, from that of its hash on."""


def name_table(names: Sequence[bytes]) -> NameTable:
    """Return a table of different names; empty ones and those above `NAME_BYTES_MAX` match nothing.

    Cost: O(total length).

    >>> table = name_table([b"orders", b"payments"])
    >>> buffer = b"..payments..orders" + bytes(WORD * WORDS_MAX)
    >>> find(table, buffer, np.array([2, 12, 0]), np.array([8, 6, 4])).tolist()
    [1, 0, -1]
    """
    sizes = list(map(len, names))
    if max(sizes, default=0) > NAME_BYTES_MAX:
        names = [name if len(name) <= NAME_BYTES_MAX else b"" for name in names]
        sizes = list(map(len, names))
    length = np.array(sizes, dtype=np.int64)
    width = max(1, -(-max(sizes, default=0) // WORD))
    padded = np.array(names, dtype=f"S{WORD * width}").view("<u8").reshape(len(names), width)
    words = np.ascontiguousarray(padded.T)
    shift = 64 - (PLACES * len(names)).bit_length()
    home, left = _places(words, np.uint64(shift)), length.nonzero()[0]
    places = np.full((1 << (64 - shift)) + PROBES_MAX, -1, dtype=np.int64)
    probe_count = 0
    while len(left) and probe_count < PROBES_MAX:
        place = home[left] + probe_count
        is_free = places[place] < 0
        places[place[is_free]] = left[is_free]  # of several the last one stays
        left = left[places[place] != left]
        probe_count += 1
    length[length == 0] = -1
    return NameTable(
        length=length,
        words=words,
        shift=np.uint64(shift),
        places=np.maximum(places, 0),
        probe_count=probe_count,
    )


def find(table: NameTable, buffer: bytes, start: Int64, length: Int64) -> Int64:
    """Return which name stands at `start` with `length` bytes, int64[N], -1 for none of them.

    `buffer` has `WORD * WORDS_MAX` bytes behind the last place. Cost: O(N x words).
    """
    found = np.empty(len(start), dtype=np.int64)
    for begin in range(0, len(start), TOGETHER_MAX):
        part = slice(begin, begin + TOGETHER_MAX)
        found[part] = _found(table, buffer, start[part], length[part])
    return found


def _found(table: NameTable, buffer: bytes, start: Int64, length: Int64) -> Int64:
    width = len(table.words)
    # A row of memory for each word: numpy is many times faster along those.
    words = np.ascontiguousarray(bytes_at(buffer, start, WORD * width).view("<u8").T)
    if not table.probe_count:
        return np.full(len(start), -1)
    first = int(length[0])
    if np.count_nonzero(length != first):
        words &= MASKS[:width].take(length, axis=1, mode="clip")
    else:
        words &= MASKS[:width, min(first, WORD * width), np.newaxis]
    place = _places(words, table.shift)
    found = _matching(table, words, length, place)
    for step in range(1, table.probe_count):
        left = (found < 0).nonzero()[0]
        if not len(left):
            break
        found[left] = _matching(table, words[:, left], length[left], place[left] + step)
    return found


def _matching(table: NameTable, words: UInt64, length: Int64, place: Int64) -> Int64:
    """Return the name at each place if it has these words and this length, else -1."""
    candidate = table.places.take(place)
    same = table.length.take(candidate) == length
    for known, word in zip(table.words, words, strict=True):
        same &= known.take(candidate) == word
    if np.count_nonzero(same) < len(same):
        candidate[~same] = -1
    return candidate


def _places(words: UInt64, shift: np.uint64) -> Int64:
    """Return where a name with these words, uint64[W, N], stands unless another one does."""
    mixed = words[0] * MULTIPLIERS[0]
    for word, multiplier in zip(words[1:], MULTIPLIERS[1:], strict=False):
        mixed += word * multiplier
    mixed >>= shift
    found: Int64 = mixed.view(np.int64)
    return found


def bytes_at(buffer: bytes, place: Int64, size: int) -> NDArray[np.uint8]:
    """Return so many bytes at each place, uint8[N, size]; all lie within the buffer."""
    found = np.ndarray((len(buffer) - size + 1,), f"V{size}", buffer, 0, (1,))[place]
    return found.view(np.uint8).reshape(len(place), size)
