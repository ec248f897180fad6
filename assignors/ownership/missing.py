"""Missing ownership: times in which a wanted partition has no owner.

For simulations, whose observer knows at each moment which partitions are wanted. Replay's finding
`unassigned` is another concept: there the records say which generation left a partition out, and
one that is withheld for a hand-over, which is a gap here, is none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter

from assignors.ownership.changes import TopicPartition
from assignors.ownership.intervals import Ownership, by_partition


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A partition had no owner, from `start` to before `end`."""

    topic: str
    partition: int
    start: int
    end: int


def gaps(
    listed: Iterable[Ownership], wanted: Iterable[TopicPartition], *, start: int, end: int
) -> list[Gap]:
    """Return when each of the `wanted` partitions had no owner, of the time from `start` to `end`.

    In the order of `wanted`, then time. Raises `ValueError` where `end` is before `start`.
    Cost: O(I log I + wanted) for I ownerships.

    >>> owned = Ownership(topic="t", partition=0, member_id="a", start=2, end=5)
    >>> [(gap.start, gap.end) for gap in gaps([owned], [("t", 0)], start=0, end=9)]
    [(0, 2), (5, 9)]
    """
    if end < start:
        raise ValueError(f"from {start} to {end}: the end is before the start")
    owned = by_partition(listed)
    return [
        gap
        for topic, partition in wanted
        for gap in _gaps(topic, partition, owned.get((topic, partition), []), (start, end))
    ]


def _gaps(
    topic: str, partition: int, listed: list[Ownership], within: tuple[int, int]
) -> Iterator[Gap]:
    since, end = within
    for one in sorted(listed, key=attrgetter("start")):
        if min(one.start, end) > since:
            yield Gap(topic=topic, partition=partition, start=since, end=min(one.start, end))
        since = max(since, one.until)
    if since < end:
        yield Gap(topic=topic, partition=partition, start=since, end=end)
