"""What the coordinator of a consumer group does with each request and timer.

A heartbeat does all there is: it joins or leaves, reports what the member owns, and its response
brings the next step towards the target. A change makes the group epoch grow; the target assignment
is computed by the first heartbeat that finds it older than the group, but not more often than the
assignment interval allows (KIP-1263).

A request works out its records first and changes nothing; then they are replayed. So a request that
is refused leaves the group as it was.

Timers: `("session", member_id)`, which every heartbeat starts again; `("rebalance", member_id)`, by
which the member must have given up what it has to; `("lookup", "")`, the end of a lookup of
patterns. For members of the classic protocol `("join", member_id)`, by which it must join again,
and `("sync", member_id)`, by which it must have sent SyncGroup.

Source: `GroupMetadataManager.consumerGroupHeartbeat`, `classicGroupJoinToConsumerGroup`,
`-SyncToConsumerGroup`, `-HeartbeatToConsumerGroup`, `-LeaveToConsumerGroup` of Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from assignors.model import Cluster
from assignors.simulation.timed.group_protocols import MigrationPolicy
from assignors.simulation.timed.protocols.effects import MILLISECOND, Request, TimerKey
from assignors.simulation.timed.protocols.kafka.classic import refused
from assignors.simulation.timed.protocols.kafka.consumer_group import (
    REPLAYS,
    ConsumerGroup,
    ConsumerMember,
    MemberState,
    in_java_order,
    is_homogeneous,
    partitions_of,
)
from assignors.simulation.timed.protocols.kafka.conversion import (
    Replaced,
    downgrade,
    may_be_classic,
)
from assignors.simulation.timed.protocols.kafka.messages import (
    CONSUMER,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    UNKNOWN_MEMBER_ID,
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
    ErrorCode,
    Heartbeat,
    HeartbeatResponse,
    JoinGroup,
    JoinGroupResponse,
    LeaveGroup,
    LeaveGroupResponse,
    SyncGroup,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.kafka.reconciliation import reconciled
from assignors.simulation.timed.protocols.kafka.records import (
    ClassicMetadata,
    CurrentRecord,
    GroupEpochRecord,
    MemberRecord,
    PatternRecord,
    TargetEpochRecord,
    TargetRecord,
)
from assignors.simulation.timed.protocols.kafka.state import (
    Changes,
    GroupCoordinator,
    Refused,
    Work,
)
from assignors.simulation.timed.protocols.kafka.subscriptions import (
    LOOKUP_KEY,
    PatternChange,
    change_pattern,
    looked_up,
    subscribed_topics,
    topics_seen,
)
from assignors.simulation.timed.protocols.kafka.targets import (
    Everybody,
    compute_target,
    hidden_target,
    may_compute,
    target_before,
    write_target,
)
from wire import (
    Mode,
    Subscription,
    TopicPartitions,
    decode_subscription,
    encode_assignment,
)

STABLE, UNREVOKED = MemberState.STABLE, MemberState.UNREVOKED
TIMERS = ("session", "rebalance", "join", "sync")
LEAVES = frozenset({LEAVE_EPOCH, STATIC_LEAVE_EPOCH})


class Update(NamedTuple):
    """A member before and after what its request says."""

    before: ConsumerMember
    after: ConsumerMember
    replaced: str | None
    """The id of the static member in whose place it comes."""
    owned: TopicPartitions | None
    """What it reports to own; `None`: it reports nothing."""
    has_changed: bool
    """Whether it subscribes to something else."""


def require_room(
    state: GroupCoordinator, group: ConsumerGroup, member_id: str, instance_id: str | None
) -> None:
    """Raise `Refused` if the group is full and the member is not in it."""
    is_in = instance_id in group.static_ids or member_id in group.members
    if not is_in and len(group.members) >= state.config.consumer_max_size:
        raise Refused(ErrorCode.GROUP_MAX_SIZE_REACHED)


def require_static(known: ConsumerMember | None, member_id: str) -> ConsumerMember:
    """Return the static member, which must have this id. Raises `Refused`."""
    if known is None:
        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID)
    if known.member_id != member_id:
        raise Refused(ErrorCode.FENCED_INSTANCE_ID)
    return known


def replacement(
    group: ConsumerGroup, old: ConsumerMember, member_id: str, out: Changes
) -> ConsumerMember:
    """Return the member that comes in the place of a static one, in epoch 0."""
    new = old._replace(member_id=member_id, epoch=0, previous_epoch=0)
    target = group.target.get(old.member_id, {})
    remove_member(old.member_id, out)
    out.records += [new.subscription, TargetRecord(member_id, target), new.record]
    return new


def remove_member(member_id: str, out: Changes) -> None:
    """Write what deletes a member."""
    out.records += [
        CurrentRecord(member_id),
        TargetRecord(member_id, None),
        MemberRecord(member_id, None),
    ]


def write_member(
    group: ConsumerGroup,
    before: ConsumerMember,
    after: ConsumerMember,
    out: Changes,
    *,
    is_new: bool,
) -> bool:
    """Write what a member asks for, if it is new; return whether it names other topics."""
    has_changed = after is not before and after != before
    if has_changed or (is_new and before.member_id not in group.members):
        out.records.append(after.subscription)
    return after.topics is not before.topics and set(after.topics) != set(before.topics)


def bring_on(work: Work, update: Update, *, must_count_up: bool) -> ConsumerMember:
    """Count up, compute the target if one is due, and return the member a step nearer to it."""
    state, group, _ = work
    epoch, homogeneous = count_up(work, update, is_due=must_count_up)
    target_epoch = group.target_epoch
    if target_epoch < epoch and may_compute(state, group):
        if homogeneous is None:
            homogeneous = group.is_homogeneous
        everybody = _everybody(group, update, homogeneous)
        target = compute_target(work, everybody)
        write_target(work, epoch, target, everybody.before)
        return reconcile(work, update, epoch, target[update.after.member_id])
    return reconcile(work, update, target_epoch, group.target_of(update.after))


def count_up(work: Work, update: Update, *, is_due: bool) -> tuple[int, bool | None]:
    """Return the group epoch, which grows where subscriptions or subscribed topics change.

    With it whether all subscribe to the same topics then; `None`: the group knows.
    """
    state, group, out = work
    if not (is_due or group.is_refresh_due):
        return group.epoch, None
    counts = group.counts.changed(update.before, update.after)
    resolved, old = group.resolved, update.before.pattern
    if old and old != update.after.pattern and group.counts.patterns[old] == 1:
        resolved = {pattern: each for pattern, each in resolved.items() if pattern != old}
    after = update.after
    is_in = after.member_id in group.members or after.instance_id in group.static_ids
    homogeneous = is_homogeneous(counts, resolved, len(group.members) + (not is_in))
    seen = topics_seen(state.cluster, counts, resolved)
    group.must_refresh, group.refreshed_in = False, group.epoch
    if is_due or seen != group.topics_seen:
        group.refreshed_in += 1
        out.records.append(GroupEpochRecord(group.refreshed_in, seen))
    return group.refreshed_in, homogeneous


def reconcile(
    work: Work, update: Update, target_epoch: int, target: TopicPartitions
) -> ConsumerMember:
    """Return the member one step nearer to its target, and watch over what it has to give up.

    A member of the classic protocol has its own timer for that: `("join", member_id)`.
    """
    state, group, out = work
    member = update.after
    if member.epoch == target_epoch and member.state is STABLE and not update.has_changed:
        return member
    after = reconciled(
        member,
        target_epoch=target_epoch,
        target=target,
        has_changed_topics=update.has_changed,
        topics=subscribed_topics(member, group.resolved),
        known=state.cluster.topics,
        owned=update.owned,
        partition_epochs=group.partition_epochs,
    )
    if after.epoch == member.epoch and after == member:
        return member
    out.records.append(after.record)
    if after.classic is None:
        is_revoking = after.state is UNREVOKED
        wait = after.rebalance_timeout_ms * MILLISECOND if is_revoking else None
        out.timers.append((("rebalance", after.member_id), wait, after.epoch))
    return after


def apply(state: GroupCoordinator, group: ConsumerGroup | None, out: Changes) -> None:
    """Replay the records of a request that worked on `group`, into a new one if it is not kept."""
    if out.is_converted or not out.records:
        return
    if group is None or group is not state.group:
        state.group = group = ConsumerGroup()
    before = group.subscribed if state.still_watched else frozenset()
    for record in out.records:
        change = REPLAYS.get(type(record))
        if change is not None:
            change(group, record)
        if isinstance(record, TargetRecord | TargetEpochRecord):
            state.target_changes += 1
    if before:
        state.still_watched -= before - group.subscribed


def _everybody(group: ConsumerGroup, update: Update, homogeneous: bool) -> Everybody:  # noqa: FBT001 - one of two values of a pair
    """Return all members as they will be; who is new in Kafka's map comes last.

    Cost: O(members log members).
    """
    asking, known = update.after.member_id, group.members
    ids = list(group.order)
    if update.replaced not in {None, asking}:
        ids.remove(update.replaced)
    if asking not in known:
        ids.append(asking)
    return Everybody(
        ids,
        known,
        update.after,
        update.replaced,
        homogeneous,
        group.counts.preferred_after(update.before, update.after),
        target_before(group, asking, update.replaced),
        hidden_target(group, asking, update.replaced),
    )


def leave(state: GroupCoordinator, request: ConsumerHeartbeat, out: Changes) -> None:
    """Let a member go that says so; a static one may keep its place. Raises `Refused`."""
    group = state.consumer
    if group is None:
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND)
    if request.instance_id is None:
        member = group.members.get(request.member_id)
        if member is None:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID)
    else:
        member = require_static(group.static_member(request.instance_id), request.member_id)
    if request.instance_id is not None and request.epoch == STATIC_LEAVE_EPOCH:
        zero = {topic: dict.fromkeys(numbers, 0) for topic, numbers in member.assigned.items()}
        away = member._replace(epoch=STATIC_LEAVE_EPOCH, assigned=zero, revoking={})
        out.records.append(away.record)
    else:
        fence(state, group, member, out)
    out.response = ConsumerHeartbeatResponse(ErrorCode.NONE, request.member_id, request.epoch)


def fence(
    state: GroupCoordinator, group: ConsumerGroup, member: ConsumerMember, out: Changes
) -> None:
    """Remove a member; its partitions are free at once.

    Where only members of the classic protocol are left the group may become a classic one.
    """
    counts, member_id = group.counts, member.member_id
    stay = len(group.members) - 1
    if 0 < stay == counts.classic - (member.classic is not None) and may_be_classic(state, stay):
        downgrade(state, group, out, leaving=(member_id,))
        return
    remove_member(member_id, out)
    counts, resolved = counts.changed(member, None), dict(group.resolved)
    if member.pattern and not counts.patterns[member.pattern]:
        out.records.append(PatternRecord(member.pattern))
        resolved.pop(member.pattern, None)
    epoch = group.epoch + 1
    out.records.append(GroupEpochRecord(epoch, topics_seen(state.cluster, counts, resolved)))
    if not stay:
        out.records.append(TargetEpochRecord(epoch, 0))
    out.timers += [((kind, member_id), None, 0) for kind in TIMERS]
    state.join_timers.discard(member_id)


def heartbeat(state: GroupCoordinator, request: ConsumerHeartbeat) -> Changes:
    """Return what a heartbeat leads to; `state` is changed in place unless it is refused.

    Cost: O(partitions of the member), plus the assignor where a target is computed.
    """
    if request.epoch not in LEAVES:
        return heartbeat_in(Work(state, state.consumer or ConsumerGroup(), Changes()), request)
    out = Changes()
    try:
        leave(state, request, out)
    except Refused as refusing:
        return refusal(refusing, out)
    apply(state, state.consumer, out)
    return out


def heartbeat_in(work: Work, request: ConsumerHeartbeat) -> Changes:
    """Return what a heartbeat leads to in a group, which may be about to be made.

    `work.out` has what was needed to make it. Nothing of its records stays where the heartbeat is
    refused; its answers and timers do, as in Kafka.
    """
    try:
        _heartbeat(work, request)
    except Refused as refusing:
        return refusal(refusing, work.out)
    apply(work.state, work.group, work.out)
    return work.out


def fired(state: GroupCoordinator, key: TimerKey, data: int) -> Changes:
    """Return what a timer leads to: the end of work in the background, or of a member."""
    out = looked_up(state) if key == LOOKUP_KEY else _removed(state, key, data)
    apply(state, state.consumer, out)
    return out


def _removed(state: GroupCoordinator, key: TimerKey, data: int) -> Changes:
    """Return what becomes of a group whose member is silent, or too slow."""
    kind, member_id = key
    out = Changes()
    if kind == "join":
        state.join_timers.discard(member_id)
    group = state.consumer
    member = None if group is None else group.members.get(member_id)
    if group is not None and member is not None and (kind != "rebalance" or member.epoch == data):
        fence(state, group, member, out)
    return out


def topics_changed(state: GroupCoordinator, cluster: Cluster) -> None:
    """Take over topics as they are now; the next heartbeat acts on them."""
    before, state.cluster = state.cluster, cluster
    state.version += 1
    if cluster.topics.keys() - before.topics.keys():
        state.version_of_new_topics = state.version
    group = state.consumer
    if group is None:
        return
    subscribed = group.subscribed | state.still_watched
    if any(before.topics.get(topic) != cluster.topics.get(topic) for topic in subscribed):
        group.must_refresh = True


def refusal(refusing: Refused, out: Changes) -> Changes:
    """Return what is left of a request that is refused."""
    response = ConsumerHeartbeatResponse(refusing.code)
    return Changes(timers=out.timers, replies=out.replies, response=response)


def _heartbeat(work: Work, request: ConsumerHeartbeat) -> None:
    state, group, out = work
    if request.assignor is not None and request.assignor not in state.assignors:
        raise Refused(ErrorCode.UNSUPPORTED_ASSIGNOR)
    if request.epoch != 0 and state.consumer is None:
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND)
    require_room(state, group, request.member_id, request.instance_id)
    member, replaced = _sender(group, request, out)
    asks = updated(member, request)
    has_changed = must_count_up = False
    if asks is not member or request.epoch == 0 or not group.counts.are_plain:
        names_changed = write_member(group, member, asks, out, is_new=replaced is None)
        pattern = change_pattern(work, member, asks)
        has_changed = names_changed or pattern is not PatternChange.NONE
        must_count_up = (
            names_changed
            or pattern is PatternChange.RESOLVED
            or _has_other_assignor(state, group, member, asks)
        )
    update = Update(member, asks, replaced, request.owned, has_changed)
    after = bring_on(work, update, must_count_up=must_count_up)
    session = state.config.session_timeout_ms * MILLISECOND
    out.timers.append((("session", after.member_id), session, 0))
    is_new = request.is_full or after.assigned != member.assigned
    out.response = ConsumerHeartbeatResponse(
        ErrorCode.NONE,
        after.member_id,
        after.epoch,
        partitions_of(after.assigned) if is_new else None,
    )


def updated(member: ConsumerMember, request: ConsumerHeartbeat) -> ConsumerMember:
    """Return the member with what the heartbeat says anew, itself if that is nothing."""
    timeout, topics = request.rebalance_timeout_ms, request.topics
    if (
        timeout == -1
        and topics is None
        and request.pattern is None
        and request.assignor is None
        and member.classic is None
        and request.client_id == member.client_id
        and (not request.instance_id or request.instance_id == member.instance_id)
        and (request.rack_id is None or request.rack_id == member.rack_id)
    ):
        return member
    return member._replace(
        instance_id=request.instance_id or member.instance_id,
        rack_id=member.rack_id if request.rack_id is None else request.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout == -1 else timeout,
        client_id=request.client_id,
        topics=member.topics if topics is None else in_java_order(topics),
        pattern=member.pattern if request.pattern is None else request.pattern,
        assignor=member.assignor if request.assignor is None else request.assignor,
        classic=None,
    )


def _has_other_assignor(
    state: GroupCoordinator,
    group: ConsumerGroup,
    member: ConsumerMember,
    updated: ConsumerMember,
) -> bool:
    """Return whether most members would now like another one of the broker's assignors."""
    counts = group.counts
    if not counts.assignors and updated.assignor is None:
        return False
    default = state.assignor.name
    now, then = counts.preferred_assignor, counts.preferred_after(member, updated)
    return (now or default) != (then or default)


def _sender(
    group: ConsumerGroup, request: ConsumerHeartbeat, out: Changes
) -> tuple[ConsumerMember, str | None]:
    """Return the member that sends, and the id of the static one that it replaces.

    Raises `Refused`.
    """
    old = group.static_member(request.instance_id)
    if request.epoch == 0 and old is not None:
        if old.epoch != STATIC_LEAVE_EPOCH and old.classic is None:
            raise Refused(ErrorCode.UNRELEASED_INSTANCE_ID)
        return replacement(group, old, request.member_id, out), old.member_id
    if request.instance_id is not None and request.epoch != 0:
        member = require_static(old, request.member_id)
    else:
        known = group.members.get(request.member_id)
        if known is None and request.epoch != 0:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID)
        member = known or ConsumerMember(member_id=request.member_id)
    _require_epoch(member, request)
    return member, None


def _require_epoch(member: ConsumerMember, request: ConsumerHeartbeat) -> None:
    """Refuse an epoch other than the member's; the last one may come from a lost response."""
    if request.epoch in {0, member.epoch}:
        return
    is_behind = request.epoch < member.epoch and request.epoch == member.previous_epoch
    if not is_behind or not _is_within(request.owned, member.assigned):
        raise Refused(ErrorCode.FENCED_MEMBER_EPOCH)


def _is_within(owned: TopicPartitions | None, assigned: Mapping[str, Mapping[int, int]]) -> bool:
    if owned is None:
        return False
    return all(
        topic in assigned and assigned[topic].keys() >= set(numbers)
        for topic, numbers in owned.items()
    )


# Members of the classic protocol in a consumer group. Their generation is the member epoch, and
# nobody waits for anybody: a JoinGroup is answered at once, with the next step towards the target,
# and so is the SyncGroup that fetches it. A heartbeat says REBALANCE_IN_PROGRESS where there is a
# new target, something to give up, or something that has become free; from then on the member has
# its rebalance timeout to join again.


def classic_request(work: Work, request: Request) -> Changes:
    """Return what a request of the classic protocol leads to in a consumer group."""
    try:
        match request:
            case JoinGroup():
                _classic_join(work, request)
                apply(work.state, work.group, work.out)
            case SyncGroup():
                _classic_sync(work, request)
            case Heartbeat():
                _classic_heartbeat(work, request)
            case LeaveGroup():
                _classic_leave(work, request)
            case _:
                raise AssertionError(request)
    except Refused as refusing:
        return Changes(response=refused(request, refusing.code))
    return work.out


def _classic_join(work: Work, request: JoinGroup) -> None:
    """Take a member in, or bring it on. Raises `Refused`."""
    state, group, out = work
    if state.config.policy is MigrationPolicy.DISABLED:
        raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    member_id = request.member_id or state.new_uuid()
    require_room(state, group, member_id, request.instance_id)
    _require_common(group, request)
    is_unknown = request.member_id == UNKNOWN_MEMBER_ID
    if is_unknown and request.instance_id is None:
        out.response = JoinGroupResponse(ErrorCode.MEMBER_ID_REQUIRED, member_id)
        return
    old = group.static_member(request.instance_id)
    if request.instance_id is None or (is_unknown and old is None):
        member, replaced = group.members.get(member_id) or ConsumerMember(member_id=member_id), None
    elif is_unknown:
        assert old is not None
        member, replaced = replacement(group, old, member_id, out), old.member_id
    else:
        member, replaced = require_static(old, member_id), None
    subscription = _subscription(request)
    updated = _updated_by_join(member, request, subscription)
    names_changed = write_member(group, member, updated, out, is_new=replaced is None)
    pattern = change_pattern(work, member, updated)
    has_changed = names_changed or pattern is not PatternChange.NONE
    owned = {t: n for t, n in subscription.owned.items() if t in state.cluster.topics}
    update = Update(member, updated, replaced, owned, has_changed)
    others = len(group.members) - 1
    is_last = old is not None and old.classic is None and group.counts.classic == others
    if old is not None and is_last and may_be_classic(state, len(group.members)):
        updated = _join_as_last(work, update, Replaced(old.member_id, updated))
    else:
        updated = bring_on(work, update, must_count_up=has_changed)
        _watch(out, updated, request)
    state.join_timers.discard(updated.member_id)
    out.response = JoinGroupResponse(
        ErrorCode.NONE,
        updated.member_id,
        generation=updated.epoch,
        protocol=request.protocols[0].name,
    )


def _join_as_last(work: Work, update: Update, replaced: Replaced) -> ConsumerMember:
    """Bring a static member on that has changed its protocol as the last one; convert the group."""
    group = work.group
    epoch, _ = count_up(work, update, is_due=update.has_changed)
    is_stale = group.target_epoch < epoch
    after = update.after
    if not is_stale:
        target = group.target_of(after)
        after = reconcile(work, update, group.target_epoch, target)
    replaced = replaced._replace(new=after, is_stale=is_stale)
    downgrade(work.state, group, work.out, replaced=replaced)
    work.out.later.append((("join", after.member_id), None, 0))
    return after


def _watch(out: Changes, member: ConsumerMember, request: JoinGroup) -> None:
    session, rebalance = request.session_timeout_ms, request.rebalance_timeout_ms
    out.later += [
        (("join", member.member_id), None, 0),
        (("session", member.member_id), session * MILLISECOND, 0),
        (("sync", member.member_id), rebalance * MILLISECOND, 0),
    ]


def _require_common(group: ConsumerGroup, request: JoinGroup) -> None:
    """Raise `Refused` unless all members of the classic protocol share an assignor with it."""
    counts = group.counts
    is_shared = any(counts.protocols[each.name] == counts.classic for each in request.protocols)
    if request.protocol_type != CONSUMER or not is_shared:
        raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def _subscription(request: JoinGroup) -> Subscription:
    """Return what the member prefers to be assigned by: only this Subscription is read."""
    value = decode_subscription(request.protocols[0].metadata, mode=Mode.STRICT).value
    if value is None:
        raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    return value


def _updated_by_join(
    member: ConsumerMember, request: JoinGroup, subscription: Subscription
) -> ConsumerMember:
    timeout = request.rebalance_timeout_ms
    return member._replace(
        instance_id=request.instance_id or member.instance_id,
        rack_id=subscription.rack_id or member.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout == -1 else timeout,
        client_id=request.client_id,
        topics=in_java_order(subscription.topics),
        pattern="",
        classic=ClassicMetadata(request.session_timeout_ms, request.protocols),
    )


def _classic_sync(work: Work, request: SyncGroup) -> None:
    """Send a member what it has been assigned. Raises `Refused`."""
    state, group, out = work
    member = _classic_member(group, request.member_id, request.instance_id)
    if member.epoch != request.generation:
        raise Refused(ErrorCode.ILLEGAL_GENERATION)
    assert member.classic is not None
    first = member.classic.protocols[0]
    is_other_type = request.protocol_type not in {None, CONSUMER}
    if is_other_type or request.protocol not in {None, first.name}:
        raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if group.target_epoch > member.epoch and member.state is not MemberState.UNREVOKED:
        _expect_join(state, member, out)
        out.response = SyncGroupResponse(ErrorCode.REBALANCE_IN_PROGRESS)
        return
    session = member.classic.session_timeout_ms * MILLISECOND
    out.later += [
        (("sync", member.member_id), None, 0),
        (("session", member.member_id), session, 0),
    ]
    version = int.from_bytes(first.metadata[:2], signed=True)
    known = state.cluster.topics
    assigned = {t: n for t, n in partitions_of(member.assigned).items() if t in known}
    blob = encode_assignment(assigned, version=version)
    out.response = SyncGroupResponse(ErrorCode.NONE, blob, request.protocol)


def _classic_heartbeat(work: Work, request: Heartbeat) -> None:
    """Tell a member whether it has to join again. Raises `Refused`."""
    state, group, out = work
    member = _classic_member(group, request.member_id, request.instance_id)
    if member.epoch != request.generation:
        raise Refused(ErrorCode.ILLEGAL_GENERATION)
    assert member.classic is not None
    session = member.classic.session_timeout_ms * MILLISECOND
    out.timers.append((("session", member.member_id), session, 0))
    error = ErrorCode.NONE
    can_go_on = member.state is MemberState.UNREVOKED or (
        member.state is MemberState.UNRELEASED and not _waits(group, member)
    )
    if member.epoch < group.target_epoch or can_go_on:
        error = ErrorCode.REBALANCE_IN_PROGRESS
        _expect_join(state, member, out)
    out.response = HeartbeatResponse(error)


def _classic_leave(work: Work, request: LeaveGroup) -> None:
    """Remove a member, whatever its protocol. Raises `Refused`."""
    state, group, out = work
    if request.instance_id is None:
        member = group.members.get(request.member_id)
        if member is None:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID)
    else:
        static = group.static_member(request.instance_id)
        known = "" if static is None else static.member_id
        member = require_static(static, request.member_id or known)
    fence(state, group, member, out)
    apply(state, group, out)
    out.response = LeaveGroupResponse(ErrorCode.NONE)


def _classic_member(
    group: ConsumerGroup, member_id: str, instance_id: str | None
) -> ConsumerMember:
    """Return the member of a request. Raises `Refused`."""
    if instance_id is None:
        member = group.members.get(member_id)
    else:
        member = require_static(group.static_member(instance_id), member_id)
    if member is None or member.classic is None:
        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID)
    return member


def _waits(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Return whether somebody else still has a partition that the member is to have."""
    return any(
        number in group.partition_epochs.get(topic, {})
        for topic, numbers in group.target[member.member_id].items()
        for number in numbers
        if number not in member.assigned.get(topic, {})
    )


def _expect_join(state: GroupCoordinator, member: ConsumerMember, out: Changes) -> None:
    """Give a member its rebalance timeout to join again, unless the time runs already."""
    if member.member_id not in state.join_timers:
        state.join_timers.add(member.member_id)
        wait = member.rebalance_timeout_ms * MILLISECOND
        out.timers.append((("join", member.member_id), wait, 0))
