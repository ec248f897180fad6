"""A consumer group as its coordinator knows it: three epochs, and who has what.

The *group epoch* grows with every change of members, subscriptions or topics. The *target epoch* is
the group epoch for which the target assignment was computed. Each member has a *member epoch*: the
target epoch to which it has been brought. A partition is free once no member has it, neither
assigned nor still to be revoked (`ConsumerGroup.partition_epochs`).

Source: `ConsumerGroup` and `ConsumerGroupMember` of Kafka 4.4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from assignors.jvm.hash_order import copied_set_capacity, put_order, string_hash, string_hashes
from assignors.jvm.timeline_order import TimelineOrder
from assignors.simulation.timed.protocols.consumer.records import CurrentRecord, EpochsByPartition
from wire import TopicPartitions


class MemberState(StrEnum):
    """How far a member is."""

    STABLE = "Stable"
    """It has its target, or a newer target is not begun yet."""
    UNREVOKED = "UnrevokedPartitions"
    """It has to give up partitions first; its epoch stays until it has."""
    UNRELEASED = "UnreleasedPartitions"
    """It waits for partitions that others have to give up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerMember:
    """A member of a consumer group."""

    member_id: str
    epoch: int = 0
    previous_epoch: int = -1
    state: MemberState = MemberState.STABLE
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    topics: tuple[str, ...] = ()
    """Its subscription, in the order of the Java set that Kafka keeps it in (`in_java_order`)."""
    assigned: EpochsByPartition = field(default_factory=dict)
    """What it may consume; each partition with the epoch in which it got it (KIP-1251)."""
    revoking: EpochsByPartition = field(default_factory=dict)
    """What it has to give up and has not yet."""

    def moved_to(self, epoch: int, **changes: object) -> ConsumerMember:
        """Return the member in another epoch, the last one remembered."""
        return replace(self, epoch=epoch, previous_epoch=self.epoch, **changes)  # type: ignore[arg-type]

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
    """A consumer group."""

    epoch: int = 1
    target_epoch: int = 0
    target_at_ms: int = 0
    """When the target was computed; 0: never, or for members that have all left."""
    target: dict[str, TopicPartitions] = field(default_factory=dict)
    members: dict[str, ConsumerMember] = field(default_factory=dict)
    order: TimelineOrder = field(default_factory=TimelineOrder)
    """The member ids in the order of Kafka's map."""
    static_ids: dict[str, str] = field(default_factory=dict)
    """Instance id -> member id."""
    partition_epochs: dict[tuple[str, int], int] = field(default_factory=dict)
    """Topic and partition -> the epoch of the member that has it; absent: it is free."""
    stable: Counter[int] = field(default_factory=Counter)
    """Epoch -> how many members have their target of that epoch."""
    topics_seen: frozenset[tuple[str, int]] = frozenset()
    """The subscribed topics and their partition counts, as of the group epoch."""
    must_refresh: bool = True
    """Topics have changed: the next heartbeat compares them."""

    @property
    def is_stable(self) -> bool:
        """Whether every member has its target of the group's epoch. Cost: O(1)."""
        return self.stable[self.epoch] == len(self.members)

    def put(self, member: ConsumerMember, *, records: int = 1) -> None:
        """Add a member, or replace what it was, by so many records. Cost: O(its partitions).

        Kafka puts it into its map once for every record, and each time the map may grow.
        """
        before = self.members.get(member.member_id)
        self._free(before)
        if before is not None and before.instance_id is not None:
            self.static_ids.pop(before.instance_id, None)
        self.members[member.member_id] = member
        self.stable[member.epoch] += member.state is MemberState.STABLE
        for _ in range(records):
            self.order.put(member.member_id, string_hash(member.member_id))
        if member.instance_id is not None:
            self.static_ids[member.instance_id] = member.member_id
        for held in (member.assigned, member.revoking):
            for topic, numbers in held.items():
                for number in numbers:
                    self.partition_epochs[topic, number] = member.epoch

    def remove(self, member_id: str) -> None:
        """Remove a member, its target and its partitions."""
        member = self.members.pop(member_id)
        # The first of the tombstones puts it once more.
        self.order.put(member_id, string_hash(member_id))
        self.order.remove(member_id, string_hash(member_id))
        self._free(member)
        self.target.pop(member_id, None)
        if member.instance_id is not None:
            self.static_ids.pop(member.instance_id, None)

    def _free(self, member: ConsumerMember | None) -> None:
        if member is None:
            return
        self.stable[member.epoch] -= member.state is MemberState.STABLE
        for held in (member.assigned, member.revoking):
            for topic, numbers in held.items():
                for number in numbers:
                    if self.partition_epochs.get((topic, number)) == member.epoch:
                        del self.partition_epochs[topic, number]


def in_java_order(topics: Iterable[str]) -> tuple[str, ...]:
    """Return the topics in the order of `new HashSet<>(topics)`; some assignors depend on it.

    >>> in_java_order(["v", "u", "t"])
    ('t', 'u', 'v')
    """
    listed = list(dict.fromkeys(topics))
    hashes = string_hashes(listed)
    order = put_order(hashes, capacity=copied_set_capacity(len(listed), 17))
    return tuple(listed[number] for number in order.tolist())


def partitions_of(epochs: EpochsByPartition) -> TopicPartitions:
    """Return the partitions without their epochs, numbers sorted."""
    return {topic: tuple(sorted(numbers)) for topic, numbers in sorted(epochs.items())}
