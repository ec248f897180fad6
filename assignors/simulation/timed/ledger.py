"""Who really consumes which partition, whatever anybody believes, and what that cost.

Every start and end of consumption is recorded as it happens. Costs are running sums, so a long run
needs no more memory than a short one: how long partitions had no consumer, or two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from assignors.ownership.changes import Change, changed_topics
from wire import TopicPartitions


@dataclass(slots=True)
class _Partition:
    """One partition: who consumes it now, since when nobody does, and who did last."""

    since: int
    consumers: list[str]
    last: str | None = None
    double_since: int = 0


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
    unavailable_of: dict[str, int] = field(default_factory=dict)
    """Topic -> its partitions times microseconds without a consumer."""
    gap_windows: list[tuple[int, int]] = field(default_factory=list)
    """When at least one partition had no consumer: apart, and in order."""
    group_stopped: int = 0
    """Microseconds in which nobody consumed anything."""
    stopped_since: int | None = 0
    """Since when nobody does."""
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
    consumed_count: int = 0
    """How many that is of all members."""

    @property
    def unavailable(self) -> int:
        """Partitions times microseconds without a consumer."""
        return sum(self.unavailable_of.values())

    @property
    def any_stopped(self) -> int:
        """Microseconds in which at least one partition had no consumer."""
        return sum(end - begin for begin, end in self.gap_windows)

    def grow(self, at: int, topic: str, count: int) -> None:
        """Give a topic `count` partitions from `at` on; existing ones stay. Cost: O(new)."""
        listed = self.partitions.setdefault(topic, [])
        listed += [_Partition(at, []) for _ in range(count - len(listed))]

    def drop(self, at: int, topic: str) -> None:
        """Forget a topic that is deleted: nobody consumes it from `at` on. Cost: O(its members)."""
        for member, owned in self.consumed.items():
            if topic in owned:
                rest = {each: numbers for each, numbers in owned.items() if each != topic}
                self.consume(at, member, rest, "deleted")
        for partition in self.partitions.pop(topic):
            if partition.last is not None:
                self._count_gap(at, topic, partition)
        self.deleted.add(topic)

    def consume(self, at: int, member: str, owned: TopicPartitions, reason: str) -> bool:
        """Record that a member consumes exactly `owned` from `at` on; return whether it lost any.

        Cost: O(partitions that change).
        """
        if self.deleted:
            owned = {topic: n for topic, n in owned.items() if topic in self.partitions}
        before = self.consumed.get(member, {})
        has_lost = False
        if not (before and owned):  # everything changes
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
        self.consumed_count += sum(map(len, owned.values())) - sum(map(len, before.values()))
        if not self.consumed_count:
            self.stopped_since = at if self.stopped_since is None else self.stopped_since
        elif self.stopped_since is not None:
            self._count_stop(at, self.stopped_since)
        if self.keeps_changes:
            self.changes.append(Change(at=at, member_id=member, owned=owned, reason=reason))
        return has_lost

    def _change(
        self, at: int, member: str, before: TopicPartitions, owned: TopicPartitions
    ) -> bool:
        """Record what a member ends and begins to consume; return whether it lost something."""
        has_lost = False
        for topic, old, new in changed_topics(before, owned):
            self.changed_at = max(at, self.changed_at)
            gone = old - new
            if gone:
                has_lost = True
                self._end(at, member, topic, gone)
            if len(new) + len(gone) > len(old):
                self._begin(at, member, topic, new - old)
        return has_lost

    def close(self, at: int, topics: set[str]) -> int:
        """Count what lasts at the end of the run; return how many partitions have no consumer.

        Of `topics`, those that somebody subscribes to. Cost: O(partitions).
        """
        without = 0
        for topic, listed in self.partitions.items():
            for partition in listed:
                if len(partition.consumers) > 1:
                    self._count_double(at, partition)
                elif not partition.consumers and topic in topics:
                    self._count_gap(at, topic, partition)
                    without += 1
        if without and self.stopped_since is not None:
            self._count_stop(at, self.stopped_since)
        return without

    def _begin(self, at: int, member: str, topic: str, numbers: Iterable[int]) -> None:
        listed, count_from = self.partitions[topic], self.count_from
        size, is_counted = len(listed), at >= count_from
        lasted, longest_of_these = 0, 0
        for number in numbers:
            if number >= size:
                continue
            partition = listed[number]
            consumers = partition.consumers
            since = partition.since
            if not consumers:
                # As `_count_gap`, in place: most partitions that are taken had nobody for a moment.
                gap = at - (count_from if count_from > since else since)  # noqa: FURB136 - per partition
                if gap > 0:
                    lasted += gap
                    self.gaps += 1
                    longest_of_these = max(longest_of_these, gap)
            elif len(consumers) == 1:
                partition.double_since = at
                self.doubled.add((topic, number))
            consumers.append(member)
            if partition.last != member:
                self.moves += is_counted and partition.last is not None
                partition.last = member
        if lasted:
            self._count_gaps(at, topic, lasted, longest_of_these)

    def _end(self, at: int, member: str, topic: str, numbers: Iterable[int]) -> int:
        """Record that a member stops consuming partitions; return how many of them exist."""
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

    def _count_gap(self, at: int, topic: str, partition: _Partition) -> None:
        gap = at - max(partition.since, self.count_from)
        if gap > 0:
            self.gaps += 1
            self._count_gaps(at, topic, gap, gap)

    def _count_gaps(self, at: int, topic: str, lasted: int, longest: int) -> None:
        """Count gaps of a topic that end now, by their sum and the longest of them."""
        self.unavailable_of[topic] = self.unavailable_of.get(topic, 0) + lasted
        self.longest_gap = max(self.longest_gap, longest)
        begin, windows = at - longest, self.gap_windows
        while windows and windows[-1][1] >= begin:
            begin = min(begin, windows.pop()[0])
        windows.append((begin, at))

    def _count_stop(self, at: int, since: int) -> None:
        self.group_stopped += max(at - max(since, self.count_from), 0)
        self.stopped_since = None

    def _count_double(self, at: int, partition: _Partition) -> None:
        double = max(at - max(partition.double_since, self.count_from), 0)
        self.double += double
        self.longest_double = max(self.longest_double, double)
