"""The target assignment of a consumer group: when it is computed, from what, and what is written.

Source: `TargetAssignmentBuilder` of Kafka 4.4, KIP-848, KIP-1263.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from assignors.assignor import Assignor
from assignors.jvm.failure import JavaFailure
from assignors.jvm.hash_trees import name_order
from assignors.jvm.ordered_assignment import OrderedAssignment, PairsByMember
from assignors.model import Group, Member
from assignors.rebalance import Rebalance
from assignors.simulation.timed.protocols.kafka.consumer_group import ConsumerGroup, ConsumerMember
from assignors.simulation.timed.protocols.kafka.messages import ErrorCode
from assignors.simulation.timed.protocols.kafka.records import TargetEpochRecord, TargetRecord
from assignors.simulation.timed.protocols.kafka.state import (
    GroupCoordinator,
    Refused,
    Work,
)
from assignors.simulation.timed.protocols.kafka.subscriptions import subscribed_topics
from wire import TopicPartitions
from wire.text import utf16_key


class Everybody(NamedTuple):
    """The members that a target is computed for, as they will be after the request."""

    ids: list[str]
    """In the order of Kafka's map."""
    known: Mapping[str, ConsumerMember]
    """Those that the group has already, by id."""
    asking: ConsumerMember
    """The member whose request it is."""
    replaced: str | None
    """The id of the static member in whose place it comes."""
    is_homogeneous: bool
    """Whether all subscribe to the same topics, as Kafka sees it."""
    assignor: str | None
    """What most members would like."""
    before: Mapping[str, TopicPartitions]
    """The target as it is, with that of a static member for the one in its place; of others too."""
    hidden: TopicPartitions
    """The target that the asking member had itself, where that of a static member hides it: Kafka
    counts these partitions as assigned, and its uniform assignor gives them to nobody."""

    def member(self, member_id: str) -> ConsumerMember:
        """Return one of them."""
        return self.asking if member_id == self.asking.member_id else self.known[member_id]


def target_before(
    group: ConsumerGroup, asking: str, replaced: str | None
) -> Mapping[str, TopicPartitions]:
    """Return the target as it is, with that of a static member for the one in its place.

    Where the static member has none yet, the one in its place keeps its own. Cost: O(1).
    """
    if replaced is not None and replaced in group.target:
        return ChainMap({asking: group.target[replaced]}, group.target)
    return group.target


def hidden_target(group: ConsumerGroup, asking: str, replaced: str | None) -> TopicPartitions:
    """Return the asking member's own target, if it comes in the place of a static member.

    A dynamic member does so that joins again under its id, with the instance id of a member that is
    away. By member its target is that of the static one then; by partition Kafka still looks at the
    targets as they are in the log (`ModernGroup.invertedTargetAssignment`).
    """
    if replaced is None or replaced == asking or replaced not in group.target:
        return {}
    return group.target.get(asking, {})


NO_TOPIC = "\0"
"""A name that no topic can have."""


def may_compute(state: GroupCoordinator, group: ConsumerGroup) -> bool:
    """Return whether the assignment interval has passed, or no target was ever computed."""
    at, interval = group.target_at_ms, state.config.assignment_interval_ms
    return at == 0 or interval == 0 or state.now_ms >= at + interval


def compute_target(work: Work, everybody: Everybody) -> dict[str, TopicPartitions]:
    """Return the target of the group, by member id. Raises `Refused`. Cost: the assignor's."""
    state, group, _ = work
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
        raise Refused(ErrorCode.UNKNOWN_SERVER_ERROR) from None
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
    records.append(TargetEpochRecord(epoch, work.state.now_ms))


def _assignor(state: GroupCoordinator, name: str | None) -> Assignor:
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


def shares_of(
    answer: Rebalance, ids: Sequence[str], *, is_in_order: bool
) -> dict[str, TopicPartitions]:
    """Return what each member gets, topics in the order in which the assignor listed them.

    `ids` are put into a Java map in that order, and the shares come in the order of that map, as
    those of the answer do if it `is_in_order`. The next target depends on the order of topics
    where two topic ids fall into one bucket of a Java map. Cost: O(partitions).
    """
    lists = answer.lists
    if is_in_order and isinstance(lists, PairsByMember):
        in_order: Sequence[str] = lists.held.members
    else:
        in_order = [ids[number] for number in name_order(ids).tolist()]
    if isinstance(lists, PairsByMember):
        return {member_id: _share(lists.held, member_id) for member_id in in_order}
    if lists is None:
        given = answer.assignment
        return {
            member_id: {
                topic: tuple(sorted(numbers))
                for topic, numbers in given.get(member_id, {}).items()
                if numbers
            }
            for member_id in in_order
        }
    return {member_id: _by_topic(lists.get(member_id, ())) for member_id in in_order}


def _share(held: OrderedAssignment, member_id: str) -> TopicPartitions:
    """Return what one member gets."""
    if member_id not in held.place:
        return {}
    topics, numbers = held.entries(member_id)
    if topics and topics.count(topics[0]) == len(topics):
        return {held.topics[topics[0]]: tuple(sorted(numbers))}
    names = [held.topics[topic] for topic in topics]
    return _by_topic(zip(names, numbers, strict=True))


def _by_topic(pairs: Iterable[tuple[str, int]]) -> dict[str, tuple[int, ...]]:
    """Return (topic, number) pairs by topic, in the order of the first pair of each."""
    found: dict[str, list[int]] = {}
    for topic, number in pairs:
        found.setdefault(topic, []).append(number)
    return {topic: tuple(sorted(listed)) for topic, listed in found.items()}
