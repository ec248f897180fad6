"""Java's hash codes, and the iteration order of one HashMap or HashSet without tree buckets.

Kafka's assignors iterate over HashMaps and HashSets, so their answers depend on hash codes, on
the size of tables and on how a key enters its bucket. Three facts make the order computable
without inserting key by key: doubling a table keeps the order within each bucket, `put` appends
to its bucket, and `computeIfAbsent` inserts at the front. So the order is one stable sort of the
keys by their bucket in the final table.

A table under 64 buckets doubles early when one bucket gets its ninth key; up to `SMALL` keys are
inserted one by one where that may happen. In a larger table such a bucket becomes a tree: that is
`hash_trees`. Many tables at once are ordered in `many_tables`.

Source: `java.util.HashMap` and `HashSet` of JDK 17 and 25, `String.hashCode`,
`TopicPartition.hashCode` and `Uuid.hashCode`, all checked by running them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import mul
from struct import unpack

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int32, Int64
from assignors.options import Jdk

DEFAULT_CAPACITY = 16
SMALL = 48
"""Up to so many keys a table can have fewer than 64 buckets, where a long bucket doubles it."""
TREE_CAPACITY = 64
POWERS = tuple(pow(31, exponent, 1 << 32) for exponent in reversed(range(64)))
PUT_CROWD, COMPUTE_CROWD = 9, 8
"""Keys of one bucket at which a small table doubles: the ninth put, the eighth computed."""


@lru_cache(maxsize=4096)
def string_hash(text: str) -> int:
    """Return `String.hashCode`, a signed 32-bit number. Names come again and again.

    >>> string_hash("topic-1"), string_hash("polygenelubricants")
    (-1139260653, -2147483648)
    """
    units: Sequence[int] = text.encode("latin-1") if text.isascii() else _utf16_units(text)
    number = 0
    for first in range(0, len(units), len(POWERS)):
        part = units[first : first + len(POWERS)]
        number = 31 ** len(part) * number + sum(map(mul, part, POWERS[-len(part) :])) & 0xFFFF_FFFF
    return number - (number >> 31 << 32)


def string_hashes(texts: Sequence[str]) -> Int32:
    """Return `String.hashCode` of each text, int32[N]: h = 31 h + unit over UTF-16 code units.

    Cost: O(total length). A lone surrogate counts as the code unit that it is.
    """
    blob = "".join(texts).encode("utf-16-le", "surrogatepass")
    length = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    if int(length.sum()) * 2 < len(blob):  # a character beyond 16 bits has two code units
        length = np.array([len(text.encode("utf-16-le", "surrogatepass")) // 2 for text in texts])
    total, longest = int(length.sum()), int(length.max(initial=0))
    if not total:
        return np.zeros(len(texts), dtype=np.int32)
    power = np.full(longest, 31, dtype=np.uint32)
    power[0] = 1
    power = np.multiply.accumulate(power, dtype=np.uint32)
    unit = np.frombuffer(blob, dtype="<u2").astype(np.uint32)
    if longest * len(texts) == total:  # of one length, as ids of members mostly are
        return (unit.reshape(-1, longest) @ power[::-1]).view(np.int32)
    hashes = np.zeros(len(texts), dtype=np.uint32)
    end = np.cumsum(length)
    unit *= power[np.repeat(end, length) - 1 - np.arange(total)]
    filled = np.flatnonzero(length)
    hashes[filled] = np.add.reduceat(unit, (end - length)[filled])
    return hashes.view(np.int32)


def partition_hashes(topic_hash: Int32, partition: Int32 | Int64) -> Int32:
    """Return `TopicPartition.hashCode` of each pair, int32[N].

    `topic_hash` is int32[N], `string_hashes` of the topic names; `partition` is [N]. Cost: O(N).
    """
    number = partition.astype(np.int64).astype(np.uint32)
    mixed = np.uint32(31) * (np.uint32(31) + number) + topic_hash.view(np.uint32)
    return mixed.view(np.int32)


def uuid_hashes(high: Int64, low: Int64) -> Int32:
    """Return `Uuid.hashCode` of UUIDs given as their halves, int64[N] each: int32[N].

    >>> uuid_hashes(np.array([1 << 32]), np.array([6])).tolist()
    [7]
    """
    mixed = high ^ low
    return ((mixed >> 32) ^ mixed).astype(np.int32)


def copied_set_capacity(size: int, jdk: Jdk) -> int:
    """Return the capacity that `new HashSet<>(collection)` asks for.

    The JDKs differ for 12, 24, 48, ... elements: 25 fits them exactly, 17 takes one more.

    >>> [copied_set_capacity(12, jdk) for jdk in (17, 25)]
    [17, 16]
    """
    if jdk == 17:
        return max(size * 4 // 3 + 1, DEFAULT_CAPACITY)
    return -(-max(size, 12) * 4 // 3)


def helper_capacity(size: int) -> int:
    """Return the capacity that Kafka's own `newHashMap` and `newHashSet` of a size ask for."""
    return int((size + 1) / 0.75 + 1)


def put_order(hashes: Int32, *, capacity: int = DEFAULT_CAPACITY) -> Int64:
    """Return the iteration order of different keys that were put, as positions in `hashes`.

    `capacity` is the constructor's. No bucket may grow into a tree: `hash_trees.tree_order`.
    Cost: O(N log N).

    >>> put_order(string_hashes(["c0", "c1", "c10", "a"])).tolist()
    [3, 2, 0, 1]
    """
    size = len(hashes)
    if _may_crowd(hashes, capacity, PUT_CROWD):
        return _inserted(hashes, capacity, PUT_CROWD, calls_follow=False)
    return np.argsort(_bucket(hashes, table_length(size, capacity)), kind="stable")


def compute_order(hashes: Int32, *, calls_follow: bool, capacity: int = DEFAULT_CAPACITY) -> Int64:
    """Return the iteration order of keys that `computeIfAbsent` made, positions in `hashes`.

    It looks at the table's size before it looks for the key, so the last key may leave a table
    too small; `calls_follow` says whether another call came after it, for whatever key.
    """
    size = len(hashes)
    if _may_crowd(hashes, capacity, COMPUTE_CROWD):
        return _inserted(hashes, capacity, COMPUTE_CROWD, calls_follow=calls_follow)
    length = table_length(size if calls_follow else size - 1, capacity)
    backwards = np.argsort(_bucket(hashes[::-1], length), kind="stable")
    return np.int64(size - 1) - backwards


def table_length(size: int, capacity: int = DEFAULT_CAPACITY) -> int:
    """Return the number of buckets of a table that has grown to `size` keys."""
    length = 1 << max(capacity - 1, 0).bit_length()
    while size > 0.75 * length:
        length *= 2
    return length


def spread_of(java_hash: int) -> int:
    """Return the number whose low bits are the bucket of a key: `HashMap.hash`, 32 bits."""
    unsigned = java_hash & 0xFFFFFFFF
    return unsigned ^ (unsigned >> 16)


@dataclass(slots=True)
class HashOrder:
    """A `HashSet` (or the keys of a `HashMap`) to which keys are added and removed.

    Keys are any hashable Python values, given with their Java hash. The table never shrinks. For
    the small sets that assignors change while they run.
    """

    length: int = DEFAULT_CAPACITY
    buckets: dict[int, list[tuple[int, object]]] = field(default_factory=dict)
    size: int = 0

    def add(self, key: object, java_hash: int) -> None:
        """Add a key, at the end of its bucket if it is new."""
        spread = spread_of(java_hash)
        bucket = self.buckets.setdefault(spread & (self.length - 1), [])
        if (spread, key) in bucket:
            return
        bucket.append((spread, key))
        if len(bucket) >= PUT_CROWD and self.length < TREE_CAPACITY:
            self._double()
        self.size += 1
        if self.size > 0.75 * self.length:
            self._double()

    def remove(self, key: object, java_hash: int) -> None:
        """Remove a key, if it is there."""
        spread = spread_of(java_hash)
        bucket = self.buckets.get(spread & (self.length - 1), [])
        if (spread, key) in bucket:
            bucket.remove((spread, key))
            self.size -= 1

    def __iter__(self) -> Iterator[object]:
        """Yield the keys in Java's order."""
        for number in sorted(self.buckets):
            for _, key in self.buckets[number]:
                yield key

    def _double(self) -> None:
        self.length *= 2
        entries = [self.buckets[number] for number in sorted(self.buckets)]
        self.buckets = {}
        for bucket in entries:
            for spread, key in bucket:
                self.buckets.setdefault(spread & (self.length - 1), []).append((spread, key))


def _utf16_units(text: str) -> tuple[int, ...]:
    blob = text.encode("utf-16-le", "surrogatepass")
    return unpack(f"<{len(blob) // 2}H", blob)


def _bucket(hashes: Int32, length: int) -> NDArray[np.uint32]:
    """Return the bucket of each hash in a table of `length` buckets, uint16 where that fits."""
    unsigned = np.ascontiguousarray(hashes).view(np.uint32)
    bucket = (unsigned ^ (unsigned >> np.uint32(16))) & np.uint32(length - 1)
    return bucket.astype(np.uint16) if length <= 1 << 16 else bucket  # radix sort


def _may_crowd(hashes: Int32, capacity: int, crowd: int) -> bool:
    """Return whether a bucket of a small table may get so many keys that the table doubles early.

    All keys are looked at in the table's first length: later ones have parts of these buckets.
    """
    if not crowd <= len(hashes) <= SMALL:
        return False
    bucket = _bucket(hashes, table_length(0, capacity))
    return int(np.bincount(bucket).max()) >= crowd


def _inserted(hashes: Int32, capacity: int, crowd: int, *, calls_follow: bool) -> Int64:
    """Return the order of a few keys, inserted one by one."""
    is_put = crowd == PUT_CROWD
    length = 1 << max(capacity - 1, 0).bit_length()
    spread = [spread_of(java_hash) for java_hash in hashes.tolist()]
    buckets: dict[int, list[int]] = {}

    def rehash() -> None:
        nonlocal length, buckets
        length *= 2
        order = [key for number in sorted(buckets) for key in buckets[number]]
        buckets = {}
        for key in order:
            buckets.setdefault(spread[key] & (length - 1), []).append(key)

    for key in range(len(spread)):
        if not is_put and key > 0.75 * length:
            rehash()
        bucket = buckets.setdefault(spread[key] & (length - 1), [])
        bucket.insert(len(bucket) if is_put else 0, key)
        if len(bucket) >= crowd and length < TREE_CAPACITY:
            rehash()
        if is_put and key + 1 > 0.75 * length:
            rehash()
    if not is_put and calls_follow and len(spread) > 0.75 * length:
        rehash()
    order = [key for number in sorted(buckets) for key in buckets[number]]
    return np.array(order, dtype=np.int64)
