"""What the coordinator of a consumer group does with each heartbeat and timer.

A heartbeat does all there is: it joins or leaves, reports what the member owns, and its response
brings the next step towards the target. A change makes the group epoch grow; the target assignment
is computed anew by the first heartbeat that finds it older than the group, but not more often than
the assignment interval allows (KIP-1263).

Timers: `("session", member_id)`, which every heartbeat starts anew; `("rebalance", member_id)`, by
which the member must have given up what it has to.

Source: `GroupMetadataManager.consumerGroupHeartbeat` of Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from assignors.model import Cluster
from assignors.simulation.timed.protocols.consumer.coordinator_state import (
    Changes,
    ConsumerCoordinator,
)
from assignors.simulation.timed.protocols.consumer.group import (
    ConsumerGroup,
    ConsumerMember,
    MemberState,
    in_java_order,
    partitions_of,
)
from assignors.simulation.timed.protocols.consumer.messages import (
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    ConsumerError,
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
)
from assignors.simulation.timed.protocols.consumer.reconciliation import reconciled
from assignors.simulation.timed.protocols.consumer.records import (
    CurrentRecord,
    GroupEpochRecord,
    MemberRecord,
    TargetEpochRecord,
    TargetRecord,
)
from assignors.simulation.timed.protocols.consumer.targets import (
    compute_target,
    may_compute,
    topics_seen,
)
from assignors.simulation.timed.protocols.effects import MILLISECOND
from wire import TopicPartitions


class _Refused(Exception):  # noqa: N818 - a way out of a heartbeat, not an error of ours
    """The heartbeat is refused with this code; nothing has changed."""

    def __init__(self, code: ConsumerError) -> None:
        super().__init__(code)
        self.code = code


def heartbeat(state: ConsumerCoordinator, now_ms: int, request: ConsumerHeartbeat) -> Changes:
    """Return what a heartbeat leads to; `state` is changed in place unless it is refused.

    Cost: O(partitions of the member), plus the assignor where a target is computed.
    """
    out = Changes()
    try:
        if request.epoch in {LEAVE_EPOCH, STATIC_LEAVE_EPOCH}:
            _leave(state, request, out)
        else:
            _heartbeat(state, now_ms, request, out)
    except _Refused as refused:
        return Changes(response=ConsumerHeartbeatResponse(refused.code))
    return out


def fired(state: ConsumerCoordinator, key: tuple[str, str], data: int) -> Changes:
    """Return what a timer leads to: a member that is silent, or too slow, is removed."""
    out = Changes()
    kind, member_id = key
    member = state.group.members.get(member_id)
    if member is not None and (kind == "session" or member.epoch == data):
        _fence(state, member, out)
    return out


def topics_changed(state: ConsumerCoordinator, cluster: Cluster) -> None:
    """Take over new topics or partition counts; the next heartbeat acts on them."""
    subscribed = {topic for member in state.group.members.values() for topic in member.topics}
    before, state.cluster = state.cluster, cluster
    if any(before.topics.get(topic) != cluster.topics.get(topic) for topic in subscribed):
        state.group.must_refresh = True


def _heartbeat(
    state: ConsumerCoordinator, now_ms: int, request: ConsumerHeartbeat, out: Changes
) -> None:
    group = state.group
    if not state.exists and request.epoch != 0:
        raise _Refused(ConsumerError.GROUP_ID_NOT_FOUND)
    member, replaced = _sender(state, request)
    before = None if replaced is None else [each for each in group.order if each != replaced]
    if replaced is not None:
        _replace(group, replaced, member, out)
    written = len(out.records)
    updated = _updated(member, request)
    if updated != member:
        topics = tuple(sorted(updated.topics))
        out.records.append(
            MemberRecord(
                updated.member_id, topics, updated.instance_id, updated.rebalance_timeout_ms
            )
        )
    has_changed_topics = set(updated.topics) != set(member.topics)
    everybody: list[ConsumerMember] = []
    if has_changed_topics or group.must_refresh or group.target_epoch < group.epoch:
        everybody = _everybody(group, updated, before)
    _count_up(state, everybody, out, has_changed_topics=has_changed_topics)
    target = _target(state, now_ms, updated, everybody, out)
    if has_changed_topics or not _is_reconciled(updated, group.target_epoch):
        updated = _reconcile(
            group, updated, target, request, out, has_changed_topics=has_changed_topics
        )
    if replaced is not None:
        group.target.setdefault(updated.member_id, {})
    changes = [isinstance(each, MemberRecord | CurrentRecord) for each in out.records[written:]]
    if any(changes):
        group.put(updated, records=sum(changes))
    after = state.config.session_timeout_ms * MILLISECOND
    out.timers.append((("session", updated.member_id), after, 0))
    is_new = request.is_full or updated.assigned != member.assigned
    out.response = ConsumerHeartbeatResponse(
        ConsumerError.NONE,
        updated.member_id,
        updated.epoch,
        partitions_of(updated.assigned) if is_new else None,
    )


def _everybody(
    group: ConsumerGroup, updated: ConsumerMember, before: list[str] | None
) -> list[ConsumerMember]:
    """Return all members in the order of Kafka's map; who is new in it comes last.

    `before` has their ids where the map has changed since. Cost: O(members log members).
    """
    ids = list(group.order) if before is None else before
    if updated.member_id not in ids:
        ids.append(updated.member_id)
    return [updated if each == updated.member_id else group.members[each] for each in ids]


def _updated(member: ConsumerMember, request: ConsumerHeartbeat) -> ConsumerMember:
    """Return the member with what the heartbeat says anew."""
    timeout, topics = request.rebalance_timeout_ms, request.topics
    return replace(
        member,
        instance_id=request.instance_id or member.instance_id,
        rack_id=request.rack_id or member.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout == -1 else timeout,
        topics=member.topics if topics is None else in_java_order(topics),
    )


def _count_up(
    state: ConsumerCoordinator,
    everybody: list[ConsumerMember],
    out: Changes,
    *,
    has_changed_topics: bool,
) -> None:
    """Let the group epoch grow where subscriptions or subscribed topics have changed."""
    group = state.group
    state.exists = True
    if not (has_changed_topics or group.must_refresh):
        return
    group.must_refresh = False
    seen = topics_seen(state.cluster, everybody)
    if has_changed_topics or seen != group.topics_seen:
        group.topics_seen = seen
        group.epoch += 1
        out.records.append(GroupEpochRecord(group.epoch))


def _target(
    state: ConsumerCoordinator,
    now_ms: int,
    member: ConsumerMember,
    everybody: list[ConsumerMember],
    out: Changes,
) -> TopicPartitions:
    """Return the member's target, computed anew where the group has a newer epoch."""
    group = state.group
    if group.target_epoch < group.epoch and may_compute(state, now_ms):
        compute_target(state, now_ms, everybody, out)
    elif member.instance_id is not None and member.instance_id not in group.static_ids:
        # As in Kafka: under an instance id that is new, a member that was dynamic has no target.
        return {}
    return group.target.get(member.member_id, {})


def _sender(
    state: ConsumerCoordinator, request: ConsumerHeartbeat
) -> tuple[ConsumerMember, str | None]:
    """Return the member that sends, and the id of the static one that it replaces.

    Raises `_Refused`.
    """
    group, config = state.group, state.config
    static_id = None if request.instance_id is None else group.static_ids.get(request.instance_id)
    is_known = request.member_id in group.members
    if static_id is None and len(group.members) >= config.max_size and not is_known:
        raise _Refused(ConsumerError.GROUP_MAX_SIZE_REACHED)
    if request.epoch == 0 and request.instance_id is not None and static_id is not None:
        old = group.members[static_id]
        if old.epoch != STATIC_LEAVE_EPOCH:
            raise _Refused(ConsumerError.UNRELEASED_INSTANCE_ID)
        return replace(old, member_id=request.member_id, epoch=0, previous_epoch=0), static_id
    if request.instance_id is not None and request.epoch != 0:
        _require_static(static_id, request.member_id)
    member = group.members.get(request.member_id)
    if member is None:
        if request.epoch != 0:
            raise _Refused(ConsumerError.UNKNOWN_MEMBER_ID)
        return ConsumerMember(member_id=request.member_id), None
    _require_epoch(member, request)
    return member, None


def _require_static(known: str | None, member_id: str) -> None:
    if known is None:
        raise _Refused(ConsumerError.UNKNOWN_MEMBER_ID)
    if known != member_id:
        raise _Refused(ConsumerError.FENCED_INSTANCE_ID)


def _require_epoch(member: ConsumerMember, request: ConsumerHeartbeat) -> None:
    """Refuse an epoch other than the member's; the last one may come from a lost response."""
    if request.epoch in {0, member.epoch}:
        return
    is_behind = request.epoch < member.epoch and request.epoch == member.previous_epoch
    if not is_behind or not _is_within(request.owned, member.assigned):
        raise _Refused(ConsumerError.FENCED_MEMBER_EPOCH)


def _is_within(owned: TopicPartitions | None, assigned: Mapping[str, Mapping[int, int]]) -> bool:
    if owned is None:
        return False
    return all(
        topic in assigned and assigned[topic].keys() >= set(numbers)
        for topic, numbers in owned.items()
    )


def _replace(group: ConsumerGroup, old_id: str, new: ConsumerMember, out: Changes) -> None:
    """Put a static member that has come back in the place of the one it was."""
    target = group.target.get(old_id)
    group.remove(old_id)
    if target is not None:
        group.target[new.member_id] = target
    group.put(new, records=2)
    out.records += [
        CurrentRecord(old_id),
        TargetRecord(old_id, None),
        MemberRecord(old_id, None),
        MemberRecord(
            new.member_id, tuple(sorted(new.topics)), new.instance_id, new.rebalance_timeout_ms
        ),
        TargetRecord(new.member_id, target or {}),
        new.record,
    ]


def _is_reconciled(member: ConsumerMember, target_epoch: int) -> bool:
    return member.state is MemberState.STABLE and member.epoch == target_epoch


def _reconcile(
    group: ConsumerGroup,
    member: ConsumerMember,
    target: TopicPartitions,
    request: ConsumerHeartbeat,
    out: Changes,
    *,
    has_changed_topics: bool,
) -> ConsumerMember:
    """Return the member one step nearer to its target, and watch over what it has to give up."""
    after = reconciled(
        member,
        target_epoch=group.target_epoch,
        target=target,
        has_changed_topics=has_changed_topics,
        owned=request.owned,
        partition_epochs=group.partition_epochs,
    )
    if after != member:
        out.records.append(after.record)
        key = ("rebalance", member.member_id)
        is_revoking = after.state is MemberState.UNREVOKED
        wait = after.rebalance_timeout_ms * MILLISECOND if is_revoking else None
        out.timers.append((key, wait, after.epoch))
    return after


def _leave(state: ConsumerCoordinator, request: ConsumerHeartbeat, out: Changes) -> None:
    group = state.group
    if not state.exists:
        raise _Refused(ConsumerError.GROUP_ID_NOT_FOUND)
    if request.instance_id is None:
        member = group.members.get(request.member_id)
        if member is None:
            raise _Refused(ConsumerError.UNKNOWN_MEMBER_ID)
    else:
        known = group.static_ids.get(request.instance_id)
        _require_static(known, request.member_id)
        member = group.members[request.member_id]
    if request.instance_id is not None and request.epoch == STATIC_LEAVE_EPOCH:
        zero = {topic: dict.fromkeys(numbers, 0) for topic, numbers in member.assigned.items()}
        away = replace(member, epoch=STATIC_LEAVE_EPOCH, assigned=zero, revoking={})
        group.put(away)
        out.records.append(away.record)
    else:
        _fence(state, member, out)
    out.response = ConsumerHeartbeatResponse(ConsumerError.NONE, request.member_id, request.epoch)


def _fence(state: ConsumerCoordinator, member: ConsumerMember, out: Changes) -> None:
    """Remove a member; its partitions are free at once."""
    group = state.group
    group.remove(member.member_id)
    group.epoch += 1
    group.topics_seen = topics_seen(state.cluster, list(group.members.values()))
    out.records += [
        CurrentRecord(member.member_id),
        TargetRecord(member.member_id, None),
        MemberRecord(member.member_id, None),
        GroupEpochRecord(group.epoch),
    ]
    if not group.members:
        group.target_epoch, group.target_at_ms = group.epoch, 0
        out.records.append(TargetEpochRecord(group.epoch, 0))
    out.timers += [((kind, member.member_id), None, 0) for kind in ("session", "rebalance")]
