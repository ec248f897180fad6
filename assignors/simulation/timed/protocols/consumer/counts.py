"""What the members of a consumer group ask for, counted: topics, patterns, assignors, protocols.

A heartbeat that changes one member looks at the counts, not at everybody.

Source: `ModernGroup` and `ConsumerGroup` of Kafka 4.4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from assignors.jvm.hash_order import DEFAULT_CAPACITY, string_hash
from assignors.jvm.timeline_order import TimelineOrder
from assignors.simulation.timed.protocols.consumer.records import ClassicMetadata, PatternRecord


class Asking(Protocol):
    """What a member asks for."""

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that it names."""
        ...

    @property
    def pattern(self) -> str:
        """The pattern of the topics that it does not name."""
        ...

    @property
    def assignor(self) -> str | None:
        """The broker's assignor that it would like."""
        ...

    @property
    def classic(self) -> ClassicMetadata | None:
        """Set where it speaks the classic protocol."""
        ...


@dataclass(slots=True, kw_only=True)
class Counts:
    """How many members ask for what."""

    topics: Counter[str] = field(default_factory=Counter)
    """Topic -> how many members name it."""
    patterns: Counter[str] = field(default_factory=Counter)
    assignors: Counter[str] = field(default_factory=Counter)
    assignor_order: TimelineOrder = field(default_factory=TimelineOrder)
    """The assignors in the order of Kafka's map."""
    classic: int = 0
    """Members of the classic protocol."""
    protocols: Counter[str] = field(default_factory=Counter)
    """Client-side assignor -> how many members of the classic protocol support it."""

    @property
    def are_plain(self) -> bool:
        """Whether nobody asks for a pattern or an assignor. Cost: O(1)."""
        return not (self.patterns or self.assignors)

    def changed(self, before: Asking | None, after: Asking | None) -> Counts:
        """Return the counts of topics and patterns as they will be. Cost: O(topics)."""
        copy = Counts(
            topics=_copied(self.topics),
            patterns=_copied(self.patterns),
            assignors=self.assignors,
            assignor_order=self.assignor_order,
            protocols=self.protocols,
        )
        _change(copy.topics, _topics(before), _topics(after))
        _change(copy.patterns, _pattern(before), _pattern(after))
        return copy

    def replace(self, before: Asking | None, after: Asking | None) -> None:
        """Count a member that comes, goes or changes. Cost: O(its topics), O(1) for the same."""
        if before is not None and after is not None and _asks_for_topics(before, after):
            return
        if before is None or after is None or before.topics is not after.topics:
            _change(self.topics, _topics(before), _topics(after))
        _change(self.patterns, _pattern(before), _pattern(after))
        _change(self.protocols, _protocols(before), _protocols(after))
        self.classic += _is_classic(after) - _is_classic(before)
        if before is not None and before.assignor is not None:
            _change(self.assignors, (before.assignor,), ())
            if before.assignor not in self.assignors:
                self.assignor_order.remove(before.assignor, string_hash(before.assignor))
        if after is not None and after.assignor is not None:
            _change(self.assignors, (), (after.assignor,))
            self.assignor_order.put(after.assignor, string_hash(after.assignor))

    @property
    def preferred_assignor(self) -> str | None:
        """The assignor that most members would like; of equal ones the first in Kafka's map."""
        order = list(self.assignor_order)
        return max(order, key=lambda name: self.assignors[name]) if order else None

    def preferred_after(self, before: Asking | None, after: Asking | None) -> str | None:
        """Return what `preferred_assignor` would be after a change.

        Kafka counts in a copy, a `HashMap`, so that of equal ones another may be the first.
        """
        counts = self.assignors.copy()
        names = list(self.assignor_order)
        length = 1 << int(len(names) / 0.75).bit_length() if names else DEFAULT_CAPACITY
        for each, by in ((before, -1), (after, 1)):
            name = None if each is None else each.assignor
            if name is None:
                continue
            counts[name] += by
            if not counts[name]:
                names.remove(name)
            elif name not in names:
                names.insert(0, name)  # `compute` puts a new key in front of its bucket
        names.sort(key=lambda name: _bucket(name, length))
        return max(names, key=lambda name: counts[name]) if names else None


def is_homogeneous(
    counts: Counts, resolved: Mapping[str, PatternRecord], member_count: int
) -> bool:
    """Return whether all members subscribe to the same topics, as Kafka sees it.

    Names and patterns do not mix: who names what the pattern of another one matches differs from
    it. Cost: O(topics).
    """
    by_pattern = Counter(topic for each in resolved.values() for topic in each.topics or ())
    topics = counts.topics.keys() | by_pattern.keys()
    if not counts.patterns:
        return all(counts.topics[topic] == member_count for topic in topics)
    if next(iter(counts.patterns.values())) != member_count:
        return False
    return all(by_pattern[topic] == 1 and not counts.topics[topic] for topic in topics)


def _bucket(name: str, length: int) -> int:
    """Return the bucket of a string in a `HashMap` of so many."""
    unsigned = string_hash(name) & 0xFFFFFFFF
    return (unsigned ^ (unsigned >> 16)) & (length - 1)


def _asks_for_topics(before: Asking, after: Asking) -> bool:
    """Return whether a member asks for the topics that it named before, and for nothing else."""
    is_plain = not (before.pattern or after.pattern or before.assignor or after.assignor)
    speaks_classic = before.classic is not None or after.classic is not None
    return before.topics is after.topics and is_plain and not speaks_classic


def _topics(member: Asking | None) -> tuple[str, ...]:
    return () if member is None else member.topics


def _pattern(member: Asking | None) -> tuple[str, ...]:
    return (member.pattern,) if member is not None and member.pattern else ()


def _protocols(member: Asking | None) -> tuple[str, ...]:
    if member is None or member.classic is None:
        return ()
    return tuple(each.name for each in member.classic.protocols)


def _is_classic(member: Asking | None) -> bool:
    return member is not None and member.classic is not None


def _copied(counter: Counter[str]) -> Counter[str]:
    """Return a copy of a small counter: its own `copy` looks at it as at any iterable."""
    copy: Counter[str] = Counter()
    dict.update(copy, counter)
    return copy


def _change(counter: Counter[str], gone: Iterable[str], come: Iterable[str]) -> None:
    """Count some down and others up; what nobody asks for is not in the counter."""
    for name in gone:
        counter[name] -= 1
        if not counter[name]:
            del counter[name]
    for name in come:
        counter[name] += 1
