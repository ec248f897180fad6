"""The iteration orders of `hash_order`, `hash_trees` and `many_tables` for a few keys, on lists.

A call of numpy takes about a microsecond however little it does. Up to a few keys no bucket can
double a table early or become a tree, so the order is one sort by bucket; more keys take arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import eq

import numpy as np

from assignors.arrays import Int64
from assignors.jvm import hash_order, many_tables
from assignors.jvm.hash_order import (
    COMPUTE_CROWD,
    DEFAULT_CAPACITY,
    PUT_CROWD,
    TREE_CAPACITY,
    spread_of,
    string_hash,
    table_length,
)
from assignors.jvm.hash_trees import name_order

KEYS_MAX = 24
"""More keys take arrays. So many have a table of 32 buckets at most, none of which is a tree."""
NAMES_MAX = 128
"""The same of names, whose hash codes are kept: 30 take 8 us on lists and 25 on arrays, 100 take
24 and 38."""


def order_of_names(names: Sequence[str]) -> list[int]:
    """Return `hash_trees.name_order` as a list. Cost: O(total length + N log N).

    >>> order_of_names(["c0", "c1", "c10", "a"])
    [3, 2, 0, 1]
    """
    if len(names) <= NAMES_MAX:
        spread = list(map(_spread_of_name, names))
        # One key more than a table of 32 buckets holds makes it one of 64, which may have trees.
        doubles_early = _is_crowded(spread[: KEYS_MAX + 1], PUT_CROWD)
        if not doubles_early and not (
            len(names) > KEYS_MAX and _is_crowded(spread, PUT_CROWD, length=TREE_CAPACITY)
        ):
            return _by_bucket(spread, table_length(len(names)))
    return _listed(name_order(names))


@lru_cache(maxsize=4096)
def _spread_of_name(name: str) -> int:
    return spread_of(string_hash(name))


def order_of_put(hashes: Sequence[int], *, capacity: int = DEFAULT_CAPACITY) -> list[int]:
    """Return `hash_order.put_order` as a list.

    >>> order_of_put([17, 1, 5, 2])
    [0, 1, 3, 2]
    """
    if len(hashes) <= KEYS_MAX:
        spread = list(map(spread_of, hashes))
        if not _is_crowded(spread, PUT_CROWD):
            return _by_bucket(spread, table_length(len(hashes), capacity))
    return _listed(hash_order.put_order(np.array(hashes, dtype=np.int32), capacity=capacity))


def order_of_computed(hashes: Sequence[int], *, calls_follow: bool) -> list[int]:
    """Return `hash_order.compute_order` as a list.

    >>> order_of_computed([17, 1], calls_follow=False)
    [1, 0]
    """
    size = len(hashes)
    if size <= KEYS_MAX:
        spread = list(map(spread_of, reversed(hashes)))
        if not _is_crowded(spread, COMPUTE_CROWD):
            length = table_length(size if calls_follow else size - 1)
            return [size - 1 - place for place in _by_bucket(spread, length)]
    keys = np.array(hashes, dtype=np.int32)
    return _listed(hash_order.compute_order(keys, calls_follow=calls_follow))


def in_set_order(numbers: Sequence[int]) -> list[int]:
    """Return different natural numbers in the order of a hash set that they were put into.

    >>> in_set_order([17, 1, 5, 2])
    [17, 1, 2, 5]
    """
    length = table_length(len(numbers))
    if max(numbers, default=0) < length:
        return sorted(numbers)  # each in a bucket of its own
    if len(numbers) <= KEYS_MAX:
        spread = list(map(spread_of, numbers))
        if not _is_crowded(spread, PUT_CROWD):
            return [numbers[place] for place in _by_bucket(spread, length)]
    order = many_tables.put_order(np.array(numbers, dtype=np.int32))
    return [numbers[place] for place in order.tolist()]


def _listed(order: Int64) -> list[int]:
    listed: list[int] = order.tolist()
    return listed


def _by_bucket(spread: Sequence[int], length: int) -> list[int]:
    mask = length - 1
    bucket = [number & mask for number in spread]
    return sorted(range(len(bucket)), key=bucket.__getitem__)


def _is_crowded(spread: Sequence[int], crowd: int, *, length: int = DEFAULT_CAPACITY) -> bool:
    """Return whether so many keys share a bucket of this table: in a longer one it is split.

    The keys need not all have been in so short a table: True does no harm.
    """
    if len(spread) < crowd:
        return False
    bucket = sorted([number & (length - 1) for number in spread])
    return any(map(eq, bucket, bucket[crowd - 1 :]))
