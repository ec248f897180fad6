"""From rates and lags to weights: the records that wait within a horizon, as whole numbers.

A weight for every partition is needed, known or not. What is not known counts as the median of
its topic, else of all: a new partition is as likely to be busy as its neighbours.

A partition has one member, so what waits in it beyond the fair part of a whole member is not
processed sooner if it weighs more. It would only hide the load of others: where one partition
weighs as much as four members should have, no other member seems to have too much.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assignors.arrays import Int64
from assignors.weighting import LARGEST
from assignors.workload.numbered import Float64, NumberedPartitions

HORIZON_S = 300.0
"""How far ahead work is counted: as calm as a rate, and drains a backlog as fast as lag does."""

SUM_MAX = float(LARGEST >> 1)
"""Weights whose sum is above this are scaled down: with rounding it stays below 2**53."""


def work(
    rate: Float64,
    lag: Float64 | None = None,
    *,
    horizon_s: float = HORIZON_S,
    capacities: Sequence[int] = (),
) -> Float64:
    """Return rate x horizon + lag, float64[P], in records; NaN where the rate is not known.

    `rate` is float64[P], records a second; `lag` is float64[P], records: where it is NaN, or not
    given, it counts as 0. `capacities` are those of all members, above 0: with them, lag makes no
    partition heavier than the fair part of the largest one. Cost: O(P), and O(P log P) with
    capacities. Raises `ValueError` for a horizon that is not above 0.

    >>> work(np.array([2.0, np.nan]), np.array([50.0, 10.0]), horizon_s=100)
    array([250.,  nan])
    >>> work(np.array([1.0, 1.0, 1.0]), np.array([900.0, 0.0, 0.0]), horizon_s=100)
    array([1000.,  100.,  100.])
    >>> work(np.array([1.0] * 3), np.array([900.0, 0.0, 0.0]), horizon_s=100, capacities=[1, 1])
    array([200., 100., 100.])
    """
    if not 0 < horizon_s < float("inf"):
        raise ValueError(f"horizon_s: {horizon_s} is not above 0")
    ahead: Float64 = np.where((rate >= 0) & np.isfinite(rate), rate, np.nan) * horizon_s
    if lag is None:
        return ahead
    behind: Float64 = np.where((lag > 0) & np.isfinite(lag), lag, 0.0)
    whole = ahead + behind
    if not capacities:
        return whole
    return np.maximum(ahead, np.minimum(whole, _whole_member(whole, capacities)))


def _whole_member(waiting: Float64, capacities: Sequence[int]) -> float:
    """Return the fair part of the largest member, where no partition counts more than that.

    The heaviest partitions have members of their own as long as they are heavier than what is
    fair for the rest. What the last member has left is always fair, rounding or not.
    """
    known = np.sort(waiting[np.isfinite(waiting)])[::-1]
    largest, left = max(capacities), float(sum(capacities))
    rest = float(known.sum())
    for heaviest in known.tolist():
        fair = rest / left * largest
        if heaviest <= fair or left <= largest:
            return fair
        rest -= heaviest
        left -= largest
    return float("inf")


def weights_of(partitions: NumberedPartitions, known: Float64) -> dict[str, tuple[int, ...]]:
    """Return whole weights by topic, none where nothing is known. Cost: O(P log P).

    `known` is float64[P], NaN where not known: that counts as the median of its topic, else of
    all. Above 0 is at least 1. The sum stays below 2**53: larger ones are scaled down.

    >>> partitions = NumberedPartitions.of({"t": 3, "u": 1})
    >>> weights_of(partitions, np.array([9.6, np.nan, 0.2, np.nan]))
    {'t': (10, 1, 1), 'u': (1,)}
    """
    has = np.isfinite(known)
    if not has.any():
        return {}
    filled = np.where(has, known, 0.0)
    usual = _median(known[has])
    for topic, begin in enumerate(partitions.first[:-1]):
        part = slice(begin, partitions.first[topic + 1])
        if not has[part].all():
            mine = known[part][has[part]]
            filled[part][~has[part]] = _median(mine) if len(mine) else usual
    whole = _whole(filled).tolist()
    return {
        topic: tuple(whole[begin:end])
        for topic, begin, end in zip(
            partitions.topics, partitions.first[:-1], partitions.first[1:], strict=True
        )
    }


def _whole(values: Float64) -> Int64:
    """Return values above 0 as whole numbers from 1 on, with a sum below 2**53."""
    total = float(values.sum())
    if total > SUM_MAX:
        values = values / total * SUM_MAX
    rounded: Int64 = np.rint(values).astype(np.int64)
    return np.maximum(rounded, values > 0)


def _median(values: Float64) -> float:
    """Return the lower of the two in the middle."""
    return float(np.sort(values)[(len(values) - 1) // 2])
