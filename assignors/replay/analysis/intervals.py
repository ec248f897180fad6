"""From when to when each member held each partition, and where two did at a time.

Changes are folded one by one: what a member no longer holds ends an interval, what is new to
it begins one. Two open intervals of one partition are double ownership, whatever the reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import itemgetter

from assignors.replay.history.model import Change, Life, pairs

Place = tuple[str, int]
"""Topic and partition."""

FOR_EVER = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """One member held one partition."""

    topic: str
    partition: int
    member_id: str
    from_ms: int
    from_generation: int
    to_ms: int | None = None
    to_generation: int | None = None
    ended_by: str | None = None
    is_certain: bool = True

    @property
    def place(self) -> Place:
        """Topic and partition."""
        return self.topic, self.partition

    @property
    def end_ms(self) -> int:
        """When it ends, far away if it does not."""
        return FOR_EVER if self.to_ms is None else self.to_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Two members held one partition at a time."""

    first: Interval
    second: Interval
    from_ms: int
    to_ms: int | None


def intervals(life: Life) -> tuple[Interval, ...]:
    """Return every interval of a life, in order of their begin, then as the changes came.

    Cost: O(size of the changes), as each interval begins and ends once.
    """
    open_: dict[str, dict[Place, tuple[int, Interval]]] = {}
    done: list[tuple[int, Interval]] = []
    begun = 0
    for change in life.changes:
        mine = open_.setdefault(change.member_id, {})
        now = pairs(change.held)
        for place in [place for place in mine if place not in now]:
            order, interval = mine.pop(place)
            done.append((order, _ended(interval, change)))
        for place in now:
            if place not in mine:
                mine[place] = begun, _begun(place, change)
                begun += 1
            elif change.after_gap:
                order, interval = mine[place]
                mine[place] = order, replace(interval, is_certain=False)
    done += [
        (order, _closed(interval, life))
        for mine in open_.values()
        for order, interval in mine.values()
    ]
    found = [interval for _, interval in sorted(done, key=itemgetter(0))]
    if life.is_converted:
        found = [_with_reason(interval, life.to_ms) for interval in found]
    return tuple(_successors(found))


def overlaps(found: Iterable[Interval]) -> tuple[Overlap, ...]:
    """Return where two intervals of one partition overlap, by place, then time.

    An interval is held against one other, of those that are open as it begins the one that
    lasts longest: that covers every moment with two holders. Cost: O(I log I) for I intervals.
    """
    by_place: dict[Place, list[Interval]] = {}
    for interval in found:
        by_place.setdefault(interval.place, []).append(interval)
    met = []
    for listed in by_place.values():
        longest: Interval | None = None
        for interval in sorted(listed, key=lambda interval: interval.from_ms):
            if longest is not None and longest.end_ms > interval.from_ms:
                met.append(_overlap(longest, interval))
            if longest is None or interval.end_ms > longest.end_ms:
                longest = interval
    return tuple(overlap for overlap in met if overlap.to_ms != overlap.from_ms)


def double_ms(met: Iterable[Overlap]) -> int | None:
    """Return the partition-milliseconds with two holders or more; `None` if none has an end.

    A moment with three holders counts once. `met` is in the order of `overlaps`.
    """
    listed = list(met)
    closed = [overlap for overlap in listed if overlap.to_ms is not None]
    if listed and not closed:
        return None
    total, last, until = 0, None, 0
    for overlap in closed:
        assert overlap.to_ms is not None
        if overlap.first.place != last:
            last, until = overlap.first.place, overlap.from_ms
        total += max(overlap.to_ms - max(overlap.from_ms, until), 0)
        until = max(until, overlap.to_ms)
    return total


def _overlap(first: Interval, second: Interval) -> Overlap:
    end = min(first.end_ms, second.end_ms)
    return Overlap(
        first=first,
        second=second,
        from_ms=second.from_ms,
        to_ms=None if end == FOR_EVER else end,
    )


def _begun(place: Place, change: Change) -> Interval:
    return Interval(
        topic=place[0],
        partition=place[1],
        member_id=change.member_id,
        from_ms=change.at_ms,
        from_generation=change.generation,
    )


def _closed(interval: Interval, life: Life) -> Interval:
    """Return an interval that lasted to the end of the life, if the life has ended."""
    if life.to_ms is None:
        return interval
    last = life.generations[-1].number if life.generations else interval.from_generation
    reason = "converted" if life.is_converted else "group-ended"
    return replace(interval, to_ms=life.to_ms, to_generation=last, ended_by=reason)


def _ended(interval: Interval, change: Change) -> Interval:
    return replace(
        interval,
        to_ms=change.at_ms,
        to_generation=change.generation,
        ended_by="left" if change.is_gone else None,
        is_certain=interval.is_certain and not change.after_gap,
    )


def _with_reason(interval: Interval, to_ms: int | None) -> Interval:
    """Return an interval that the end of a converted life ended as such."""
    if interval.to_ms == to_ms and interval.ended_by == "left":
        return replace(interval, ended_by="converted")
    return interval


def _successors(found: list[Interval]) -> list[Interval]:
    """Return the intervals with why they ended: did somebody else have the partition at once."""
    starts: dict[Place, set[int]] = {}
    for interval in found:
        starts.setdefault(interval.place, set()).add(interval.from_ms)
    return [
        replace(
            interval,
            ended_by="moved" if interval.to_ms in starts[interval.place] else "withheld",
        )
        if interval.to_ms is not None and interval.ended_by is None
        else interval
        for interval in found
    ]
