"""The target assignment: when it is computed, from what, and what is written of it.

Source: `TargetAssignmentBuilder` of Kafka 4.4, KIP-848, KIP-1263.
"""

from __future__ import annotations

from collections.abc import Mapping

from assignors.assignor import Assignor
from assignors.jvm.failure import JavaFailure
from assignors.jvm.hash_trees import name_order
from assignors.model import Group, Member
from assignors.simulation.timed.protocols.consumer.assignment.everybody import Everybody
from assignors.simulation.timed.protocols.consumer.assignment.shares import shares_of
from assignors.simulation.timed.protocols.consumer.assignment.topics import subscribed_topics
from assignors.simulation.timed.protocols.consumer.coordinator_state import (
    ConsumerCoordinator,
    Refused,
    Work,
)
from assignors.simulation.timed.protocols.consumer.group import ConsumerGroup, ConsumerMember
from assignors.simulation.timed.protocols.consumer.messages import ConsumerError
from assignors.simulation.timed.protocols.consumer.records import TargetEpochRecord, TargetRecord
from wire import TopicPartitions
from wire.text import utf16_key

NO_TOPIC = "\0"
"""A name that no topic can have."""


def may_compute(state: ConsumerCoordinator, group: ConsumerGroup, now_ms: int) -> bool:
    """Return whether the assignment interval has passed, or no target was ever computed."""
    at, interval = group.target_at_ms, state.config.assignment_interval_ms
    return at == 0 or interval == 0 or now_ms >= at + interval


def compute_target(work: Work, everybody: Everybody) -> dict[str, TopicPartitions]:
    """Return the target of the group, by member id. Raises `Refused`. Cost: the assignor's."""
    state, group, _, _ = work
    ids, before = everybody.ids, everybody.before
    assignor = _assignor(state, everybody.assignor)
    members = list(map(everybody.member, ids))
    in_order = [members[number] for number in name_order(ids).tolist()]
    topics = _topics(group, in_order, assignor, is_homogeneous=everybody.is_homogeneous)
    asked = tuple(
        Member(
            member_id=each.member_id,
            topics=topics[each.member_id],
            owned=before.get(each.member_id, {}),
            rack_id=each.rack_id,
            instance_id=each.instance_id,
        )
        for each in members
    )
    # Where subscriptions differ Kafka looks at targets by member alone. One member alone seems to
    # differ from itself while the static one in whose place it comes is counted.
    hidden = everybody.hidden if everybody.is_homogeneous else {}
    try:
        answer = assignor.assign(Group(cluster=state.cluster, members=asked, also_assigned=hidden))
    except JavaFailure:
        raise Refused(ConsumerError.UNKNOWN_SERVER_ERROR) from None
    return shares_of(answer, ids, is_in_order=assignor.family == "server")


def write_target(
    work: Work,
    epoch: int,
    target: Mapping[str, TopicPartitions],
    before: Mapping[str, TopicPartitions],
) -> None:
    """Write a target for an epoch: the parts that are not those of `before`. Cost: O(members)."""
    records = work.out.records
    records += [
        TargetRecord(member_id, share)
        for member_id, share in target.items()
        if (had := before.get(member_id)) is not share and had != share
    ]
    records.append(TargetEpochRecord(epoch, work.now_ms))


def _assignor(state: ConsumerCoordinator, name: str | None) -> Assignor:
    """Return the assignor that most members would like, or else the broker's first one."""
    return state.assignor if name is None else state.assignors[name]


def _topics(
    group: ConsumerGroup,
    members: list[ConsumerMember],
    assignor: Assignor,
    *,
    is_homogeneous: bool,
) -> dict[str, tuple[str, ...]]:
    """Return what everybody subscribes to, so that the assignor sees the group as Kafka does.

    Some of the broker's assignors work in another way where all subscribe to the same, and Kafka
    says by its counts whether they do. Where these are wrong the assignor must get it wrong, too:
    it takes the topics of one member for those of all.
    """
    resolved = group.resolved
    if resolved:
        topics = {each.member_id: subscribed_topics(each, resolved) for each in members}
    else:
        topics = {each.member_id: each.topics for each in members}
    if is_homogeneous is (len(set(map(frozenset, set(topics.values())))) == 1):
        return topics
    sorts = assignor.name == "range"
    first = min(members, key=_by_instance) if sorts else members[0]
    if is_homogeneous:
        return dict.fromkeys(topics, topics[first.member_id])
    return {**topics, first.member_id: (*topics[first.member_id], NO_TOPIC)}


def _by_instance(member: ConsumerMember) -> tuple[bool, bytes]:
    """Return what the range assignor sorts members by."""
    return member.instance_id is None, utf16_key(member.instance_id or member.member_id)
