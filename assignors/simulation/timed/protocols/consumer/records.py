"""What the coordinator of a consumer group writes to the offsets topic, a class a record type.

A record without its values (`None`) is a tombstone: it deletes what the key stands for.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from wire import TopicPartitions

EpochsByPartition = Mapping[str, Mapping[int, int]]
"""Topic -> partition -> the epoch in which the member got it."""


class GroupEpochRecord(NamedTuple):
    """ConsumerGroupMetadata: the group epoch; the last of the tombstones of a whole group."""

    epoch: int | None


class MemberRecord(NamedTuple):
    """ConsumerGroupMemberMetadata: what a member asks for."""

    member_id: str
    topics: tuple[str, ...] | None
    instance_id: str | None = None
    rebalance_timeout_ms: int = -1


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


ConsumerRecord = (
    GroupEpochRecord
    | MemberRecord
    | TargetEpochRecord
    | TargetRecord
    | CurrentRecord
    | GroupTopicsTombstone
)
