"""The iteration order of many hash tables at once: topics of members, numbers of topics.

A previous target is a map of sets for each member, hundreds of thousands of tables that hold a
few keys each. `hash_order` explains why the order of a table is one sort by bucket; here the
sorts of all tables are one. Only the rare table in which many keys fall into one bucket is
ordered by itself: a small one doubles early, and in a large one the bucket becomes a tree.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int32, Int64
from assignors.jvm.hash_order import (
    COMPUTE_CROWD,
    DEFAULT_CAPACITY,
    PUT_CROWD,
    SMALL,
    compute_order,
)
from assignors.jvm.hash_trees import tree_order
from assignors.problem import Bool

UInt32 = NDArray[np.uint32]
Numbers = Int32 | Int64 | UInt32


def put_orders(table: Int64, hashes: Int32) -> Int64:
    """Return the iteration order of sets that were filled by `put`, as positions.

    `table` (int64[K], ascending, numbered without gaps) says which set each key is in; the keys
    of one set are different and stand as they were put. Cost: O(K log K).

    >>> put_orders(np.array([0, 0, 1, 1]), np.array([17, 1, 5, 2], dtype=np.int32)).tolist()
    [0, 1, 3, 2]
    """
    size = np.bincount(table)
    bucket = _buckets(table, hashes, size)
    order = np.lexsort((narrow(bucket), narrow(table)))
    start = np.cumsum(size) - size
    for crowded in _crowded(table, hashes, size, start, crowd=PUT_CROWD).tolist():
        begin, end = int(start[crowded]), int(start[crowded] + size[crowded])
        order[begin:end] = begin + tree_order(hashes[begin:end], capacity=DEFAULT_CAPACITY)
    return order


def put_order(hashes: Int32) -> Int64:
    """Return the iteration order of one set that was filled by `put`, as positions."""
    return put_orders(np.zeros(len(hashes), dtype=np.int64), hashes)


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
    order = backwards[np.lexsort((narrow(bucket)[::-1], narrow(table)[::-1]))]
    start = np.cumsum(size) - size
    small = np.where(size <= SMALL, size, 0)  # ids are random: no trees in larger ones
    for crowded in _crowded(table, hashes, small, start, crowd=COMPUTE_CROWD).tolist():
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


def _crowded(table: Int64, hashes: Int32, size: Int64, start: Int64, *, crowd: int) -> Int64:
    """Return the tables in which some bucket gets `crowd` keys at some length of the table.

    Tables whose `size` is less than `crowd` cannot. `start` is the first key of each. Cost: O(K).
    """
    found = np.zeros(len(size), dtype=np.bool_)
    length, largest = DEFAULT_CAPACITY, int(size.max(initial=0))
    rank = np.arange(len(table)) - start[table] if largest >= crowd else table
    while largest >= crowd and largest > 0.375 * length:
        reaches = np.flatnonzero((size >= crowd) & (size > 0.375 * length))
        row = np.full(len(size), -1)
        row[reaches] = np.arange(len(reaches))
        keys = np.flatnonzero((row[table] >= 0) & (rank <= 0.75 * length))
        bucket = _spread(hashes[keys]) & np.uint32(length - 1)
        count = np.bincount(row[table[keys]] * length + bucket)
        found[reaches[np.flatnonzero(count >= crowd) // length]] = True
        length *= 2
    return np.flatnonzero(found)


def narrow(numbers: Numbers) -> Numbers | NDArray[np.uint16]:
    """Return the numbers in two bytes where they fit: numpy sorts those by radix.

    >>> [str(narrow(np.array(numbers)).dtype) for numbers in ([0, 65535], [0, 65536], [-1, 0])]
    ['uint16', 'int64', 'int64']
    """
    fits = numbers.max(initial=0) < 1 << 16 and numbers.min(initial=0) >= 0
    return numbers.astype(np.uint16) if fits else numbers
