"""What a consumer group does with the requests of members that speak the classic protocol.

Their generation is the member epoch, and nobody waits for anybody: a JoinGroup is answered at once,
with the next step towards the target, and so is the SyncGroup that fetches it. A heartbeat says
REBALANCE_IN_PROGRESS where there is a new target, something to give up, or something that has
become free; from then on the member has its rebalance timeout to join again.

Timers: `("join", member_id)`, by which it must join again; `("sync", member_id)`, by which it must
have sent SyncGroup; `("session", member_id)`.

Source: `GroupMetadataManager.classicGroupJoinToConsumerGroup`, `-SyncToConsumerGroup`,
`-HeartbeatToConsumerGroup`, `-LeaveToConsumerGroup`.
"""

from __future__ import annotations

from collections.abc import Callable

from assignors.simulation.timed.protocols.classic.messages import (
    CONSUMER,
    UNKNOWN_MEMBER_ID,
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
from assignors.simulation.timed.protocols.consumer.assignment.patterns import (
    PatternChange,
    change_pattern,
)
from assignors.simulation.timed.protocols.consumer.assignment.rounds import (
    Update,
    apply,
    bring_on,
    count_up,
    reconcile,
    replacement,
    require_room,
    require_static,
    write_member,
)
from assignors.simulation.timed.protocols.consumer.coordinator_state import (
    Changes,
    ConsumerCoordinator,
    Refused,
    Work,
)
from assignors.simulation.timed.protocols.consumer.group import (
    ConsumerGroup,
    ConsumerMember,
    MemberState,
    in_java_order,
    partitions_of,
)
from assignors.simulation.timed.protocols.consumer.leaving import fence
from assignors.simulation.timed.protocols.consumer.records import ClassicMetadata
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.protocols.mixed.downgrade import Replaced
from wire import Mode, Subscription, decode_subscription, encode_assignment

Downgrade = Callable[[Work, Replaced], None]
"""Makes a classic group of the one at work, whose static member is replaced."""


def join(
    work: Work, request: JoinGroup, new_id: Callable[[], str], downgrade: Downgrade | None
) -> None:
    """Take a member in, or bring it on; raises `Refused`.

    `downgrade` is for the case that only members of the classic protocol are left then, if that may
    make it a classic group.
    """
    state, group, _, out = work
    member_id = request.member_id or new_id()
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
    updated = _updated(member, request, subscription)
    names_changed = write_member(group, member, updated, out, is_new=replaced is None)
    pattern = change_pattern(work, member, updated)
    has_changed = names_changed or pattern is not PatternChange.NONE
    owned = {t: n for t, n in subscription.owned.items() if t in state.cluster.topics}
    update = Update(member, updated, replaced, owned, has_changed)
    is_last = old is not None and old.classic is None
    if downgrade and old and is_last and group.counts.classic == len(group.members) - 1:
        updated = _join_as_last(work, update, Replaced(old.member_id, updated), downgrade)
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


def _join_as_last(
    work: Work, update: Update, replaced: Replaced, downgrade: Downgrade
) -> ConsumerMember:
    """Bring a static member on that has changed its protocol as the last one; convert the group."""
    group = work.group
    epoch, _ = count_up(work, update, is_due=update.has_changed)
    is_stale = group.target_epoch < epoch
    after = update.after
    if not is_stale:
        target = group.target_of(after)
        after = reconcile(work, update, group.target_epoch, target)
    downgrade(work, replaced._replace(new=after, is_stale=is_stale))
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


def _updated(
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


def sync(state: ConsumerCoordinator, request: SyncGroup, out: Changes) -> None:
    """Send a member what it has been assigned. Raises `Refused`."""
    group = state.group
    member = _member(group, request.member_id, request.instance_id)
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


def heartbeat(state: ConsumerCoordinator, request: Heartbeat, out: Changes) -> None:
    """Tell a member whether it has to join again. Raises `Refused`."""
    group = state.group
    member = _member(group, request.member_id, request.instance_id)
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


def leave(state: ConsumerCoordinator, request: LeaveGroup, out: Changes) -> None:
    """Remove a member, whatever its protocol. Raises `Refused`."""
    group = state.group
    if request.instance_id is None:
        member = group.members.get(request.member_id)
        if member is None:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID)
    else:
        static = group.static_member(request.instance_id)
        known = "" if static is None else static.member_id
        member = require_static(static, request.member_id or known)
    fence(state, [member], out)
    apply(state, group, out)
    out.response = LeaveGroupResponse(ErrorCode.NONE)


def _member(group: ConsumerGroup, member_id: str, instance_id: str | None) -> ConsumerMember:
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


def _expect_join(state: ConsumerCoordinator, member: ConsumerMember, out: Changes) -> None:
    """Give a member its rebalance timeout to join again, unless the time runs already."""
    if member.member_id not in state.join_timers:
        state.join_timers.add(member.member_id)
        wait = member.rebalance_timeout_ms * MILLISECOND
        out.timers.append((("join", member.member_id), wait, 0))
