"""Topic names recognised inside a buffer, many at once and exactly.

A name is its length and its bytes as 8-byte words, with zeros behind its end. A hash of all of
them leads to one candidate, and every word of it is compared, so a wrong candidate is never
taken. Names whose places collide go into a further table.

All bytes of a name are copied out of the buffer by one call of numpy: reading a word at any place
takes as long as copying eight of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int64

UInt64 = NDArray[np.uint64]
Levels = tuple[tuple[np.uint64, Int64], ...]

NAME_BYTES_MAX = 256
"""Longer names are not recognised; Kafka's brokers allow 249 bytes."""
BLOCK = 64
"""So many bytes of names are read at once."""
TOGETHER_MAX = 1 << 14
"""So many names at once: what is computed of them stays in the processor's cache."""
LEVELS_MAX = 16
"""Tables in a row; names that collide in all of them, which takes an attack, are not recognised."""
WORD = 8
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
MULTIPLIERS = np.full(NAME_BYTES_MAX // WORD, MULTIPLIER).cumprod()
"""One for each word of a name."""
FOLD = np.uint64(29)
MASKS = np.array([(1 << (8 * size)) - 1 for size in range(WORD + 1)], dtype=np.uint64)
"""MASKS[n] keeps the first n bytes of a little-endian word."""
SMALL_TABLE_MAX = 1000
"""Tables of fewer names have four times as many places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NameTable:
    """T names, to be found by `find`."""

    length: Int64
    """int64[T]."""
    words: tuple[UInt64, ...]
    """W arrays uint64[T]: word k of a name starts at byte 8 k."""
    levels: Levels
    """Shift, and int64[2^(64 - shift)]: place -> name; where there is none, any."""
    common_length: int | None
    """Bytes of each name, `None` where they differ."""


def name_table(names: Sequence[bytes]) -> NameTable:
    """Return a table of different names; empty ones and those above `NAME_BYTES_MAX` match nothing.

    Cost: O(total length).

    >>> table = name_table([b"orders", b"payments"])
    >>> buffer = b"..payments..orders" + bytes(NAME_BYTES_MAX)
    >>> find(table, buffer, np.array([2, 12, 0]), np.array([8, 6, 4])).tolist()
    [1, 0, -1]
    """
    length = np.fromiter(map(len, names), np.int64, len(names))
    fitting = names
    if int(length.max(initial=0)) > NAME_BYTES_MAX:
        fitting = [name if len(name) <= NAME_BYTES_MAX else b"" for name in names]
        length[length > NAME_BYTES_MAX] = 0
    size = WORD * max(1, -(-int(length.max(initial=0)) // WORD))
    padded = np.array(fitting, dtype=f"S{size}")
    words = padded.view("<u8").reshape(len(fitting), size // WORD).T.copy()
    levels: list[tuple[np.uint64, Int64]] = []
    left, mixed = np.flatnonzero(length > 0), _mixed(words)
    spare = 4 if len(left) < SMALL_TABLE_MAX else 2
    while len(left) and len(levels) < LEVELS_MAX:
        shift = np.uint64(64 - len(left).bit_length() - spare)
        place = (mixed[left] >> shift).view(np.int64)
        places = np.zeros(1 << (64 - int(shift)), dtype=np.int64)
        places[place[::-1]] = left[::-1]  # of several the first stays
        levels.append((shift, places))
        left = left[places[place] != left]
        mixed = _rehashed(mixed)
    common = int(length[0]) if len(names) and not np.count_nonzero(length != length[0]) else None
    return NameTable(length=length, words=tuple(words), levels=tuple(levels), common_length=common)


def find(table: NameTable, buffer: bytes, start: Int64, length: Int64) -> Int64:
    """Return which name stands at `start` with `length` bytes, int64[N], -1 for none of them.

    `buffer` has `NAME_BYTES_MAX` bytes behind the last place. Cost: O(N x words).
    """
    longest = min(WORD * len(table.words), NAME_BYTES_MAX)
    if 0 < len(start) <= TOGETHER_MAX and not length.strides[0]:  # one number for all
        each = int(length[0])
        if 0 < each <= longest:
            return _found(table, words_of_one_length(buffer, start, each), each)
    found = np.full(len(start), -1, dtype=np.int64)
    fits: Int64 | None = None  # all of them
    if int(length.min(initial=1)) < 1 or int(length.max(initial=0)) > longest:
        fits = np.flatnonzero((length > 0) & (length <= longest))
    for begin in range(0, len(start) if fits is None else len(fits), TOGETHER_MAX):
        part = slice(begin, begin + TOGETHER_MAX)
        some = part if fits is None else fits[part]
        found[some] = _found_together(table, buffer, start[some], length[some])
    return found


def bytes_at(buffer: bytes, place: Int64, size: int) -> NDArray[np.uint8]:
    """Return so many bytes at each place, uint8[N, size]; all lie within the buffer."""
    found = np.ndarray((len(buffer) - size + 1,), f"V{size}", buffer, 0, (1,))[place]
    return found.view(np.uint8).reshape(len(place), size)


def column(records: NDArray[np.uint8], dtype: str | np.dtype[Any], first: int) -> NDArray[Any]:
    """Return the number at byte `first` of each row of `records`, uint8[N, S]. Cost: O(1)."""
    return np.ndarray((len(records),), dtype, records, first, (records.shape[1],))


def _found_together(table: NameTable, buffer: bytes, start: Int64, length: Int64) -> Int64:
    """Return what `find` does; no name is empty or longer than the longest of the table."""
    first = int(length[0])
    if bool((length == first).all()):
        return _found(table, words_of_one_length(buffer, start, first), first)
    # The longest names first: a word is read of names that have it, and of no others.
    order = np.argsort((NAME_BYTES_MAX - length).astype(np.uint8), kind="stable")
    length = length[order]
    found = np.empty(len(order), dtype=np.int64)
    found[order] = _found(table, _words(buffer, start[order], length), length)
    return found


def words_of_one_length(buffer: bytes, start: Int64, length: int) -> list[UInt64]:
    """Return the words of names that all have this length; `buffer` as in `find`."""
    words = []
    for begin in range(0, length, BLOCK):
        width = min(BLOCK, -(-(length - begin) // WORD) * WORD)
        records = bytes_at(buffer, start + begin if begin else start, width)
        words += [column(records, "<u8", at) for at in range(0, width, WORD)]
    if length % WORD:
        words[-1] = words[-1] & MASKS[length % WORD]
    return words


def _words(buffer: bytes, start: Int64, length: Int64) -> list[UInt64]:
    """Return the words of names, of which the longest stand first: as many as names have them."""
    size = -(-int(length[0]) // WORD) * WORD
    # How many names have more bytes than so many, or as many.
    longer = (-length).searchsorted(-np.arange(0, size + WORD, WORD)).tolist()
    whole = (-length).searchsorted(-np.arange(0, size + WORD, WORD), side="right").tolist()
    words = []
    for begin in range(0, size, BLOCK):
        width = min(BLOCK, size - begin)
        records = bytes_at(buffer, start[: longer[begin // WORD]] + begin, width)
        for at in range(begin, begin + width, WORD):
            k = at // WORD
            word: UInt64 = column(records, "<u8", at - begin)[: longer[k]]
            cut = slice(whole[k + 1], longer[k])
            word[cut] &= MASKS.take(length[cut] - at)
            words.append(word)
    return words


def _found(table: NameTable, words: Sequence[UInt64], length: Int64 | int) -> Int64:
    """Return which name has these words and this length, int64[N]; at least one is looked for.

    Each word may be that of fewer names, the first ones: the others end before it.
    """
    mixed = _mixed(words)
    found: Int64 | None = None
    left: Int64 | None = None  # all of them
    has_one_length = length == table.common_length if isinstance(length, int) else False
    last = len(table.levels) - 1
    for level, (shift, places) in enumerate(table.levels):
        candidate = places.take((mixed >> shift).view(np.int64))
        same = table.words[0].take(candidate) == words[0]
        for known, word in zip(table.words[1:], words[1:], strict=False):
            if len(word) == len(same):
                same &= known.take(candidate) == word
            else:
                same[: len(word)] &= known.take(candidate[: len(word)]) == word
        if not has_one_length:
            same &= table.length.take(candidate) == length
        other = (~same).nonzero()[0]
        candidate[other] = -1
        if found is None or left is None:
            found, left = candidate, other
        else:
            found[left] = candidate
            left = left[other]
        if not len(other) or level == last:
            break
        length = length if isinstance(length, int) else length[other]
        mixed = _rehashed(mixed[other])
        words = [word[other[: int(other.searchsorted(len(word)))]] for word in words]
    return np.full(len(mixed), -1) if found is None else found


def _mixed(words: Sequence[UInt64] | UInt64) -> UInt64:
    """Return bits that depend on every word, the highest ones most; zeros behind change nothing."""
    mixed: UInt64 = words[0] * MULTIPLIERS[0]
    for word, multiplier in zip(words[1:], MULTIPLIERS[1:], strict=False):
        if len(word) == len(mixed):
            mixed += word * multiplier
        else:
            mixed[: len(word)] += word * multiplier
    return mixed


def _rehashed(mixed: UInt64) -> UInt64:
    """Return other bits for every number. Source: Fibonacci hashing, Knuth, TAOCP 3, 6.4."""
    return (mixed ^ (mixed >> FOLD)) * MULTIPLIER
