"""Make a consumer group of a classic one, because a member of the other protocol joins.

Everybody keeps what it has: the generation becomes the epoch of the group, of its target and of
each partition. JoinGroup and SyncGroup requests that wait are answered REBALANCE_IN_PROGRESS before
it is certain that the group can be converted. In Kafka 4.4.0 one without a chosen assignor cannot
be: the member that comes gets UNKNOWN_SERVER_ERROR.

Source: `GroupMetadataManager.convertToConsumerGroup`, `ConsumerGroup.fromClassicGroup`.
"""

from __future__ import annotations

from assignors.model import Cluster
from assignors.simulation.timed.protocols.classic.coordinator_state import (
    ClassicCoordinator,
    answer_join,
    answer_sync,
)
from assignors.simulation.timed.protocols.classic.group import ClassicGroup, GroupMember
from assignors.simulation.timed.protocols.classic.messages import (
    CONSUMER,
    ErrorCode,
    GroupTombstone,
    JoinGroupResponse,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.classic.states import GroupState
from assignors.simulation.timed.protocols.consumer.assignment.topics import topics_seen
from assignors.simulation.timed.protocols.consumer.coordinator_state import Changes, Refused
from assignors.simulation.timed.protocols.consumer.group import (
    ConsumerGroup,
    ConsumerMember,
    in_java_order,
)
from assignors.simulation.timed.protocols.consumer.messages import ConsumerError
from assignors.simulation.timed.protocols.consumer.records import (
    ClassicMetadata,
    GroupEpochRecord,
    TargetEpochRecord,
    TargetRecord,
)
from assignors.simulation.timed.protocols.effects import MILLISECOND, Reply
from wire import Mode, TopicPartitions, decode_assignment, decode_subscription


def upgraded(
    classic: ClassicCoordinator,
    cluster: Cluster,
    out: Changes,
    *,
    is_allowed: bool,
    max_size: int,
) -> ConsumerGroup:
    """Return the consumer group that a classic one becomes. Raises `Refused`.

    Cost: O(members + partitions).
    """
    group = classic.group
    if group.state is GroupState.EMPTY:
        out.records.append(GroupTombstone())
        return ConsumerGroup()
    if not is_allowed or group.protocol_type != CONSUMER or len(group.members) > max_size:
        raise Refused(ConsumerError.GROUP_ID_NOT_FOUND)
    _answer_all(classic, out)
    made = _converted(group, cluster)
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


def _answer_all(classic: ClassicCoordinator, out: Changes) -> None:
    error = ErrorCode.REBALANCE_IN_PROGRESS
    classic.out = []
    for member in classic.group.in_order():
        answer_join(classic, member, JoinGroupResponse(error, member.member_id))
    for member in classic.group.in_order():
        answer_sync(classic, member, SyncGroupResponse(error))
    out.replies += ((each.number, each.response) for each in classic.out if isinstance(each, Reply))


def _converted(group: ClassicGroup, cluster: Cluster) -> ConsumerGroup:
    made = ConsumerGroup(epoch=group.generation, target_epoch=group.generation)
    for each in group.in_order():
        assigned = _assigned(each.assignment, cluster)
        member = _member(group, each, assigned)
        if any(number in made.partition_epochs.get(topic, {}) for topic, number in member.held()):
            raise Refused(ConsumerError.UNKNOWN_SERVER_ERROR)  # two members own a partition
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
        raise Refused(ConsumerError.GROUP_ID_NOT_FOUND)
    return {topic: n for topic, n in value.partitions.items() if topic in cluster.topics}


def _member(group: ClassicGroup, member: GroupMember, assigned: TopicPartitions) -> ConsumerMember:
    if all(each.name != group.protocol for each in member.protocols):
        raise Refused(ConsumerError.UNKNOWN_SERVER_ERROR)  # none is chosen, or not one that it has
    assert group.protocol is not None
    subscription = decode_subscription(member.metadata(group.protocol), mode=Mode.STRICT).value
    if subscription is None:
        raise Refused(ConsumerError.GROUP_ID_NOT_FOUND)
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
