"""The time scale of a chart: every time between two rebalances is wide enough to be seen.

Five rebalances in a minute and then none for a day would be one thick line on a linear scale.
So each interval between two generations gets a minimum width, and the rest of the width is shared
out by duration. Inside an interval time runs evenly. Intervals that are drawn much shorter than
a linear scale would draw them are marked.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

WIDTH = 960
"""Pixels of a chart, unless its intervals need more: then it is wider, and scrolls."""

WIDTH_MIN = 26
"""Pixels that every interval has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeInterval:
    """The time between two generations, and where it is drawn: pixels from the left."""

    from_ms: int
    to_ms: int
    left: float
    right: float
    is_shortened: bool
    """Whether it has less than half of the width of its share of the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeScale:
    """From epoch milliseconds to pixels from the left."""

    intervals: tuple[TimeInterval, ...]

    @property
    def width(self) -> float:
        """Pixels of the whole scale."""
        return self.intervals[-1].right

    @property
    def from_ms(self) -> int:
        """Where the scale begins."""
        return self.intervals[0].from_ms

    @property
    def to_ms(self) -> int:
        """Where the scale ends."""
        return self.intervals[-1].to_ms

    def at(self, at_ms: int) -> float:
        """Return where a time is drawn; times outside are drawn at the edge. O(log intervals).

        >>> time_scale([0, 1000], end_ms=2000).at(500)
        240.0
        """
        at_ms = min(max(at_ms, self.from_ms), self.to_ms)
        place = bisect_right(self.intervals, at_ms, key=_from_ms) - 1
        interval = self.intervals[max(place, 0)]
        duration_ms = interval.to_ms - interval.from_ms
        share = (at_ms - interval.from_ms) / duration_ms if duration_ms else 0.0
        return interval.left + share * (interval.right - interval.left)


def time_scale(times_ms: Iterable[int], *, end_ms: int) -> TimeScale:
    """Return the scale of the intervals that begin at `times_ms`; the last ends at `end_ms`.

    >>> [(round(interval.left), round(interval.right)) for interval in
    ...     time_scale([0, 10, 20], end_ms=100_000).intervals]
    [(0, 26), (26, 52), (52, 960)]
    """
    starts = sorted(set(times_ms))
    assert starts, "a chart without a begin"
    ends = [*starts[1:], max(end_ms, starts[-1])]
    total = max(ends[-1] - starts[0], 1)
    shared = max(WIDTH - WIDTH_MIN * len(starts), WIDTH / 3)
    width = WIDTH_MIN * len(starts) + shared
    intervals: list[TimeInterval] = []
    left = 0.0
    for from_ms, to_ms in zip(starts, ends, strict=True):
        share = (to_ms - from_ms) / total
        right = left + WIDTH_MIN + shared * share
        intervals.append(
            TimeInterval(
                from_ms=from_ms,
                to_ms=to_ms,
                left=left,
                right=right,
                is_shortened=right - left < width * share / 2,
            )
        )
        left = right
    return TimeScale(intervals=tuple(intervals))


def _from_ms(interval: TimeInterval) -> int:
    return interval.from_ms
