"""Heavy partitions: bounds on the largest use that follow from partitions not being divisible.

Two arguments, for members that take everything; subscriptions only make it harder:

* i partitions are on at most i members, whose capacity is at most that of the i fastest. So
  some use is at least (sum of the i heaviest) / (sum of the i largest capacities).
* A member of use T at most holds, of the i heaviest, no more than fit when the lightest of
  them are taken first. If these numbers add up to less than i over all members, then T is
  impossible. With equal capacities this says that of the k M + 1 heaviest, k + 1 are on one
  member, whose weight is at least that of the k + 1 lightest of them.

The bound is the largest T that either refutes. Source: Graham (1969) and Coffman, Garey,
Johnson (1978) for equal members; the second argument for unequal ones is the same pigeonhole.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from assignors.problem import Int64
from assignors.weighted.ratios import floors, largest, nth_smallest

CROWD = 100
"""Most partitions for each member that are used: with more, the level is close."""

CELLS = 1 << 18
"""Most cells of partitions x different capacities."""


def heavy(weight: Int64, capacity: Int64) -> Fraction:
    """Return a use (weight / capacity) that no assignment can have below as its largest.

    `weight` is int64[P], at least 0, `capacity` int64[M], at least 1; sums below 2**53. No
    order matters. Cost: O(P log P + M log M), and for each of a few steps O(C log C) where C
    is partitions looked at x different capacities, at most `CELLS`.

    Three partitions and two members: two partitions share a member.

    >>> heavy(np.array([6, 5, 4]), np.array([1, 1]))
    Fraction(9, 1)
    >>> heavy(np.array([6, 5, 4]), np.array([2, 1]))
    Fraction(5, 1)
    """
    falling = np.sort(weight[weight > 0])[::-1]
    if not len(falling):
        return Fraction(0)
    assert len(capacity), "weight that nobody takes"
    if (capacity == capacity[0]).all():
        return _of_equal_members(falling, len(capacity), int(capacity[0]))
    fastest = np.sort(capacity)[::-1]
    few = min(len(falling), len(fastest))
    use = largest(np.cumsum(falling[:few]), np.cumsum(fastest[:few]))
    return _crowded(falling, capacity, use)


def _of_equal_members(falling: Int64, members: int, capacity: int) -> Fraction:
    """Return the largest use that either argument refutes where capacities are equal.

    That of the first is the heaviest partition, k = 0 of the second.
    """
    limit = min(len(falling), CROWD * members + 1, CELLS)
    prefix = np.append(0, np.cumsum(falling[:limit]))
    shared = np.arange((limit - 1) // members + 1)
    heaviest = shared * members + 1
    least = prefix[heaviest] - prefix[heaviest - shared - 1]
    return Fraction(int(least.max()), capacity)


def _crowded(falling: Int64, capacity: Int64, use: Fraction) -> Fraction:
    """Return the least use from `use` up that the second argument does not refute.

    Each step makes one of the refuted counts possible, for good, so there are at most as many
    steps as partitions looked at; a handful in practice, because the middle one is taken.
    """
    size, member_count = np.unique(capacity, return_counts=True)
    limit = min(len(falling), CROWD * len(capacity) + 1, max(CELLS // len(size), 1))
    prefix = np.concatenate([[0], np.cumsum(falling[:limit])])
    counts = np.arange(1, limit + 1)
    while True:
        first = np.searchsorted(prefix, prefix[1:, None] - floors(use, size))
        possible = (counts[:, None] - first) @ member_count
        refuted = counts[possible < counts]
        if not len(refuted):
            return use
        higher = _least_for(int(refuted[len(refuted) // 2]), prefix, size, member_count)
        assert higher > use, "a use was refuted that is possible"
        use = higher


def _least_for(count: int, prefix: Int64, size: Int64, member_count: Int64) -> Fraction:
    """Return the least use at which room for the `count` heaviest is not refuted.

    A member has room for j of them from the use on at which it holds the j lightest, so the
    uses at which room grows by one are known, and the count-th of them is the answer.
    """
    lightest = prefix[count] - prefix[count - 1 :: -1]
    return nth_smallest(
        np.tile(lightest, len(size)),
        np.repeat(size, count),
        count,
        np.repeat(member_count, count),
    )
