"""What the records of a group say: the state in which the next coordinator finds it.

Records are applied one after the other, as they are in the log or in what compaction has left of
it. So nothing is taken for granted: any record may be the first of its group, commits may come
before it, and what is deleted may never have been seen (KAFKA-17306, KAFKA-19862, KAFKA-20254).

What is not written is not known afterwards: members that are about to join, and the assignors that
a classic member supports beside the chosen one. A classic group that was made by commits alone is
known by these: without them there is none, whereas its coordinator would remember it for a while.

Source: `GroupMetadataManager.replay`, `onLoaded`, `OffsetMetadataManager.replay` of Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from assignors.simulation.timed.protocols.effects import MILLISECOND, Record, Schedule
from assignors.simulation.timed.protocols.kafka.classic_group import (
    ClassicGroup,
    GroupMember,
    GroupState,
)
from assignors.simulation.timed.protocols.kafka.consumer_group import (
    ConsumerGroup,
    MemberState,
    replay,
)
from assignors.simulation.timed.protocols.kafka.messages import EndTransaction, Protocol
from assignors.simulation.timed.protocols.kafka.records import (
    ConsumerRecord,
    CurrentRecord,
    GroupEpochRecord,
    GroupRecord,
    GroupTombstone,
    GroupTopicsTombstone,
    MemberRecord,
    OffsetRecord,
    PatternRecord,
    RecordedMember,
    TargetEpochRecord,
    TargetRecord,
)
from assignors.simulation.timed.protocols.kafka.state import OffsetTable


@dataclass(slots=True, kw_only=True)
class Restored:
    """A group as its records have it: a classic or a consumer group, or none, and its offsets."""

    group: ClassicGroup | ConsumerGroup | None = None
    offsets: OffsetTable = field(default_factory=OffsetTable)


def restored(records: Iterable[Record | EndTransaction]) -> Restored:
    """Return what the records of one group say, in the order of the log.

    The ends of transactions stand among them.

    Raises `ValueError` for what no coordinator writes: records of a consumer group while there is a
    classic one with members. Cost: O(records), of a member each O(its partitions).
    """
    state = Restored()
    for record in records:
        apply(state, record)
    return state


def apply(state: Restored, record: Record | EndTransaction) -> None:
    """Apply one record more, or the end of a transaction; `state` changes in place."""
    match record:
        case EndTransaction(producer_id, is_commit):
            state.offsets.end(producer_id, is_commit=is_commit)
        case OffsetRecord():
            state.offsets.apply(record)
            if record.offset is not None and state.group is None:
                state.group = ClassicGroup()
        case GroupRecord():
            state.group = _classic(record)
        case GroupTombstone():
            state.group = None
        case _:
            _apply_to_consumer_group(state, record)


def timers(
    group: ClassicGroup | ConsumerGroup | None, *, session_timeout_ms: int
) -> list[Schedule]:
    """Return the timers that start once the log is read.

    `session_timeout_ms` is the broker's, for members of consumer groups. Cost: O(members).
    """
    if isinstance(group, ClassicGroup):
        return [each.session_timer() for each in group.in_order()]
    found: list[Schedule] = []
    for member in () if group is None else group.in_order():
        found.append(Schedule(("session", member.member_id), session_timeout_ms * MILLISECOND))
        if member.state is MemberState.UNREVOKED:
            after_us = member.rebalance_timeout_ms * MILLISECOND
            found.append(Schedule(("rebalance", member.member_id), after_us, member.epoch))
    return found


def summary(state: Restored) -> dict[str, Any]:
    """Return what two restored states have to agree in; orders of maps are left out.

    Cost: O(members and partitions).
    """
    group = state.group
    offsets = {each: value[:2] for each, value in state.offsets.committed.items()}
    if isinstance(group, ConsumerGroup):
        return {
            "kind": "consumer",
            "epochs": (group.epoch, group.target_epoch, group.target_at_ms),
            "topics": group.topics_seen,
            "target": group.target,
            "members": group.members,
            "static": group.static_ids,
            "held": {
                (topic, number): epoch
                for topic, held in group.partition_epochs.items()
                for number, epoch in held.items()
            },
            "resolved": group.resolved,
            "offsets": offsets,
        }
    if group is None or not (group.generation or group.protocol_type or offsets):
        return {"kind": None, "offsets": offsets}
    return {
        "kind": "classic",
        "generation": (group.generation, group.protocol_type, group.protocol, group.leader),
        "members": group.members,
        "static": group.static_ids,
        "state": group.state,
        "offsets": offsets,
    }


def _classic(record: GroupRecord) -> ClassicGroup:
    kind, protocol = record.protocol_type or None, record.protocol
    group = ClassicGroup(
        state=GroupState.STABLE if record.members else GroupState.EMPTY,
        generation=record.generation,
        protocol=protocol,
        protocol_type=kind,
        leader=record.leader,
        since_ms=record.since_ms,
    )
    for each in record.members:
        group.add(_member(each, protocol or ""), kind or "")
    group.note_subscriptions()
    return group


def _member(recorded: RecordedMember, protocol: str) -> GroupMember:
    return GroupMember(
        member_id=recorded.member_id,
        instance_id=recorded.instance_id,
        client_id=recorded.client_id,
        protocols=(Protocol(protocol, recorded.subscription),),
        session_timeout_ms=recorded.session_timeout_ms,
        rebalance_timeout_ms=recorded.rebalance_timeout_ms,
        assignment=recorded.assignment,
    )


def _apply_to_consumer_group(state: Restored, record: ConsumerRecord) -> None:
    """Apply a record of a consumer group; the one that deletes its epoch deletes the group."""
    group, is_tombstone = state.group, _is_tombstone(record)
    if isinstance(group, ClassicGroup):
        if group.protocol_type is not None or group.members:
            raise ValueError(f"{type(record).__name__} of a classic group")
        group = None
    if group is None:
        if is_tombstone:
            return
        group = state.group = ConsumerGroup()
    if isinstance(record, GroupEpochRecord) and is_tombstone:
        state.group = None
    elif isinstance(record, TargetEpochRecord) and is_tombstone:
        group.target_epoch, group.target_at_ms = -1, 0
    elif not isinstance(record, GroupTopicsTombstone):
        replay(group, record)


def _is_tombstone(record: ConsumerRecord) -> bool:
    match record:
        case GroupEpochRecord(None) | TargetEpochRecord(None) | CurrentRecord(_, None):
            return True
        case MemberRecord(_, None) | TargetRecord(_, None) | PatternRecord(_, None):
            return True
    return isinstance(record, GroupTopicsTombstone)
