"""The judge's books: who owned which partition when, and who consumed what.

Everything here is a function of the events of all members, ordered by one wall clock, and knows
nothing of Kafka. An ownership lasts from the first line in which a member says it has a partition
to the line in which it says it has it no more; a killed member's ends at the kill. Two rules are
checked against it:

* nobody else owns a partition meanwhile (`windows` finds where somebody does);
* every record is consumed (`unread`), and none twice, unless the first reader was cut off before
  it could commit or the second one had slept (`repeats`).

A frozen member owns on in its own mind: after it wakes it may go on for a moment until it learns
that the group went on without it. Kafka guards the offsets against such a member, not the
callbacks; an ownership that was carried over a freeze is marked, and its windows with it. What
such a member fetched before it froze it hands out when it wakes.

Who freezes or kills a member writes that down at once; a line of the member's from just before
may be read after it, and is taken as what it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from tests.interop.events import Event, Partition

CUT_OFF = frozenset({"killed", "died", "lost", "paused"})
"""Ends of an ownership before which nothing could be committed."""

ENDS_ALL = frozenset({"killed", "died", "closed", "paused"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Ownership:
    """A member's possession of a partition, from one of its lines to another."""

    partition: Partition
    member: str
    start_ms: int
    end_ms: int | None
    """None while it lasts."""
    end: str = ""
    """The kind of event that ended it."""
    was_frozen: bool = False
    """Whether it began before the member was frozen, and goes on after it."""

    def holds_at(self, t_ms: int) -> bool:
        """Whether it lasts at that moment, ends included."""
        return self.start_ms <= t_ms and (self.end_ms is None or t_ms <= self.end_ms)


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """A time in which two members say they own one partition."""

    partition: Partition
    members: tuple[str, str]
    """The earlier owner first."""
    start_ms: int
    length_ms: int
    was_frozen: bool
    """Whether a member that woke up is one of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Repeat:
    """A run of records that was consumed a second time."""

    partition: Partition
    first: int
    last: int
    members: tuple[str, str]
    """Who consumed it before, and who again."""
    t_ms: int
    is_excused: bool
    """Whether the first reader was cut off before it could commit, or the second one had slept."""


class _Book:
    """One member's ownerships while its events are read in their order."""

    def __init__(self, member: str) -> None:
        self.closed: list[Ownership] = []
        self._member = member
        self._open: dict[Partition, tuple[int, bool]] = {}
        self._frozen: frozenset[Partition] | None = None
        """What the member has while it is frozen."""
        self._over_ms: int | None = None

    def take(self, event: Event) -> None:
        if event.kind in ENDS_ALL:
            self._frozen = frozenset(self._open) if event.kind == "paused" else None
            self._over_ms = event.t_ms
            self._end(self._open, event)
        elif event.kind == "resumed":
            self._begin(self._frozen or (), event, was_frozen=True)
            self._frozen = None
        elif self._frozen is not None:
            self._frozen = _after(event, self._frozen)
        elif self._over_ms is not None and event.t_ms <= self._over_ms:
            pass
        elif event.kind == "assigned":
            self._begin(event.partitions, event)
        elif event.kind in ("revoked", "lost"):
            self._end(event.partitions, event)
        elif event.kind == "view":
            self._begin(event.partitions, event)
            self._end(self._open.keys() - event.partitions, event)

    def all(self) -> list[Ownership]:
        lasting = [
            Ownership(
                partition=partition,
                member=self._member,
                start_ms=start_ms,
                end_ms=None,
                was_frozen=was_frozen,
            )
            for partition, (start_ms, was_frozen) in self._open.items()
        ]
        return self.closed + lasting

    def _begin(self, given: Iterable[Partition], event: Event, *, was_frozen: bool = False) -> None:
        for partition in sorted(given):
            self._open.setdefault(partition, (event.t_ms, was_frozen))

    def _end(self, taken: Iterable[Partition], event: Event) -> None:
        for partition in sorted(taken):
            if partition in self._open:
                start_ms, was_frozen = self._open.pop(partition)
                self.closed.append(
                    Ownership(
                        partition=partition,
                        member=self._member,
                        start_ms=start_ms,
                        end_ms=max(event.t_ms, start_ms),
                        end=event.kind,
                        was_frozen=was_frozen,
                    )
                )


def _after(event: Event, had: frozenset[Partition]) -> frozenset[Partition]:
    """What a member had when it froze, by a line it wrote before and that was read after."""
    if event.kind == "assigned":
        return had | event.partitions
    if event.kind in ("revoked", "lost"):
        return had - event.partitions
    return event.partitions if event.kind == "view" else had


def ownerships(events: Sequence[Event]) -> list[Ownership]:
    """Every ownership, by partition and start. `events` keep each member's own order."""
    books: dict[str, _Book] = {}
    for event in events:
        books.setdefault(event.member, _Book(event.member)).take(event)
    found = [one for book in books.values() for one in book.all()]
    return sorted(found, key=lambda one: (one.partition, one.start_ms, one.member))


def windows(events: Sequence[Event], *, until_ms: int, longer_than_ms: int = 0) -> list[Window]:
    """Where two members own one partition at a time, for longer than that.

    What lasts still is taken to last until `until_ms`. A member's end and another's beginning in
    the same millisecond are no window.
    """
    by_partition: dict[Partition, list[Ownership]] = defaultdict(list)
    for one in ownerships(events):
        by_partition[one.partition].append(one)
    found = []
    for partition, owners in by_partition.items():
        for before, after in combinations(owners, 2):
            if before.member == after.member:
                continue
            ends = [until_ms if one.end_ms is None else one.end_ms for one in (before, after)]
            length_ms = min(ends) - after.start_ms
            if length_ms > longer_than_ms:
                found.append(
                    Window(
                        partition=partition,
                        members=(before.member, after.member),
                        start_ms=after.start_ms,
                        length_ms=length_ms,
                        was_frozen=before.was_frozen or after.was_frozen,
                    )
                )
    return sorted(found, key=lambda window: (window.start_ms, window.partition))


def unread(events: Iterable[Event], written: Mapping[Partition, int]) -> dict[Partition, list[int]]:
    """The sequence numbers nobody consumed, of those below `written`; partitions without any left
    out."""
    read: dict[Partition, set[int]] = defaultdict(set)
    for event in events:
        if event.kind == "records":
            (partition,) = event.partitions
            read[partition].update(range(event.first, event.last + 1))
    missing = {
        partition: sorted(set(range(count)) - read[partition])
        for partition, count in written.items()
    }
    return {partition: numbers for partition, numbers in missing.items() if numbers}


def first_reader(events: Iterable[Event], partition: Partition, sequence: int) -> str:
    """Who consumed a record first; empty where nobody did."""
    runs = [
        event
        for event in events
        if event.kind == "records"
        and partition in event.partitions
        and event.first <= sequence <= event.last
    ]
    return min(runs, key=lambda run: run.t_ms).member if runs else ""


def repeats(events: Sequence[Event]) -> list[Repeat]:
    """Every record that was consumed again, in runs of one reader after one other."""
    owned: dict[tuple[Partition, str], list[Ownership]] = defaultdict(list)
    for one in ownerships(events):
        owned[one.partition, one.member].append(one)
    readers: dict[Partition, dict[int, Event]] = defaultdict(dict)
    found = []
    runs = [event for event in events if event.kind == "records"]
    for event in sorted(runs, key=lambda run: run.t_ms):
        (partition,) = event.partitions
        known = readers[partition]
        again: dict[Event, list[int]] = defaultdict(list)
        for sequence in range(event.first, event.last + 1):
            if sequence in known:
                again[known[sequence]].append(sequence)
            known[sequence] = event
        for before, numbers in again.items():
            found.append(
                Repeat(
                    partition=partition,
                    first=numbers[0],
                    last=numbers[-1],
                    members=(before.member, event.member),
                    t_ms=event.t_ms,
                    is_excused=any(
                        one.end in CUT_OFF or one.was_frozen
                        for one in owned[partition, before.member]
                        if one.holds_at(before.t_ms)
                    )
                    or any(
                        one.was_frozen
                        for one in owned[partition, event.member]
                        if one.holds_at(event.t_ms)
                    ),
                )
            )
    return found
