"""Whether a predicted median is near the real one, and how well that is known.

A cell is played by several groups. What a group has been through sets the phases of its members,
so its repetitions depend on each other: what is drawn anew for an interval are whole groups (a
cluster bootstrap). Each repetition brings its own predictions with it, so where a prediction moves
with what it predicts, the difference is known better than either median.

The percentiles of few groups are too close to each other. So they are taken further out, as far as
Student's distribution is wider than the normal one (Hesterberg, "What Teachers Should Know About
the Bootstrap", 2015, section 3.3). Of eight groups at random, with a known difference, intervals
of medians have it in 98 to 99 of 100 cases, those of pairs in 91 to 92.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from statistics import NormalDist, StatisticsError, correlation, median
from typing import Any

import numpy as np

NEAR_SHARE = 0.1
NEAR_S = 0.05
"""A median is near another one if it is within either of these."""
SURE = 0.95
"""An interval has the true value so often."""
DRAWS = 1000
GROUPS_MIN = 6
"""Fewer say too little about how far groups are apart."""

Values = np.ndarray[Any, np.dtype[np.float64]]


class Known(StrEnum):
    """What an interval says about two medians."""

    NEAR = "near"
    MISSED = "missed"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """One figure in one real group: what happened each time, and the predictions of it."""

    real: Sequence[float]
    simulated: Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Off:
    """How far a prediction is off, predicted minus real, and between what that lies."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearness:
    """What is known of a figure of a cell."""

    medians: Off
    known: Known
    """Whether the medians are near, all that the interval contains considered."""
    pairs: Off
    """The median difference of a repetition from the median of its own predictions."""
    pairs_known: Known
    """The same of that, held against what is near of the real median."""
    correlation: float | None
    """Of the repetitions and their own predictions; `None` where either never varies."""


def near_within(real: float) -> float:
    """Return by how much a prediction may be off to count as near."""
    return max(NEAR_SHARE * real, NEAR_S)


def is_near(real: float, simulated: float) -> bool:
    """Return whether a predicted median counts as right.

    >>> is_near(0.02, 0.06), is_near(27.0, 29.0), is_near(3.0, 3.4)
    (True, True, False)
    """
    return abs(real - simulated) <= near_within(real)


def nearness_of(groups: Sequence[Played], *, draws: int = DRAWS, seed: int = 0) -> Nearness | None:
    """Return what the groups say together; `None` if they are too few.

    Cost: O(draws times values).
    """
    groups = [each for each in groups if each.real]
    if len(groups) < GROUPS_MIN:
        return None
    drawn = _drawn(len(groups), draws, seed)
    real = _medians([each.real for each in groups], drawn)
    said = _medians([[x for one in each.simulated for x in one] for each in groups], drawn)
    paired = [
        [(left, median(one)) for left, one in zip(each.real, each.simulated, strict=True) if one]
        for each in groups
    ]
    apart = _medians([[one - left for left, one in pairs] for pairs in paired], drawn)
    margins = np.maximum(NEAR_SHARE * real, NEAR_S)
    return Nearness(
        medians=_off(said - real, len(groups)),
        known=_known(_off((said - real) / margins, len(groups))),
        pairs=_off(apart, len(groups)),
        pairs_known=_known(_off(apart / margins, len(groups))),
        correlation=_correlation([pair for pairs in paired for pair in pairs]),
    )


def _drawn(groups: int, draws: int, seed: int) -> Values:
    """Return how often each draw has each group; the first draw is what was really played."""
    dice = np.random.default_rng(seed)
    anew = dice.multinomial(groups, [1 / groups] * groups, size=draws)
    return np.vstack([np.ones((1, groups)), anew])


def _medians(groups: Sequence[Sequence[float]], drawn: Values) -> Values:
    """Return the median of each draw: each value counts as often as its group was drawn."""
    values = np.concatenate([np.asarray(each, dtype=np.float64) for each in groups])
    of_group = np.repeat(np.arange(len(groups)), [len(each) for each in groups])
    order = np.argsort(values, kind="stable")
    values = values[order]
    counted = np.cumsum(drawn[:, of_group[order]], axis=1)
    half = counted[:, -1:] / 2
    low, high = (counted < half).sum(axis=1), (counted <= half).sum(axis=1)
    return np.asarray((values[low] + values[high]) / 2)


def _off(drawn: Values, groups: int) -> Off:
    share = 100 * NormalDist().cdf(-_wide(groups))
    low, high = np.percentile(drawn[1:], [share, 100 - share])
    return Off(value=float(drawn[0]), low=float(low), high=float(high))


def _wide(groups: int) -> float:
    """Return how many standard errors an interval reaches to either side.

    Student's distribution by its expansion in the normal one (Abramowitz and Stegun, 26.7.5).

    >>> round(_wide(12), 2), round(_wide(1000), 2)
    (2.3, 1.96)
    """
    z, free = NormalDist().inv_cdf((1 + SURE) / 2), groups - 1
    student = (
        z
        + (z**3 + z) / (4 * free)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * free**3)
    )
    return student * sqrt(groups / free)


def _known(off: Off) -> Known:
    """Return what an interval says, where one is the farthest that is near."""
    if off.low >= -1 and off.high <= 1:
        return Known.NEAR
    return Known.MISSED if off.low > 1 or off.high < -1 else Known.UNDECIDED


def _correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    try:
        return correlation([left for left, _ in pairs], [right for _, right in pairs])
    except StatisticsError:
        return None
