"""Apply what a coordinator writes to its group: the only way in which a group changes.

A request works out its records from the group as it is; then they are applied one by one, as the
next coordinator will apply them when it reads the log. Kafka's maps are changed once for every
record, and their order depends on it.

Source: `GroupMetadataManager.replay` of Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
