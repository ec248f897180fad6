"""What monitors read in the state of a coordinator: Kafka's, or that of the push protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assignors.simulation.timed.group_protocols import GroupProtocol
from assignors.simulation.timed.protocols.effects import Record
from assignors.simulation.timed.protocols.kafka.classic_group import ClassicGroup, GroupState
from assignors.simulation.timed.protocols.kafka.consumer_group import (
    ConsumerGroup,
    ConsumerMember,
    MemberState,
)
from assignors.simulation.timed.protocols.kafka.messages import OffsetCommit
from assignors.simulation.timed.protocols.kafka.records import (
    CurrentRecord,
    GroupEpochRecord,
    GroupRecord,
    GroupTombstone,
    GroupTopicsTombstone,
    MemberRecord,
    OffsetRecord,
    PatternRecord,
    TargetEpochRecord,
    TargetRecord,
    is_transactional,
)
from assignors.simulation.timed.protocols.kafka.state import GroupCoordinator
from assignors.simulation.timed.protocols.push.coordinator import PushCoordinator
from assignors.simulation.timed.protocols.push.messages import by_topic
from wire import TopicPartitions, decode_assignment

Folded = dict[tuple[str, ...], Any]
"""What records say, by what their keys stand for."""
GROUP = ("group",)
"""The key of a classic group's record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorView:
    """A coordinator's state, as far as monitors look at it."""

    generation: int = 0
    known: Mapping[str, int] = field(default_factory=dict)
    """Member id -> generation or epoch."""
    target: Mapping[str, TopicPartitions] = field(default_factory=dict)
    target_epoch: int | None = None
    is_exact: bool = False
    """Whether members have to name exactly this generation, as in a classic group."""
    unstable: tuple[str, ...] = ()
    """Where the group is called stable: members that have not their target."""
    logged: Folded | None = None
    """What the records up to here must say; `None` while an append is to come."""


def view_of(coordinator: object) -> CoordinatorView:
    """Return what monitors look at. Cost: O(partitions of the group)."""
    if isinstance(coordinator, PushCoordinator):
        return _push(coordinator)
    if not isinstance(coordinator, GroupCoordinator):
        return CoordinatorView()
    group = coordinator.group
    if group is None and coordinator.config.protocols == {GroupProtocol.CONSUMER}:
        group = ConsumerGroup()  # of which nothing may be written
    if group is None:
        return CoordinatorView(is_exact=True)
    if isinstance(group, ConsumerGroup):
        view = _consumer(group)
    else:
        view = _classic(group, is_written=not (coordinator.appends or coordinator.is_behind))
    if view.logged is None:
        return view
    offsets: Folded = {
        ("offset", topic, str(partition)): each.offset
        for (topic, partition), each in coordinator.offsets.table.committed.items()
    }
    return replace(view, logged={**view.logged, **offsets})


def view_of_sender(coordinator: object, request: OffsetCommit) -> CoordinatorView:
    """Return the view of a group as far as a commit needs it. Cost: O(1) for one of a member."""
    group = coordinator.group if isinstance(coordinator, GroupCoordinator) else None
    if request.generation < 0 or group is None:
        return view_of(coordinator)
    member_id = request.member_id
    if isinstance(group, ConsumerGroup):
        member = group.members.get(member_id)
        return CoordinatorView(known={} if member is None else {member_id: member.epoch})
    known = {member_id: group.generation} if has_member(coordinator, member_id) else {}
    return CoordinatorView(known=known, is_exact=True)


def has_member(coordinator: object, member_id: str) -> bool:
    """Return whether the coordinator counts this id as a member. Cost: O(1).

    Not a static member of a classic group that was late for the last generation: it stays in the
    group, but whatever it does in its own generation is refused.
    """
    if isinstance(coordinator, PushCoordinator):
        return member_id in coordinator.members and member_id not in coordinator.expired
    group = coordinator.group if isinstance(coordinator, GroupCoordinator) else None
    if not isinstance(group, ClassicGroup):
        return group is not None and member_id in group.members
    member = group.members.get(member_id)
    return member is not None and member.generation == group.generation


def is_in_group(coordinator: object, member_id: str) -> bool:
    """Return whether the coordinator has this id, in whatever generation. Cost: O(1)."""
    if isinstance(coordinator, GroupCoordinator):
        return coordinator.group is not None and member_id in coordinator.group.members
    return has_member(coordinator, member_id)


def folded(before: Mapping[tuple[str, ...], Any], records: Iterable[Record]) -> Folded:
    """Return what records say after further ones: the last of each key counts.

    What a transaction commits says nothing: in a run none ends well.
    """
    after = dict(before)
    fold_in(after, records)
    return after


def fold_in(log: Folded, records: Iterable[Record]) -> None:
    """Let `log` say what it says after further records. Cost: O(records)."""
    for record in records:
        if is_transactional(record):
            continue
        key, value = _entry(record)
        if value is None:
            log.pop(key, None)
        else:
            log[key] = value


def compacted(records: Iterable[Record]) -> tuple[Record, ...]:
    """Return what a log cleaner leaves of records: the last of each key, no tombstones.

    Cost: O(records).
    """
    last: dict[tuple[str, ...], Record] = {}
    for record in records:
        key, value = _entry(record)
        last.pop(key, None)
        if value is not None:
            last[key] = record
    return tuple(last.values())


def _entry(  # noqa: C901, PLR0911 - one for each type of record
    record: Record,
) -> tuple[tuple[str, ...], Any]:
    """Return what a record's key stands for, and its value; `None` deletes it."""
    match record:
        case OffsetRecord(topic, partition, offset):
            return ("offset", topic, str(partition)), offset
        case GroupTombstone():
            return ("group",), None
        case PatternRecord(pattern, topics):
            return ("pattern", pattern), topics
        case GroupTopicsTombstone():
            return ("topics",), None
        case GroupRecord(generation, _, protocol, leader, members):
            by_id = {each.member_id: each.assignment for each in members}
            return ("group",), (generation, protocol, leader, by_id)
        case GroupEpochRecord(epoch):
            return ("epoch",), epoch
        case TargetEpochRecord(epoch, at_ms):
            return ("target epoch",), None if epoch is None else (epoch, at_ms)
        case MemberRecord(member_id, topics, instance_id, timeout):
            said = None if topics is None else (topics, instance_id, timeout)
            return ("member", member_id), said
        case TargetRecord(member_id, partitions):
            given = None if partitions is None else {t: set(n) for t, n in partitions.items()}
            return ("target", member_id), given
        case CurrentRecord(member_id, epoch):
            return ("current", member_id), None if epoch is None else record
    raise AssertionError(record)


def _classic(group: ClassicGroup, *, is_written: bool) -> CoordinatorView:
    assignments = {each.member_id: each.assignment for each in group.members.values()}
    is_at_rest = group.state in {GroupState.STABLE, GroupState.EMPTY}
    logged: Folded | None = None
    # A group that only a commit from outside has made has no record of its own.
    if is_written and is_at_rest and group.generation:
        leader = None if group.protocol is None else group.leader
        logged = {("group",): (group.generation, group.protocol, leader, assignments)}
    target = {}
    if group.state is GroupState.STABLE:
        for member_id, assignment in assignments.items():
            read = decode_assignment(assignment).value
            target[member_id] = {} if read is None else read.partitions
    return CoordinatorView(
        generation=group.generation,
        known={
            each.member_id: each.generation
            for each in group.members.values()
            if each.generation == group.generation
        },
        is_exact=True,
        target=target,
        logged=logged,
    )


def _consumer(group: ConsumerGroup) -> CoordinatorView:
    logged: Folded = {}
    for member in group.members.values():
        topics = tuple(sorted(member.topics))
        said = (topics, member.instance_id, member.rebalance_timeout_ms)
        logged["member", member.member_id] = said
        logged["current", member.member_id] = member.record
    for member_id, given in group.target.items():
        logged["target", member_id] = {topic: set(numbers) for topic, numbers in given.items()}
    for pattern, found in group.resolved.items():
        logged["pattern", pattern] = found.topics
    has_epoch, has_target_epoch = group.has_epoch_records
    if has_epoch:
        logged["epoch",] = group.epoch
    if has_target_epoch:
        logged["target epoch",] = (group.target_epoch, group.target_at_ms)
    return CoordinatorView(
        generation=group.epoch,
        known={each.member_id: each.epoch for each in group.members.values()},
        target=dict(group.target),
        target_epoch=group.target_epoch,
        unstable=tuple(
            each.member_id
            for each in group.members.values()
            if group.is_stable and not _has_target(each, group.epoch, group.target)
        ),
        logged=logged,
    )


def _has_target(member: ConsumerMember, epoch: int, target: Mapping[str, TopicPartitions]) -> bool:
    wanted = {topic: set(n) for topic, n in target.get(member.member_id, {}).items() if n}
    assigned = {topic: set(numbers) for topic, numbers in member.assigned.items() if numbers}
    is_at_rest = member.state is MemberState.STABLE and not member.revoking
    return is_at_rest and member.epoch == epoch and assigned == wanted


def _push(coordinator: PushCoordinator) -> CoordinatorView:
    """Return what the coordinator has granted; whose lease is over counts as no member."""
    return CoordinatorView(
        generation=coordinator.epoch,
        known={
            member_id: coordinator.epoch
            for member_id in coordinator.members
            if member_id not in coordinator.expired
        },
        target={
            member_id: by_topic(member.assigned)
            for member_id, member in coordinator.members.items()
            if member_id not in coordinator.expired
        },
    )
