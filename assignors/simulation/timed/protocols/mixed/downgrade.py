"""Make a classic group of a consumer group, because only members of that protocol are left.

The group epoch becomes the generation, and everybody's target its assignment. Unless a static
member has only changed its protocol, a rebalance begins at once.

Source: `GroupMetadataManager.convertToClassicGroup`, `ClassicGroup.fromConsumerGroup`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from assignors.simulation.timed.protocols.classic.barriers import prepare
from assignors.simulation.timed.protocols.classic.coordinator_state import (
    ClassicCoordinator,
    record_of,
    start,
)
from assignors.simulation.timed.protocols.classic.group import ClassicGroup, GroupMember
from assignors.simulation.timed.protocols.classic.states import GroupState
from assignors.simulation.timed.protocols.consumer.coordinator_state import (
    Changes,
    ConsumerCoordinator,
)
from assignors.simulation.timed.protocols.consumer.group import ConsumerGroup, ConsumerMember
from assignors.simulation.timed.protocols.consumer.records import (
    CurrentRecord,
    GroupEpochRecord,
    GroupTopicsTombstone,
    MemberRecord,
    PatternRecord,
    TargetEpochRecord,
    TargetRecord,
)
from assignors.simulation.timed.protocols.effects import Cancel, Record, Schedule
from wire import TopicPartitions, encode_assignment

OF_CLASSIC = "classic"
"""Begins the keys of the timers of classic groups."""


class Replaced(NamedTuple):
    """A static member that has changed its protocol."""

    old_id: str
    new: ConsumerMember
    is_stale: bool = False
    """Whether the group's target is older than the group."""


def tombstones(group: ConsumerGroup, replaced: Replaced | None = None) -> list[Record]:
    """Return what deletes a consumer group; a member that is replaced has its new id by then."""
    ids = [
        replaced.new.member_id if replaced and each == replaced.old_id else each
        for each in group.order
    ]
    return [
        *(CurrentRecord(each) for each in ids),
        *(TargetRecord(each, None) for each in ids),
        TargetEpochRecord(None),
        *(MemberRecord(each, None) for each in ids),
        *(PatternRecord(each) for each in group.resolved_order),
        GroupTopicsTombstone(),
        GroupEpochRecord(None),
    ]


def convert(
    classic: ClassicCoordinator,
    consumer: ConsumerCoordinator,
    out: Changes,
    *,
    leaving: Collection[str] = (),
    replaced: Replaced | None = None,
) -> None:
    """Convert the group: write its tombstones and its record, and start its timers.

    Cost: O(members + partitions).
    """
    group = consumer.group
    out.records += tombstones(group, replaced)
    made = ClassicGroup(state=GroupState.STABLE, generation=group.epoch)
    targets: dict[str, TopicPartitions] = {}
    for each in group.in_order():
        if each.member_id not in leaving and not (replaced and each.member_id == replaced.old_id):
            made.add(_member(each))
            targets[each.member_id] = group.target.get(each.member_id, {})
    if replaced is not None:
        made.add(_member(replaced.new))
        targets[replaced.new.member_id] = group.target.get(replaced.old_id, {})
    made.protocol = made.selected_protocol()
    for member in made.members.values():
        version = int.from_bytes(member.metadata(made.protocol)[:2], signed=True)
        known = {t: n for t, n in targets[member.member_id].items() if t in consumer.cluster.topics}
        member.assignment = encode_assignment(known, version=version)
    plan = {each.member_id: each.assignment for each in made.members.values()}
    out.records.append(record_of(made, plan))
    out.is_converted = True
    consumer.still_watched |= group.subscribed
    consumer.group, consumer.exists = ConsumerGroup(), False
    classic.group, classic.exists, classic.out = made, True, []
    for member in made.in_order():
        start(classic, ("session", member.member_id), member.session_timeout_ms)
    if replaced is None or replaced.is_stale:
        prepare(classic)
    for effect in classic.out:
        match effect:
            case Schedule(key, after_us, data):
                out.timers.append(((OF_CLASSIC, *key), after_us, data))
            case Cancel(key):
                out.timers.append(((OF_CLASSIC, *key), None, 0))
            case _:
                raise AssertionError(effect)


def _member(member: ConsumerMember) -> GroupMember:
    assert member.classic is not None
    return GroupMember(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        protocols=member.classic.protocols,
        session_timeout_ms=member.classic.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
    )
