"""A consumer group as its coordinator knows it: three epochs, and who has what.

The *group epoch* grows with every change of members, subscriptions or topics. The *target epoch* is
the group epoch for which the target assignment was computed. Each member has a *member epoch*: the
target epoch to which it has been brought. A partition is free once no member has it, neither
assigned nor still to be revoked (`ConsumerGroup.partition_epochs`).

Records are the only way in which a group changes (`replay`). A request works out its records from
the group as it is; then they are applied one by one, as the next coordinator will apply them when
it reads the log. Kafka's maps are changed once for every record, and their order depends on it.

Source: `ModernGroup`, `ConsumerGroup`, `ConsumerGroupMember`, `GroupMetadataManager.replay` of
Kafka 4.4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from assignors.jvm.hash_order import (
    DEFAULT_CAPACITY,
    copied_set_capacity,
    put_order,
    string_hash,
    string_hashes,
)
from assignors.simulation.timed.protocols.kafka.records import (
    ClassicMetadata,
    ConsumerRecord,
    CurrentRecord,
    EpochsByPartition,
    GroupEpochRecord,
    MemberRecord,
    PatternRecord,
    TargetEpochRecord,
    TargetRecord,
)
from assignors.simulation.timed.protocols.kafka.timeline_order import TimelineOrder
from wire import TopicPartitions


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


class MemberState(StrEnum):
    """How far a member is."""

    STABLE = "Stable"
    """It has its target, or a newer target is not begun yet."""
    UNREVOKED = "UnrevokedPartitions"
    """It has to give up partitions first; its epoch stays until it has."""
    UNRELEASED = "UnreleasedPartitions"
    """It waits for partitions that others have to give up."""


STABLE = MemberState.STABLE


class ConsumerMember(NamedTuple):
    """A member of a consumer group: a tuple, as most heartbeats amid a rebalance make another."""

    member_id: str
    epoch: int = 0
    previous_epoch: int = -1
    state: MemberState = MemberState.STABLE
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    client_id: str = ""
    topics: tuple[str, ...] = ()
    """Its subscription, in the order of the Java set that Kafka keeps it in (`in_java_order`)."""
    pattern: str = ""
    """It also subscribes to the topics that this matches; empty: there is none."""
    assignor: str | None = None
    """The broker's assignor that it would like."""
    classic: ClassicMetadata | None = None
    """Set where it speaks the classic protocol."""
    assigned: EpochsByPartition = MappingProxyType({})
    """What it may consume; each partition with the epoch in which it got it (KIP-1251)."""
    revoking: EpochsByPartition = MappingProxyType({})
    """What it has to give up and has not yet."""

    def brought_to(
        self,
        epoch: int,
        previous_epoch: int,
        state: MemberState,
        assigned: EpochsByPartition,
        revoking: EpochsByPartition,
    ) -> ConsumerMember:
        """Return the member where it is then, and what it asks for as it is. Cost: O(1)."""
        asks = self[4:12]  # from `instance_id` to `classic`
        values = (self[0], epoch, previous_epoch, state, *asks, assigned, revoking)
        return tuple.__new__(ConsumerMember, values)  # its own one costs more than all of this

    @property
    def is_fresh(self) -> bool:
        """Whether it has never been brought to an epoch."""
        return self.previous_epoch == -1

    def holds_as(self, other: ConsumerMember) -> bool:
        """Return whether it holds the same partitions in the same epoch as another state of it."""
        is_in_it = self.epoch == other.epoch
        return is_in_it and self.assigned == other.assigned and self.revoking == other.revoking

    def held(self) -> Iterator[tuple[str, int]]:
        """Yield every partition that it has, assigned or still to be revoked."""
        for held in (self.assigned, self.revoking):
            for topic, numbers in held.items():
                for number in numbers:
                    yield topic, number

    @property
    def subscription(self) -> MemberRecord:
        """What the log keeps of what it asks for."""
        return MemberRecord(
            self.member_id,
            tuple(sorted(self.topics)),
            self.instance_id,
            self.rebalance_timeout_ms,
            self.rack_id,
            self.client_id,
            self.pattern,
            self.assignor,
            self.classic,
        )

    @property
    def record(self) -> CurrentRecord:
        """What the log keeps of where it is."""
        return CurrentRecord(
            self.member_id,
            self.epoch,
            self.previous_epoch,
            self.state.value,
            self.assigned,
            self.revoking,
        )


@dataclass(slots=True, kw_only=True)
class ConsumerGroup:
    """A consumer group; `replay` is what changes it."""

    epoch: int = 1
    target_epoch: int = 1
    target_at_ms: int = 0
    """When the target was computed; 0: never, or for members that have all left."""
    has_epoch_records: tuple[bool, bool] = (False, False)
    """Whether the two epochs have ever been written; both are 1 until then."""
    target: dict[str, TopicPartitions] = field(default_factory=dict)
    members: dict[str, ConsumerMember] = field(default_factory=dict)
    order: TimelineOrder = field(default_factory=TimelineOrder)
    """The member ids in the order of Kafka's map."""
    static_ids: dict[str, str] = field(default_factory=dict)
    """Instance id -> member id."""
    partition_epochs: dict[str, dict[int, int]] = field(default_factory=dict)
    """Topic -> partition -> the epoch of the member that has it; absent: it is free."""
    stable: Counter[int] = field(default_factory=Counter)
    """Epoch -> how many members have their target of that epoch."""
    counts: Counts = field(default_factory=Counts)
    """How many members subscribe to what, and which assignors they would like."""
    resolved: dict[str, PatternRecord] = field(default_factory=dict)
    """Pattern -> the topics that it matched when it was last looked up."""
    resolved_order: TimelineOrder = field(default_factory=TimelineOrder)
    """These patterns in the order of Kafka's map: it asks the first one when it looked them up."""
    topics_seen: frozenset[tuple[str, int]] = frozenset()
    """The subscribed topics and their partition counts, as of the group epoch."""
    must_refresh: bool = True
    """Topics have changed: the next heartbeat compares them."""
    refreshed_in: int = 0
    """The group epoch to which that led last. Kafka keeps it even if the request failed: until the
    group has come to it, the next heartbeat compares again."""
    known_homogeneous: bool | None = None
    """`is_homogeneous`, where it has been asked for since a member changed."""

    @property
    def is_refresh_due(self) -> bool:
        """Whether the next heartbeat compares the topics (`hasMetadataExpired`)."""
        return self.must_refresh or self.epoch < self.refreshed_in

    @property
    def is_homogeneous(self) -> bool:
        """Whether everybody subscribes to the same; as in Kafka as of the last change of a member.

        Cost: O(topics) after a change.
        """
        if self.known_homogeneous is None:
            self.known_homogeneous = is_homogeneous(self.counts, self.resolved, len(self.members))
        return self.known_homogeneous

    @property
    def subscribed(self) -> frozenset[str]:
        """The topics that anybody subscribes to, by name or by pattern. Cost: O(topics)."""
        by_pattern = (each.topics or () for each in self.resolved.values())
        return frozenset(self.counts.topics).union(*by_pattern)

    removed: list[str] = field(default_factory=list)
    """Members removed since `taken_removed` was called last."""

    @property
    def is_stable(self) -> bool:
        """Whether every member has its target of the group's epoch. Cost: O(1)."""
        return self.stable[self.epoch] == len(self.members)

    def in_order(self) -> Iterator[ConsumerMember]:
        """Yield the members in the order of Kafka's map. Cost: O(members log members)."""
        for member_id in self.order:
            yield self.members[member_id]

    def static_member(self, instance_id: str | None) -> ConsumerMember | None:
        """Return the member of an instance id, if there is one."""
        known = None if instance_id is None else self.static_ids.get(instance_id)
        return None if known is None else self.members[known]

    def target_of(self, member: ConsumerMember) -> TopicPartitions:
        """Return a member's target; that of a static one is kept under its instance id.

        So a dynamic member that comes with an instance id that is new has none.
        """
        if member.instance_id is None:
            return self.target.get(member.member_id, {})
        return self.target.get(self.static_ids.get(member.instance_id, ""), {})

    def resolve(self, pattern: str, record: PatternRecord | None) -> None:
        """Keep, or forget, which topics a pattern matches."""
        _ = self.is_homogeneous  # Kafka looks again only when a member changes
        if record is not None:
            self.resolved_order.put(pattern, string_hash(pattern))
            self.resolved[pattern] = record
        elif self.resolved.pop(pattern, None) is not None:
            self.resolved_order.remove(pattern, string_hash(pattern))

    @property
    def first_resolved(self) -> PatternRecord | None:
        """The result of a look-up that Kafka asks for the time of the last one."""
        first = next(iter(self.resolved_order), None)
        return None if first is None else self.resolved[first]

    def put(self, member: ConsumerMember) -> None:
        """Add a member, or replace what it was. Cost: O(its partitions)."""
        before = self.members.get(member.member_id)
        self.counts.replace(before, member)
        if before is None:
            self.members[member.member_id] = member
            self.order.put(member.member_id, string_hash(member.member_id))
            self.known_homogeneous = None
            self._count(member, 1)
            self._hold(member)
        else:
            self.move(before, member)
        if before is not None and before.instance_id is not None:
            self.static_ids.pop(before.instance_id, None)
        if member.instance_id is not None:
            self.static_ids[member.instance_id] = member.member_id

    def move(self, before: ConsumerMember, after: ConsumerMember) -> None:
        """Put a member that asks for the same as before."""
        self.members[after.member_id] = after
        self.order.put_again()
        self.known_homogeneous = None
        self._count(before, -1)
        self._count(after, 1)
        if not before.holds_as(after):
            self._free(before, after.assigned)
            self._hold(after)

    def remove(self, member_id: str) -> None:
        """Remove a member and its partitions."""
        member = self.members.pop(member_id)
        self.removed.append(member_id)
        self.order.remove(member_id, string_hash(member_id))
        self.counts.replace(member, None)
        self.known_homogeneous = None
        self._count(member, -1)
        self._free(member, {})
        if member.instance_id is not None:
            self.static_ids.pop(member.instance_id, None)

    def taken_removed(self) -> list[str]:
        """Return the members removed since the last call. Cost: O(1)."""
        removed = self.removed
        if removed:
            self.removed = []
        return removed

    def _count(self, member: ConsumerMember, by: int) -> None:
        """Count a member that has its target, or no longer."""
        if member.state is STABLE:
            self.stable[member.epoch] += by

    def _hold(self, member: ConsumerMember) -> None:
        """Keep in which epoch a member holds its partitions. Cost: O(those)."""
        held, epoch = self.partition_epochs, member.epoch
        for part in filter(None, (member.assigned, member.revoking)):
            for topic, numbers in part.items():
                held.setdefault(topic, {}).update(dict.fromkeys(numbers, epoch))

    def _free(self, before: ConsumerMember, assigned: EpochsByPartition) -> None:
        """Let partitions be free that a member held and is no longer assigned."""
        epoch = before.epoch
        for part in filter(None, (before.assigned, before.revoking)):
            for topic, numbers in part.items():
                stay = assigned.get(topic, {})
                known = self.partition_epochs.get(topic, {})
                gone = () if stay is numbers else numbers.keys() - stay.keys()
                for number in gone:
                    if known.get(number) == epoch:
                        del known[number]


def in_java_order(topics: Iterable[str]) -> tuple[str, ...]:
    """Return the topics in the order of `new HashSet<>(topics)`; some assignors depend on it.

    >>> in_java_order(["v", "u", "t"])
    ('t', 'u', 'v')
    """
    return _in_java_order(tuple(dict.fromkeys(topics)))


@lru_cache(maxsize=1000)
def _in_java_order(topics: tuple[str, ...]) -> tuple[str, ...]:
    """Return different topics in that order: most members subscribe to the same ones."""
    order = put_order(string_hashes(topics), capacity=copied_set_capacity(len(topics), 17))
    return tuple(topics[number] for number in order.tolist())


def partitions_of(epochs: EpochsByPartition) -> TopicPartitions:
    """Return the partitions without their epochs, numbers sorted."""
    return {topic: tuple(sorted(numbers)) for topic, numbers in sorted(epochs.items())}


STATES = {each.value: each for each in MemberState}


def replay(group: ConsumerGroup, record: ConsumerRecord) -> None:
    """Apply a record. Cost: O(partitions of the member), O(1) for records of the group.

    The record that deletes the group itself is not for here: then there is no group any more.
    """
    apply = REPLAYS.get(type(record))
    if apply is not None:
        apply(group, record)


def _replay_target(group: ConsumerGroup, record: TargetRecord) -> None:
    if record.partitions is None:
        group.target.pop(record.member_id, None)
    else:
        group.target[record.member_id] = record.partitions


def _replay_target_epoch(group: ConsumerGroup, record: TargetEpochRecord) -> None:
    assert record.epoch is not None
    group.target_epoch, group.target_at_ms = record.epoch, record.at_ms
    group.has_epoch_records = (group.has_epoch_records[0], True)


def _replay_epoch(group: ConsumerGroup, record: GroupEpochRecord) -> None:
    assert record.epoch is not None
    group.epoch, group.topics_seen = record.epoch, record.topics
    group.has_epoch_records = (True, group.has_epoch_records[1])


def _replay_pattern(group: ConsumerGroup, record: PatternRecord) -> None:
    group.resolve(record.pattern, None if record.topics is None else record)


def _replay_member(group: ConsumerGroup, record: MemberRecord) -> None:
    if record.topics is None:
        if record.member_id in group.members:
            group.remove(record.member_id)
        return
    before = group.members.get(record.member_id) or ConsumerMember(member_id=record.member_id)
    group.put(
        ConsumerMember(
            *before[:4],  # from `member_id` to `state`
            instance_id=record.instance_id,
            rack_id=record.rack_id,
            rebalance_timeout_ms=record.rebalance_timeout_ms,
            client_id=record.client_id,
            topics=in_java_order(record.topics),
            pattern=record.pattern,
            assignor=record.assignor,
            classic=record.classic,
            assigned=before.assigned,
            revoking=before.revoking,
        )
    )


def _replay_current(group: ConsumerGroup, record: CurrentRecord) -> None:
    before = group.members.get(record.member_id)
    if record.epoch is None:
        if before is not None:
            group.put(before._replace(epoch=-1, previous_epoch=-1, assigned={}, revoking={}))
        return
    after = (before or ConsumerMember(member_id=record.member_id)).brought_to(
        record.epoch,
        record.previous_epoch,
        STATES[record.state],
        record.assigned,
        record.revoking,
    )
    if before is None:
        group.put(after)
    else:
        group.move(before, after)


REPLAYS: dict[type, Callable[[ConsumerGroup, Any], None]] = {
    CurrentRecord: _replay_current,
    MemberRecord: _replay_member,
    TargetRecord: _replay_target,
    TargetEpochRecord: _replay_target_epoch,
    GroupEpochRecord: _replay_epoch,
    PatternRecord: _replay_pattern,
}
"""Type of a record -> what it changes. The tombstone of a group's topics changes nothing."""
