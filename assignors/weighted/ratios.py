"""Exact comparison of many fractions of integers, at the speed of floats.

float64 holds every integer below 2**53, and IEEE division is rounded correctly, so it never
reverses an order: a/b < c/d cannot give fl(a/b) > fl(c/d). The n-th of many fractions is thus
among those whose float is the n-th float, and only these few are compared as fractions.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from assignors.problem import Int64

EXACT = 1 << 53
"""Integers below it are exact as float64."""


def require_exact(weight: Int64, capacity: Int64) -> None:
    """Raise `ValueError` unless weights are >= 0, capacities >= 1, and both sums below 2**53.

    `weight` is int64[P], `capacity` int64[M]. The message names the first wrong index. O(P + M).
    """
    for name, values, least in (("weight", weight, 0), ("capacity", capacity, 1)):
        if values.dtype.kind not in "iu":
            raise ValueError(f"{name}: expected integers, found {values.dtype}")
        # A sum of what is not negative shows that each of it is small enough, too.
        if not len(values) or (values.min() >= least and _sum(values) < EXACT):
            continue
        wrong = np.flatnonzero(values < least)
        if len(wrong):
            raise ValueError(f"{name}[{wrong[0]}]: {values[wrong[0]]} is below {least}")
        large = np.flatnonzero(values >= EXACT)
        if len(large):
            raise ValueError(f"{name}[{large[0]}]: {values[large[0]]} is not below 2**53")
        raise ValueError(f"{name}: the sum is not below 2**53")


def _sum(values: Int64) -> float:
    return float(values.sum(dtype=np.float64))


def largest(numerator: Int64, denominator: Int64) -> Fraction:
    """Return the largest of the fractions, 0 where there are none. Cost: O(N).

    Both are int64[N], below 2**53, the denominators at least 1.

    >>> largest(np.array([1, 2, 5]), np.array([2, 3, 8]))
    Fraction(2, 3)
    """
    if not len(numerator):
        return Fraction(0)
    return nth_smallest(numerator, denominator, len(numerator))


def nth_smallest(
    numerator: Int64, denominator: Int64, rank: int, times: Int64 | None = None
) -> Fraction:
    """Return the fraction at `rank`, from 1, in ascending order.

    `numerator` and `denominator` are int64[N], below 2**53, the denominators at least 1.
    `times`, int64[N], says how often each fraction counts; `None` is once each.
    Cost: O(N), with `times` O(N log N).

    >>> nth_smallest(np.array([1, 2, 3]), np.array([2, 4, 4]), 2)
    Fraction(1, 2)
    >>> nth_smallest(np.array([1, 3]), np.array([2, 4]), 5, np.array([4, 1]))
    Fraction(3, 4)
    """
    if times is None and (denominator == denominator[0]).all():
        assert 1 <= rank <= len(numerator), "no fraction has this rank"
        value = int(np.partition(numerator, rank - 1)[rank - 1])
        return Fraction(value, int(denominator[0]))
    ratio = numerator / denominator
    count = np.ones(len(ratio), dtype=np.int64) if times is None else times
    assert 1 <= rank <= int(count.sum()), "no fraction has this rank"
    if times is None:
        value = np.partition(ratio, rank - 1)[rank - 1]
    else:
        order = np.argsort(ratio, kind="stable")
        value = ratio[order[np.searchsorted(np.cumsum(times[order]), rank)]]
    same = np.flatnonzero(ratio == value)
    left = rank - int(count[ratio < value].sum())
    found: dict[tuple[int, int], int] = {}
    for top, bottom, often in zip(
        numerator[same].tolist(), denominator[same].tolist(), count[same].tolist(), strict=True
    ):
        found[top, bottom] = found.get((top, bottom), 0) + often
    for fraction, often in sorted((Fraction(*pair), often) for pair, often in found.items()):
        left -= often
        if left <= 0:
            return fraction
    raise AssertionError("fewer fractions than were counted")


def floors(use: Fraction, capacity: Int64) -> Int64:
    """Return the largest integer weight that each capacity holds at `use`, below 2**53.

    `capacity` is int64[N], so is the result. Cost: O(N), one division of integers for each that
    differs.

    >>> floors(Fraction(5, 2), np.array([1, 2, 3])).tolist()
    [2, 5, 7]
    """
    listed = capacity.tolist()
    known = {one: floor_at(use, one) for one in set(listed)}
    return np.fromiter(map(known.__getitem__, listed), np.int64, len(listed))


def floor_at(use: Fraction, capacity: int) -> int:
    """Return the largest integer weight that a capacity holds at `use`, below 2**53."""
    return min(use.numerator * capacity // use.denominator, EXACT - 1)
