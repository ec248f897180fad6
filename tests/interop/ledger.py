"""Who owned which partition when, and who consumed which record, by what members report.

Everything here is a function of the events of all members, ordered by one wall clock, and knows
nothing of Kafka. An ownership (`assignors.ownership`) lasts from the first line in which a member
says it has a partition to the line in which it says it has it no more; a killed member's ends at
the kill. Two rules are checked against it:

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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assignors.ownership.changes import Change
from assignors.ownership.double import overlaps
from assignors.ownership.intervals import Ownership, ownerships
from tests.interop.events import Event, Partition

CUT_OFF = frozenset({"killed", "died", "lost", "paused"})
"""Ends of an ownership before which nothing could be committed."""

ENDS_ALL = frozenset({"killed", "died", "closed", "paused"})


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


@dataclass(kw_only=True, slots=True)
class _Reports:
    """What one member owns by its own lines, while they are read in their order."""

    owned: frozenset[Partition] = frozenset()
    frozen: frozenset[Partition] | None = None
    """What the member owns in its own mind while it is frozen."""
    over_ms: int | None = None
    """When it was last frozen or ended: earlier lines that are read later change nothing."""


def changes(events: Iterable[Event]) -> Iterator[Change]:
    """What each member owns from its events on. `events` keep each member's own order."""
    reports: dict[str, _Reports] = {}
    for event in events:
        report = reports.setdefault(event.member, _Reports())
        before = report.owned
        _read(report, event)
        if report.owned != before:
            yield Change(
                at=event.t_ms,
                member_id=event.member,
                owned=_by_topic(report.owned),
                reason=event.kind,
                was_frozen=event.kind == "resumed",
            )


def _read(report: _Reports, event: Event) -> None:
    """Bring a member's report up to date."""
    if event.kind in ENDS_ALL:
        report.frozen = report.owned if event.kind == "paused" else None
        report.over_ms = event.t_ms
        report.owned = frozenset()
    elif event.kind == "resumed":
        report.owned |= report.frozen or frozenset()
        report.frozen = None
    elif report.frozen is not None:
        report.frozen = _after(event, report.frozen)
    elif report.over_ms is None or event.t_ms > report.over_ms:
        report.owned = _after(event, report.owned)


def _after(event: Event, owned: frozenset[Partition]) -> frozenset[Partition]:
    """What a member owns after one of its lines."""
    if event.kind == "assigned":
        return owned | event.partitions
    if event.kind in ("revoked", "lost"):
        return owned - event.partitions
    return event.partitions if event.kind == "view" else owned


def _by_topic(owned: Iterable[Partition]) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for topic, number in sorted(owned):
        found[topic] = (*found.get(topic, ()), number)
    return found


def owned_by(events: Iterable[Event]) -> list[Ownership]:
    """Every ownership, by partition, start and member. `events` keep each member's own order."""
    return sorted(
        ownerships(changes(events)),
        key=lambda one: (one.topic_partition, one.start, one.member_id),
    )


def owned_at(one: Ownership, t_ms: int) -> bool:
    """Whether an ownership lasts at that moment, ends included."""
    return one.start <= t_ms <= one.until


def windows(events: Sequence[Event], *, until_ms: int, longer_than_ms: int = 0) -> list[Window]:
    """Where two members own one partition at a time, for longer than that.

    What lasts still is taken to last until `until_ms`. A member's end and another's beginning in
    the same millisecond are no window.
    """
    listed = [replace(one, end=until_ms) if one.end is None else one for one in owned_by(events)]
    found = []
    for overlap in overlaps(listed, every_pair=True):
        assert overlap.end is not None
        if overlap.end - overlap.start > longer_than_ms:
            found.append(
                Window(
                    partition=overlap.topic_partition,
                    members=(overlap.first.member_id, overlap.second.member_id),
                    start_ms=overlap.start,
                    length_ms=overlap.end - overlap.start,
                    was_frozen=overlap.first.was_frozen or overlap.second.was_frozen,
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


def repeats(events: Sequence[Event]) -> list[Repeat]:
    """Every record that was consumed again, in runs of one reader after one other."""
    owned: dict[tuple[Partition, str], list[Ownership]] = defaultdict(list)
    for one in owned_by(events):
        owned[one.topic_partition, one.member_id].append(one)
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
                        one.ended_by in CUT_OFF or one.was_frozen
                        for one in owned[partition, before.member]
                        if owned_at(one, before.t_ms)
                    )
                    or any(
                        one.was_frozen
                        for one in owned[partition, event.member]
                        if owned_at(one, event.t_ms)
                    ),
                )
            )
    return found
