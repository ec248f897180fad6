"""The records that a group coordinator writes to `__consumer_offsets`, a class a record type.

A record without its values (`None`) is a tombstone: it deletes what the key stands for.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from assignors.simulation.timed.protocols.kafka.messages import NO_PRODUCER, Protocol
from wire import TopicPartitions


class RecordedMember(NamedTuple):
    """A member in the record of its group."""

    member_id: str
    instance_id: str | None
    client_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    subscription: bytes
    """Under the chosen protocol."""
    assignment: bytes


class GroupRecord(NamedTuple):
    """The record of a classic group: everything that the next coordinator has to know."""

    generation: int
    protocol_type: str | None
    protocol: str | None
    leader: str | None
    members: tuple[RecordedMember, ...]
    since_ms: int = -1
    """When the group came into its state, by the broker's clock; -1: not said."""


class GroupTombstone(NamedTuple):
    """The record that deletes a classic group."""


class OffsetRecord(NamedTuple):
    """OffsetCommit: a committed offset, `None` to delete it."""

    topic: str
    partition: int
    offset: int | None
    at_ms: int = 0
    """When it was committed, by the broker's clock."""
    producer_id: int = NO_PRODUCER


def is_transactional(record: object) -> bool:
    """Return whether a record of any kind counts only once its transaction has ended well."""
    return isinstance(record, OffsetRecord) and record.producer_id != NO_PRODUCER


EpochsByPartition = Mapping[str, Mapping[int, int]]
"""Topic -> partition -> the epoch in which the member got it."""


class GroupEpochRecord(NamedTuple):
    """ConsumerGroupMetadata: the group epoch; the last of the tombstones of a whole group."""

    epoch: int | None
    topics: frozenset[tuple[str, int]] = frozenset()
    """The subscribed topics that exist, with their partition counts; Kafka writes a hash of it."""


class ClassicMetadata(NamedTuple):
    """What is kept of a member of the classic protocol beside what every member has."""

    session_timeout_ms: int
    protocols: tuple[Protocol, ...]
    """Its assignors, the preferred one first, each with its Subscription."""


class MemberRecord(NamedTuple):
    """ConsumerGroupMemberMetadata: what a member asks for."""

    member_id: str
    topics: tuple[str, ...] | None
    instance_id: str | None = None
    rebalance_timeout_ms: int = -1
    rack_id: str | None = None
    client_id: str = ""
    pattern: str = ""
    assignor: str | None = None
    classic: ClassicMetadata | None = None


class TargetEpochRecord(NamedTuple):
    """ConsumerGroupTargetAssignmentMetadata: the epoch of the target assignment."""

    epoch: int | None
    at_ms: int = 0
    """When it was computed; 0 once the last member has left."""


class TargetRecord(NamedTuple):
    """ConsumerGroupTargetAssignmentMember: what a member is to have."""

    member_id: str
    partitions: TopicPartitions | None


class CurrentRecord(NamedTuple):
    """ConsumerGroupCurrentMemberAssignment: where a member is on the way to its target."""

    member_id: str
    epoch: int | None = None
    previous_epoch: int = -1
    state: str = ""
    assigned: EpochsByPartition = MappingProxyType({})
    revoking: EpochsByPartition = MappingProxyType({})


class GroupTopicsTombstone(NamedTuple):
    """ConsumerGroupPartitionMetadata, which older brokers wrote: it goes with the group."""


class PatternRecord(NamedTuple):
    """ConsumerGroupRegularExpression: the topics that a pattern matched."""

    pattern: str
    topics: tuple[str, ...] | None = None
    version: int = 0
    """Of the metadata in which they were looked up."""
    at_ms: int = 0
    """When they were looked up."""


ConsumerRecord = (
    GroupEpochRecord
    | MemberRecord
    | TargetEpochRecord
    | TargetRecord
    | CurrentRecord
    | GroupTopicsTombstone
    | PatternRecord
)
