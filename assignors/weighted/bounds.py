"""Bounds on the largest use of a group, for anybody's assignment.

The use of a member is the weight that it is given, divided by its capacity. Weights may be
rates, lags, or anything else that adds up. To place them so that the largest use is least is
NP-hard; these bounds limit how far from the best any assignment is, whichever assignor made it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from assignors.optimal.prices import prices
from assignors.optimal.rows import topic_rows
from assignors.problem import Bool, Int32, Int64
from assignors.weighted.heavy import heavy
from assignors.weighted.level import level
from assignors.weighted.ratios import require_exact


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Uses that no assignment can have below as its largest, in weight per capacity."""

    level: Fraction
    """The largest use that divisible partitions would reach."""
    heavy: Fraction
    """The bound from the heaviest partitions, which cannot be divided."""

    @property
    def use(self) -> Fraction:
        """The better of both."""
        return max(self.level, self.heavy)


def bounds(
    *,
    weight: Int64,
    topic_of: Int32,
    takes: Bool,
    class_of: Int32,
    capacity: Int64,
) -> Bounds:
    """Return uses that no assignment of the group can be below.

    `weight` is int64[P], at least 0; `topic_of` is int32[P]; `takes` is bool[K, T], which
    topics a class of members subscribes to; `class_of` is int32[M]; `capacity` is int64[M], at
    least 1. Partitions that no member takes do not count.
    `ValueError` for negative weights, capacities below 1, or sums of 2**53 and more.
    Cost: O(P log P + M log M), two maximum flows on rows x classes for each split into levels,
    and O(P) for each distinct set of takers that may have a better heavy bound.

    >>> found = bounds(
    ...     weight=np.array([900, 20, 20]),
    ...     topic_of=np.array([0, 0, 0], dtype=np.int32),
    ...     takes=np.array([[True]]),
    ...     class_of=np.array([0, 0], dtype=np.int32),
    ...     capacity=np.array([1, 1]),
    ... )
    >>> found.level, found.heavy
    (Fraction(470, 1), Fraction(900, 1))
    """
    require_exact(weight, capacity)
    counts = np.bincount(topic_of, minlength=takes.shape[1])
    row_of_topic, row_takes = topic_rows(np.append(0, np.cumsum(counts)), takes, class_of)
    row_of = row_of_topic[topic_of]
    wanted = (row_of >= 0) & (weight > 0)
    weight, row_of = weight[wanted], row_of[wanted]
    size = np.zeros(len(row_takes), dtype=np.int64)
    np.add.at(size, row_of, weight)
    of_class = np.zeros(len(takes), dtype=np.int64)
    np.add.at(of_class, class_of, capacity)
    lowest = level(size=size, takes=row_takes, capacity=of_class, prices=prices)
    return Bounds(level=lowest, heavy=_heavy_of_rows(weight, row_of, row_takes, class_of, capacity))


def _heavy_of_rows(
    weight: Int64, row_of: Int32, row_takes: Bool, class_of: Int32, capacity: Int64
) -> Fraction:
    """Return the best heavy bound among all members and the takers of each row.

    For the takers N of a row, the partitions that nobody outside N takes are a group of their
    own. To place each in turn where the use is least afterwards never exceeds
    (W + (n - 1) w) / C, with the sum W and the largest w of the weights, and n members whose
    capacities sum to C (Graham). The bound of a group is no larger than what can be reached, so
    a group that cannot improve the best is left out.
    """
    if not len(weight):
        return Fraction(0)
    anybody = row_takes.any(axis=0, keepdims=True)
    pools: Bool = np.unique(np.concatenate([row_takes, anybody]), axis=0)
    outside = row_takes.astype(np.float32) @ (~pools).astype(np.float32).T  # R x pools, counts
    inside = outside == 0
    size, top = np.zeros(len(inside), dtype=np.int64), np.zeros(len(inside), dtype=np.int64)
    np.add.at(size, row_of, weight)
    np.maximum.at(top, row_of, weight)
    best, candidates = Fraction(0), []
    for pool, part in enumerate(inside.T):
        member = pools[pool, class_of]
        rest = (int(member.sum()) - 1) * int(top[part].max(initial=0))
        most = Fraction(int(size[part].sum()) + rest, int(capacity[member].sum()))
        candidates.append((most, pool))
    for most, pool in sorted(candidates, reverse=True):
        if most <= best:
            break
        best = max(best, heavy(weight[inside[row_of, pool]], capacity[pools[pool, class_of]]))
    return best
