"""Double ownership: two members own one partition at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

from assignors.ownership.changes import TopicPartition
from assignors.ownership.intervals import FOREVER, Ownership, by_partition


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Two members owned one partition, from `start` to before `end`."""

    first: Ownership
    """The one that began earlier."""
    second: Ownership
    start: int
    end: int | None
    """`None` while both last."""

    @property
    def topic_partition(self) -> TopicPartition:
        """Topic and partition number."""
        return self.second.topic_partition


def overlaps(listed: Iterable[Ownership], *, every_pair: bool = False) -> tuple[Overlap, ...]:
    """Return where two members own one partition, by partition, then start.

    An ownership is compared with one other: of those that last as it begins, the one that lasts
    longest. That covers every moment with two owners or more, at a cost of O(I log I) for I
    ownerships. With `every_pair` it is compared with all that last, so each pair of owners is
    found: O(I log I + overlaps). An end and a start at the same moment are no overlap.

    >>> def owned(member_id, start, end):
    ...     return Ownership(topic="t", partition=0, member_id=member_id, start=start, end=end)
    >>> listed = [owned("a", 0, 9), owned("b", 3, 6), owned("c", 4, None)]
    >>> [(one.first.member_id, one.second.member_id, one.start, one.end)
    ...  for one in overlaps(listed)]
    [('a', 'b', 3, 6), ('a', 'c', 4, 9)]
    >>> len(overlaps(listed, every_pair=True))
    3
    """
    met: list[Overlap] = []
    for group in by_partition(listed).values():
        lasting: list[Ownership] = []
        for one in sorted(group, key=attrgetter("start")):
            lasting = [other for other in lasting if other.until > one.start]
            met += [
                _overlap(other, one)
                for other in lasting
                if other.member_id != one.member_id and one.until > one.start
            ]
            lasting.append(one)
            if not every_pair:
                lasting = [max(lasting, key=attrgetter("until"))]
    return tuple(met)


def double_time(met: Iterable[Overlap]) -> int | None:
    """Return how long partitions had two owners or more, summed; `None` if no overlap has an end.

    The unit is partitions times the caller's unit of time. A moment with three owners counts once.
    Overlaps that last are left out. `met` is in the order of `overlaps`.
    """
    listed = list(met)
    closed = [overlap for overlap in listed if overlap.end is not None]
    if listed and not closed:
        return None
    total, last, until = 0, None, 0
    for overlap in closed:
        assert overlap.end is not None
        if overlap.topic_partition != last:
            last, until = overlap.topic_partition, overlap.start
        total += max(overlap.end - max(overlap.start, until), 0)
        until = max(until, overlap.end)
    return total


def _overlap(first: Ownership, second: Ownership) -> Overlap:
    end = min(first.until, second.until)
    return Overlap(
        first=first, second=second, start=second.start, end=None if end == FOREVER else end
    )
