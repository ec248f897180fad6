"""Apply what a coordinator writes to its group: the only way in which a group changes.

A request works out its records from the group as it is; then they are applied one by one, as the
next coordinator will apply them when it reads the log. Kafka's maps are changed once for every
record, and their order depends on it.

Source: `GroupMetadataManager.replay` of Kafka 4.4.
"""

from __future__ import annotations

from dataclasses import replace

from assignors.simulation.timed.protocols.consumer.group import (
    ConsumerGroup,
    ConsumerMember,
    MemberState,
    in_java_order,
)
from assignors.simulation.timed.protocols.consumer.records import (
    ConsumerRecord,
    CurrentRecord,
    GroupEpochRecord,
    MemberRecord,
    PatternRecord,
    TargetEpochRecord,
    TargetRecord,
)


def replay(group: ConsumerGroup, record: ConsumerRecord) -> None:
    """Apply a record. Cost: O(partitions of the member), O(1) for records of the group.

    The record that deletes the group itself is not for here: then there is no group any more.
    """
    match record:
        case CurrentRecord():
            _replay_current(group, record)
        case MemberRecord():
            _replay_member(group, record)
        case TargetRecord(member_id, partitions):
            if partitions is None:
                group.target.pop(member_id, None)
            else:
                group.target[member_id] = partitions
        case TargetEpochRecord(epoch, at_ms):
            assert epoch is not None
            group.target_epoch, group.target_at_ms = epoch, at_ms
            group.has_epoch_records = (group.has_epoch_records[0], True)
        case GroupEpochRecord(epoch, topics):
            assert epoch is not None
            group.epoch, group.topics_seen = epoch, topics
            group.has_epoch_records = (True, group.has_epoch_records[1])
        case PatternRecord(pattern, topics):
            group.resolve(pattern, None if topics is None else record)


def _replay_member(group: ConsumerGroup, record: MemberRecord) -> None:
    if record.topics is None:
        if record.member_id in group.members:
            group.remove(record.member_id)
        return
    before = group.members.get(record.member_id) or ConsumerMember(member_id=record.member_id)
    group.put(
        replace(
            before,
            topics=in_java_order(record.topics),
            instance_id=record.instance_id,
            rebalance_timeout_ms=record.rebalance_timeout_ms,
            rack_id=record.rack_id,
            client_id=record.client_id,
            pattern=record.pattern,
            assignor=record.assignor,
            classic=record.classic,
        )
    )


def _replay_current(group: ConsumerGroup, record: CurrentRecord) -> None:
    before = group.members.get(record.member_id)
    if record.epoch is None:
        if before is not None:
            group.put(replace(before, epoch=-1, previous_epoch=-1, assigned={}, revoking={}))
        return
    group.put(
        replace(
            before or ConsumerMember(member_id=record.member_id),
            epoch=record.epoch,
            previous_epoch=record.previous_epoch,
            state=MemberState(record.state),
            assigned=record.assigned,
            revoking=record.revoking,
        )
    )
