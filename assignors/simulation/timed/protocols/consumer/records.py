"""What the coordinator of a consumer group writes to the offsets topic, a class a record type.

A record without its values (`None`) is a tombstone: it deletes what the key stands for.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from assignors.simulation.timed.protocols.classic.messages import Protocol
from wire import TopicPartitions

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
