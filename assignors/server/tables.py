"""The order of many hash tables at once: a member's topics, a topic's partition numbers.

A previous target is a map of sets for each member, hundreds of thousands of tables that hold a
few keys each. `assignors.hash_order` says why the order of a table is one sort by bucket; here
the sorts of all tables are one. Only the rare small table in which keys may crowd one
bucket is played through by itself.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from assignors.hash_order import (
    COMPUTE_CROWD,
    DEFAULT_CAPACITY,
    SMALL,
    Int32,
    Int64,
    compute_order,
    put_order,
)
from assignors.problem import Bool

UInt32 = NDArray[np.uint32]
Number = TypeVar("Number", bound=np.integer)


def put_orders(table: Int64, hashes: Int32) -> Int64:
    """Return the iteration order of sets that were filled by `put`, as positions.

    `table` (int64[K], ascending, numbered without gaps) says which set each key is in; the keys
    of one set are different and stand as they were put. Cost: O(K log K).

    >>> put_orders(np.array([0, 0, 1, 1]), np.array([17, 1, 5, 2], dtype=np.int32)).tolist()
    [0, 1, 3, 2]
    """
    size = np.bincount(table)
    bucket = _buckets(table, hashes, size)
    order = np.lexsort((_narrow(bucket), _narrow(table)))
    start = np.cumsum(size) - size
    for crowded in _crowded(table, hashes, size).tolist():
        begin, end = int(start[crowded]), int(start[crowded] + size[crowded])
        order[begin:end] = begin + put_order(hashes[begin:end])
    return order


def compute_orders(table: Int64, hashes: Int32, *, calls_follow: Bool) -> Int64:
    """Return the iteration order of maps whose keys `computeIfAbsent` made, as positions.

    As `put_orders`; `calls_follow` (bool, one entry a map) says whether another call came after
    the one that made the last key.

    >>> compute_orders(np.array([0, 0, 1, 1]), np.array([17, 1, 5, 2], dtype=np.int32),
    ...     calls_follow=np.array([False, True])).tolist()
    [1, 0, 3, 2]
    """
    size = np.bincount(table)
    bucket = _buckets(table, hashes, size - ~calls_follow)
    backwards = np.arange(len(table))[::-1]
    order = backwards[np.lexsort((_narrow(bucket)[::-1], _narrow(table)[::-1]))]
    start = np.cumsum(size) - size
    for crowded in _crowded(table, hashes, size).tolist():
        begin, end = int(start[crowded]), int(start[crowded] + size[crowded])
        follows = bool(calls_follow[crowded])
        order[begin:end] = begin + compute_order(hashes[begin:end], calls_follow=follows)
    return order


def _spread(hashes: Int32) -> UInt32:
    unsigned = np.ascontiguousarray(hashes).view(np.uint32)
    return unsigned ^ (unsigned >> np.uint32(16))


def _buckets(table: Int64, hashes: Int32, size: Int64) -> UInt32:
    """Return the bucket of each key, in a table grown for `size` keys."""
    limits = np.array([12 << doublings for doublings in range(28)])
    length = np.int64(DEFAULT_CAPACITY) << np.searchsorted(limits, size, side="left")
    mask = (length - 1).astype(np.uint32)
    return _spread(hashes) & mask[table]


def _crowded(table: Int64, hashes: Int32, size: Int64) -> Int64:
    """Return the tables in which one bucket may have grown long while the table was small."""
    chosen = np.flatnonzero((size >= COMPUTE_CROWD) & (size <= SMALL))
    if not len(chosen):
        return chosen
    row = np.full(len(size), -1)
    row[chosen] = np.arange(len(chosen))
    keys = np.flatnonzero(row[table] >= 0)
    lowest = _spread(hashes[keys]) & np.uint32(DEFAULT_CAPACITY - 1)
    count = np.bincount(row[table[keys]] * DEFAULT_CAPACITY + lowest)
    return chosen[np.unique(np.flatnonzero(count >= COMPUTE_CROWD) // DEFAULT_CAPACITY)]


def _narrow(numbers: Int64 | UInt32) -> NDArray[np.uint16] | Int64 | UInt32:
    """Return the numbers in two bytes where they fit: numpy sorts those by radix."""
    return numbers.astype(np.uint16) if numbers.max(initial=0) < 1 << 16 else numbers
