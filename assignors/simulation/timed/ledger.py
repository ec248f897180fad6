"""Who really consumes which partition, whatever anybody believes, and what that cost.

Every start and end of consumption is recorded as it happens. Costs are running sums, so a long run
needs no more memory than a short one: how long partitions had no consumer, or two.

Eager members give up everything in every round, and most take the same again. As long as nobody
else has to do with their partitions, all of these cost the same, and are not looked at (`give_up`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.ownership.changes import Change, changed_topics
from wire import TopicPartitions


@dataclass(slots=True)
class _Partition:
    """One partition: who consumes it now, since when nobody does, and who did last."""

    since: int
    consumers: list[str]
    last: str | None = None
    double_since: int = 0


class Away(NamedTuple):
    """What a member has given up, all that it consumed, and may take again."""

    since: int
    owned: TopicPartitions
    size: int
    """So many partitions."""


@dataclass(slots=True, kw_only=True)
class Ledger:
    """Consumption as it is. Times are microseconds since the run began."""

    count_from: int = 0
    """From when on costs are counted."""
    changed_at: int = 0
    """When somebody last began or ended to consume something."""
    keeps_changes: bool = False
    """Whether every change is kept, for `assignors.ownership`."""
    changes: list[Change] = field(default_factory=list)
    unavailable: int = 0
    """Partitions times microseconds without a consumer."""
    longest_gap: int = 0
    gaps: int = 0
    moves: int = 0
    """How often a partition went to another member than the one before."""
    double: int = 0
    """Partitions times microseconds with two consumers or more."""
    longest_double: int = 0
    """The longest time a partition had two consumers or more, in microseconds."""
    doubled: set[tuple[str, int]] = field(default_factory=set)
    """Partitions with two consumers or more now."""
    deleted: set[str] = field(default_factory=set)
    """Topics that are no more, or were not for some time: members may still believe in them."""
    partitions: dict[str, list[_Partition]] = field(default_factory=dict)
    consumed: dict[str, TopicPartitions] = field(default_factory=dict)
    """Member name -> what it consumes."""
    loads: dict[str, int] = field(default_factory=dict, compare=False)
    """Member name -> how many partitions that is."""
    consumed_count: int = 0
    """How many that is of all members."""
    away: dict[str, Away] = field(default_factory=dict)
    """By name, members that have given up everything, though `partitions` has them still."""
    look_closely: Callable[[], None] | None = field(default=None, compare=False)
    """Brings up to date what members consume, where that is recorded later than it happens."""
    odd: set[str] = field(default_factory=set, compare=False)
    """Members that began to consume a partition beside another one, or one that did not exist."""

    def grow(self, at: int, topic: str, count: int) -> None:
        """Let a topic have `count` partitions from `at` on; existing ones stay. Cost: O(new)."""
        listed = self.partitions.setdefault(topic, [])
        listed += [_Partition(at, []) for _ in range(count - len(listed))]

    def drop(self, at: int, topic: str) -> None:
        """Forget a topic that is deleted: nobody consumes it from `at` on. Cost: O(its members)."""
        self.look_at_all()
        for member, owned in self.consumed.items():
            if topic in owned:
                rest = {each: numbers for each, numbers in owned.items() if each != topic}
                self.consume(at, member, rest, "deleted")
        for partition in self.partitions.pop(topic):
            if partition.last is not None:
                self._count_gap(at, partition)
        self.deleted.add(topic)

    def consume(self, at: int, member: str, owned: TopicPartitions, reason: str) -> bool:
        """Let a member consume exactly `owned` from `at` on; return whether it lost something.

        Cost: O(partitions that change).
        """
        if self.deleted:
            owned = {topic: n for topic, n in owned.items() if topic in self.partitions}
        if member in self.away:
            if self.away[member].owned is owned:
                self.take([at], [member], [owned])
                return False
            self._look_at(member)
        before = self.consumed.get(member, {})
        has_lost = False
        if not (before and owned):  # everything changes
            self.odd.discard(member)
            for topic, numbers in before.items():
                self.changed_at = max(at, self.changed_at)
                has_lost |= bool(numbers)
                self._end(at, member, topic, set(numbers))
            for topic, numbers in owned.items():
                self.changed_at = max(at, self.changed_at) if numbers else self.changed_at
                self._begin(at, member, topic, set(numbers))
        else:
            has_lost = self._change(at, member, before, owned)
        self.consumed[member] = owned
        load = sum(map(len, owned.values()))
        self.consumed_count += load - self.loads.get(member, 0)
        self.loads[member] = load
        if self.keeps_changes:
            self.changes.append(Change(at=at, member_id=member, owned=owned, reason=reason))
        return has_lost

    def end(
        self, at: int, member: str, gone: Mapping[str, Iterable[int]], rest: TopicPartitions
    ) -> bool:
        """Let a member end to consume some of its partitions at `at`, so that the rest is left.

        It consumes these, unless a topic is deleted. Returns whether it lost something. Cost:
        O(those that go).
        """
        if self.deleted:
            return self.consume(at, member, rest, "revoked")
        ended = sum([self._end(at, member, topic, numbers) for topic, numbers in gone.items()])
        self.changed_at = max(at, self.changed_at)
        self.consumed[member] = rest
        self.loads[member] -= ended
        self.consumed_count -= ended
        return True

    def _change(
        self, at: int, member: str, before: TopicPartitions, owned: TopicPartitions
    ) -> bool:
        """Let a member end and begin to consume what differs; return whether it lost something."""
        has_lost = False
        for topic, old, new in changed_topics(before, owned):
            self.changed_at = max(at, self.changed_at)  # some is recorded later than it happens
            gone = old - new
            if gone:
                has_lost = True
                self._end(at, member, topic, gone)
            if len(new) + len(gone) > len(old):
                self._begin(at, member, topic, new - old)
        return has_lost

    def give_up(self, at: Sequence[int], members: Sequence[str]) -> None:
        """Let members consume nothing any more, each from its time on. Cost: O(members).

        Their partitions are looked at once somebody else has to do with one, or if they go on with
        something else.
        """
        is_simple, away, consumed = not self.keeps_changes, self.away, self.consumed
        for since, member in zip(at, members, strict=True):
            owned = consumed.get(member)
            if not (owned and is_simple) or member in self.odd:
                self.consume(since, member, {}, "revoked")
                continue
            away[member] = one = Away(since, owned, self.loads[member])
            consumed[member], self.loads[member] = {}, 0
            self.consumed_count -= one.size
            self.changed_at = max(since, self.changed_at)

    def take(
        self, at: Sequence[int], members: Sequence[str], owned: Sequence[TopicPartitions]
    ) -> None:
        """Let members consume what they are given, each from its time on.

        Cost: O(members) where they gave up just that, of others O(partitions that change).
        """
        away, count_from = self.away, self.count_from
        unavailable = gaps = longest = taken = 0
        for now, member, share in zip(at, members, owned, strict=True):
            one = away.get(member)
            if one is None or one.owned is not share:
                self.consume(now, member, share, "assigned")
                continue
            since, _, size = away.pop(member)
            self.consumed[member], self.loads[member] = share, size
            gap = now - max(count_from, since)
            if size:
                taken += size
                self.changed_at = max(now, self.changed_at)
            if size and gap > 0:
                unavailable += gap * size
                gaps += size
                longest = max(longest, gap)
        self.consumed_count += taken
        self.unavailable += unavailable
        self.gaps += gaps
        self.longest_gap = max(longest, self.longest_gap)

    def look_at_all(self) -> None:
        """Bring `partitions` up to date. Cost: O(partitions of members that are away)."""
        for member in list(self.away):
            self._look_at(member)

    def close(self, at: int, topics: set[str]) -> int:
        """Count what lasts at the end of the run; return how many partitions have no consumer.

        Of `topics`, those that somebody subscribes to. Cost: O(partitions).
        """
        self.look_at_all()
        without = 0
        for topic, listed in self.partitions.items():
            for partition in listed:
                if len(partition.consumers) > 1:
                    self._count_double(at, partition)
                elif not partition.consumers and topic in topics:
                    self._count_gap(at, partition)
                    without += 1
        return without

    def _begin(self, at: int, member: str, topic: str, numbers: Iterable[int]) -> None:
        listed, count_from, longest = self.partitions[topic], self.count_from, self.longest_gap
        size, is_counted = len(listed), at >= count_from
        for number in numbers:
            if number >= size:
                self.odd.add(member)
                continue
            partition = listed[number]
            consumers = partition.consumers
            if consumers:
                self._look_at_consumers(partition)
            since = partition.since
            if not consumers:
                # As `_count_gap`, in place: most partitions that are taken had nobody for a moment.
                gap = at - (count_from if count_from > since else since)  # noqa: FURB136 - per partition
                if gap > 0:
                    self.unavailable += gap
                    self.gaps += 1
                    if gap > longest:
                        self.longest_gap = longest = gap
            elif len(consumers) == 1:
                partition.double_since = at
                self.doubled.add((topic, number))
            if consumers:
                self.odd.update((member, *consumers))
            consumers.append(member)
            if partition.last != member:
                self.moves += is_counted and partition.last is not None
                partition.last = member

    def _end(self, at: int, member: str, topic: str, numbers: Iterable[int]) -> int:
        """Let a member consume partitions no more that exist; return how many these are."""
        listed = self.partitions[topic]
        size, ended = len(listed), 0
        for number in numbers:
            if number >= size:
                continue
            partition = listed[number]
            consumers = partition.consumers
            consumers.remove(member)
            if not consumers:
                partition.since = at
            elif len(consumers) == 1:
                self.doubled.discard((topic, number))
                self._count_double(at, partition)
            ended += 1
        return ended

    def _look_at_consumers(self, partition: _Partition) -> None:
        if self.look_closely is not None:
            self.look_closely()
        for each in tuple(partition.consumers):
            if each in self.away:
                self._look_at(each)

    def _look_at(self, member: str) -> None:
        """Let the partitions of a member know that it has given them up."""
        since, owned, _ = self.away.pop(member)
        for topic, numbers in owned.items():
            self._end(since, member, topic, set(numbers))

    def _count_gap(self, at: int, partition: _Partition) -> None:
        gap = at - max(partition.since, self.count_from)
        if gap > 0:
            self.unavailable += gap
            self.gaps += 1
            self.longest_gap = max(self.longest_gap, gap)

    def _count_double(self, at: int, partition: _Partition) -> None:
        double = max(at - max(partition.double_since, self.count_from), 0)
        self.double += double
        self.longest_double = max(self.longest_double, double)
