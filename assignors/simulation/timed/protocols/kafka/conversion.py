"""A group changes its kind because members of the other protocol join or are the only ones left.

A member of the consumer protocol that joins a classic group makes a consumer group of it; when the
last one has left, what remains becomes a classic group again (KIP-848, "online migration").
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from assignors.model import Cluster
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Cancel,
    Record,
    Reply,
    Schedule,
)
from assignors.simulation.timed.protocols.kafka.classic import (
    answer_join,
    answer_sync,
    prepare,
    start,
)
from assignors.simulation.timed.protocols.kafka.classic_group import (
    SESSION,
    ClassicGroup,
    GroupMember,
    GroupState,
)
from assignors.simulation.timed.protocols.kafka.consumer_group import (
    ConsumerGroup,
    ConsumerMember,
    in_java_order,
)
from assignors.simulation.timed.protocols.kafka.messages import (
    CONSUMER,
    ErrorCode,
    JoinGroupResponse,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.kafka.records import (
    ClassicMetadata,
    CurrentRecord,
    GroupEpochRecord,
    GroupTombstone,
    GroupTopicsTombstone,
    MemberRecord,
    PatternRecord,
    TargetEpochRecord,
    TargetRecord,
)
from assignors.simulation.timed.protocols.kafka.state import (
    Changes,
    GroupCoordinator,
    Refused,
    record_of,
)
from assignors.simulation.timed.protocols.kafka.subscriptions import topics_seen
from wire import (
    Mode,
    TopicPartitions,
    decode_assignment,
    decode_subscription,
    encode_assignment,
)


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


def may_be_classic(state: GroupCoordinator, size: int) -> bool:
    """Return whether the policy and the limit allow a classic group of so many members."""
    return state.config.policy.allows_downgrade and size <= state.config.classic_max_size


def downgrade(
    state: GroupCoordinator,
    group: ConsumerGroup,
    out: Changes,
    *,
    leaving: Collection[str] = (),
    replaced: Replaced | None = None,
) -> None:
    """Make a classic group of a consumer group that only has members of that protocol left.

    The group epoch becomes the generation, and each member's target its assignment. Unless a static
    member has only changed its protocol, a rebalance begins at once. Cost: O(members + partitions).

    Source: `GroupMetadataManager.convertToClassicGroup`, `ClassicGroup.fromConsumerGroup`.
    """
    out.records += tombstones(group, replaced)
    made = ClassicGroup(state=GroupState.STABLE, generation=group.epoch, since_ms=state.now_ms)
    targets: dict[str, TopicPartitions] = {}
    for each in group.in_order():
        if each.member_id in leaving or (replaced and each.member_id == replaced.old_id):
            made.removed.append(each.member_id)
        else:
            made.add(_as_classic_member(each, group.epoch))
            targets[each.member_id] = group.target.get(each.member_id, {})
    if replaced is not None:
        made.add(_as_classic_member(replaced.new, group.epoch))
        targets[replaced.new.member_id] = group.target.get(replaced.old_id, {})
    made.protocol = made.selected_protocol()
    made.note_subscriptions()
    topics = state.cluster.topics
    for member in made.members.values():
        version = int.from_bytes(member.metadata(made.protocol)[:2], signed=True)
        known = {t: n for t, n in targets[member.member_id].items() if t in topics}
        member.assignment = encode_assignment(known, version=version)
    plan = {each.member_id: each.assignment for each in made.members.values()}
    out.records.append(record_of(made, plan))
    out.is_converted = True
    state.still_watched |= group.subscribed
    state.group = made
    for member in made.in_order():
        start(state, (SESSION, member.member_id), member.session_timeout_ms)
    if replaced is None or replaced.is_stale:
        prepare(state)
    for effect in state.out:
        match effect:
            case Schedule(key, after_us, data):
                out.timers.append((key, after_us, data))
            case Cancel(key):
                out.timers.append((key, None, 0))
            case _:
                raise AssertionError(effect)
    state.out = []


def _as_classic_member(member: ConsumerMember, generation: int) -> GroupMember:
    assert member.classic is not None
    return GroupMember(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        protocols=member.classic.protocols,
        session_timeout_ms=member.classic.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        generation=generation,
    )


def upgraded(state: GroupCoordinator, out: Changes) -> ConsumerGroup:
    """Return the consumer group that a classic one becomes. Raises `Refused`.

    Members keep what they have: the generation becomes the epoch of the group, of its target and of
    each partition. JoinGroup and SyncGroup requests that wait are answered REBALANCE_IN_PROGRESS
    before it is certain that the group can be converted. In Kafka 4.4.0 a group without a chosen
    assignor cannot be: the member that comes gets UNKNOWN_SERVER_ERROR.
    Cost: O(members + partitions).

    Source: `GroupMetadataManager.convertToConsumerGroup`, `ConsumerGroup.fromClassicGroup`.
    """
    group, config = state.classic, state.config
    if group.state is GroupState.EMPTY:
        out.records.append(GroupTombstone())
        return ConsumerGroup()
    is_allowed = config.policy.allows_upgrade and len(group.members) <= config.consumer_max_size
    if not is_allowed or group.protocol_type != CONSUMER:
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND)
    _answer_all(state, out)
    made = _converted(group, state.cluster)
    out.records.append(GroupTombstone())
    members = list(made.in_order())
    out.records += (each.subscription for each in members)
    out.records.append(GroupEpochRecord(made.epoch, made.topics_seen))
    out.records += (TargetRecord(each.member_id, made.target[each.member_id]) for each in members)
    out.records.append(TargetEpochRecord(made.target_epoch, 0))
    out.records += (each.record for each in members)
    for each in members:
        assert each.classic is not None
        session = each.classic.session_timeout_ms * MILLISECOND
        out.timers.append((("session", each.member_id), session, 0))
    return made


def _answer_all(state: GroupCoordinator, out: Changes) -> None:
    error = ErrorCode.REBALANCE_IN_PROGRESS
    for member in state.classic.in_order():
        answer_join(state, member, JoinGroupResponse(error, member.member_id))
    for member in state.classic.in_order():
        answer_sync(state, member, SyncGroupResponse(error))
    out.replies += ((each.number, each.response) for each in state.out if isinstance(each, Reply))
    state.out = []


def _converted(group: ClassicGroup, cluster: Cluster) -> ConsumerGroup:
    made = ConsumerGroup(epoch=group.generation, target_epoch=group.generation)
    for each in group.in_order():
        assigned = _assigned(each.assignment, cluster)
        member = _as_consumer_member(group, each, assigned)
        if any(number in made.partition_epochs.get(topic, {}) for topic, number in member.held()):
            raise Refused(ErrorCode.UNKNOWN_SERVER_ERROR)  # two members own a partition
        made.target[each.member_id] = assigned
        made.put(member)
    made.topics_seen = topics_seen(cluster, made.counts, {})
    return made


def _assigned(assignment: bytes, cluster: Cluster) -> TopicPartitions:
    """Return what a member was assigned; what an assignor hid in it would be lost."""
    if not assignment:
        return {}
    value = decode_assignment(assignment, mode=Mode.STRICT).value
    if value is None or value.user_data:
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND)
    return {topic: n for topic, n in value.partitions.items() if topic in cluster.topics}


def _as_consumer_member(
    group: ClassicGroup, member: GroupMember, assigned: TopicPartitions
) -> ConsumerMember:
    if all(each.name != group.protocol for each in member.protocols):
        raise Refused(ErrorCode.UNKNOWN_SERVER_ERROR)  # none is chosen, or not one that it has
    assert group.protocol is not None
    subscription = decode_subscription(member.metadata(group.protocol), mode=Mode.STRICT).value
    if subscription is None:
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND)
    return ConsumerMember(
        member_id=member.member_id,
        epoch=group.generation,
        previous_epoch=group.generation,
        instance_id=member.instance_id,
        rack_id=subscription.rack_id or None,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        client_id=member.client_id,
        topics=in_java_order(subscription.topics),
        assigned={t: dict.fromkeys(numbers, group.generation) for t, numbers in assigned.items()},
        classic=ClassicMetadata(member.session_timeout_ms, member.protocols),
    )
