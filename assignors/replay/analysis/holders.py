"""Who held a partition alone, moment by moment, and which life of its group a moment falls in.

Commits do not say who made them. What can be said is who held the partition then, where it was
one member alone: these spans are disjoint, so a commit falls into one of them or into none.
Both functions give spans, as a join on Spark needs them, and both engines ask them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assignors.replay.analysis.intervals import FOR_EVER, Interval, Place
from assignors.replay.history.model import Life


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """One member held one partition, and nobody else did."""

    topic: str
    partition: int
    member_id: str
    from_ms: int
    to_ms: int
    """The first moment after it; `FOR_EVER` if it lasts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The time of one life, as commits are counted to it."""

    life: int
    from_ms: int
    to_ms: int


def sole_holdings(intervals: Iterable[Interval]) -> list[Holding]:
    """Return when a partition had one holder, by place, then time. Cost: O(I log I + overlaps).

    >>> def held(member_id, start, end):
    ...     return Interval(topic="t", partition=0, member_id=member_id, from_ms=start, to_ms=end,
    ...                     from_generation=1)
    >>> [(one.member_id, one.from_ms, one.to_ms)
    ...  for one in sole_holdings([held("a", 0, 5), held("b", 3, 9)])]
    [('a', 0, 3), ('b', 5, 9)]
    """
    by_place: dict[Place, list[Interval]] = {}
    for interval in intervals:
        if interval.end_ms == interval.from_ms:
            continue  # it was over before anybody could see it
        by_place.setdefault(interval.place, []).append(interval)
    return [one for place, listed in by_place.items() for one in _alone(place, listed)]


def spans(lives: Iterable[Life]) -> list[Span]:
    """Return the time of each life: from its begin to the next one's.

    What happened before the first belongs to the first, and there is no time between two.
    """
    listed = list(lives)
    starts = [life.from_ms for life in listed]
    ends = [*starts[1:], FOR_EVER][: len(listed)]
    return [
        Span(life=life.number, from_ms=start if position else -FOR_EVER, to_ms=end)
        for position, (life, start, end) in enumerate(zip(listed, starts, ends, strict=True))
    ]


def _alone(place: Place, listed: list[Interval]) -> list[Holding]:
    """Return the spans of one partition with one holder, sweeping over begins and ends."""
    events = sorted(
        [(interval.from_ms, 1, position) for position, interval in enumerate(listed)]
        + [(interval.end_ms, 0, position) for position, interval in enumerate(listed)]
    )
    holding: dict[int, None] = {}
    found: list[Holding] = []
    since = 0
    for at_ms, is_begin, position in events:
        if len(holding) == 1 and at_ms > since:
            (only,) = holding
            found.append(
                Holding(
                    topic=place[0],
                    partition=place[1],
                    member_id=listed[only].member_id,
                    from_ms=since,
                    to_ms=at_ms,
                )
            )
        if is_begin:
            holding[position] = None
        else:
            holding.pop(position, None)
        since = at_ms
    return found
