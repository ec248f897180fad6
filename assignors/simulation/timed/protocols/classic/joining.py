"""What the coordinator does with a JoinGroup request."""

from __future__ import annotations

from assignors.simulation.timed.protocols.classic.barriers import (
    complete_if_all_joined,
    joined,
    prepare,
    rebalance_or_complete,
)
from assignors.simulation.timed.protocols.classic.coordinator_state import (
    ClassicCoordinator,
    WaitingAppend,
    answer_join,
    answer_sync,
    append,
    reply,
    start,
)
from assignors.simulation.timed.protocols.classic.group import ClassicGroup, GroupMember
from assignors.simulation.timed.protocols.classic.messages import (
    SKIPS_ASSIGNMENT,
    UNKNOWN_MEMBER_ID,
    ErrorCode,
    JoinGroup,
    JoinGroupResponse,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.classic.states import GroupState

NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
"""How long a new member may wait for the first barrier (`group.new.member.join.timeout.ms`)."""


def join(state: ClassicCoordinator, number: int, request: JoinGroup) -> None:
    """Refuse a JoinGroup, or let it wait for the next generation.

    The first one that comes without a member id makes the group, which is a record of its own.
    """
    is_first = not state.exists
    if is_first and request.member_id != UNKNOWN_MEMBER_ID:
        refused = JoinGroupResponse(ErrorCode.UNKNOWN_MEMBER_ID, request.member_id)
        reply(state, number, refused)
        return
    state.exists = True
    _join(state, number, request)
    if is_first:
        append(state, WaitingAppend(generation=state.group.generation, made_by=number), {})


def _join(state: ClassicCoordinator, number: int, request: JoinGroup) -> None:
    group = state.group
    error = _join_refusal(state, request)
    if error is not ErrorCode.NONE:
        is_known = error is not ErrorCode.GROUP_MAX_SIZE_REACHED
        member_id = request.member_id if is_known else UNKNOWN_MEMBER_ID
        if not is_known:
            group.remove(request.member_id)
        reply(state, number, JoinGroupResponse(error, member_id))
    elif request.member_id == UNKNOWN_MEMBER_ID:
        _join_new(state, number, request)
    elif request.member_id in group.pending_ids:
        _add(state, number, request, request.member_id)
    else:
        _join_again(state, number, request)


def _join_refusal(state: ClassicCoordinator, request: JoinGroup) -> ErrorCode:
    """Return why a JoinGroup is refused, `NONE` if it is not."""
    group, member_id = state.group, request.member_id
    if not _has_room(state, member_id):
        return ErrorCode.GROUP_MAX_SIZE_REACHED
    if not group.supports(request.protocol_type, [each.name for each in request.protocols]):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if member_id in group.pending_ids and request.instance_id is not None:
        return ErrorCode.UNKNOWN_SERVER_ERROR
    if member_id == UNKNOWN_MEMBER_ID or member_id in group.pending_ids:
        return ErrorCode.NONE
    refusal = group.refusal(member_id, request.instance_id)
    if refusal is ErrorCode.NONE and group.state is GroupState.EMPTY:
        return ErrorCode.UNKNOWN_MEMBER_ID
    return refusal


def _has_room(state: ClassicCoordinator, member_id: str) -> bool:
    """Return whether the group is not too large for this member."""
    group = state.group
    if group.state is GroupState.EMPTY:
        return True
    member = group.members.get(member_id)
    if group.state is GroupState.PREPARING_REBALANCE:
        is_in = member is not None and member.waiting_join is not None
        return is_in or group.joins_waiting < state.config.max_size
    return member is not None or len(group.members) < state.config.max_size


def _join_new(state: ClassicCoordinator, number: int, request: JoinGroup) -> None:
    """Give a dynamic member an id to join with (KIP-394); take a static one in."""
    group = state.group
    member_id = state.new_id(request.instance_id or request.client_id)
    if request.instance_id is None:
        group.pending_ids.add(member_id)
        start(state, ("session", member_id), request.session_timeout_ms)
        reply(state, number, JoinGroupResponse(ErrorCode.MEMBER_ID_REQUIRED, member_id))
        return
    known = group.static_ids.get(request.instance_id)
    if known is None:
        _add(state, number, request, member_id)
    else:
        _return_static(state, number, request, group.members[known], member_id)


def _add(state: ClassicCoordinator, number: int, request: JoinGroup, member_id: str) -> None:
    group = state.group
    if group.state is GroupState.PREPARING_REBALANCE and group.previous is GroupState.EMPTY:
        group.has_new_member = True
    group.add(
        GroupMember(
            member_id=member_id,
            instance_id=request.instance_id,
            client_id=request.client_id,
            protocols=request.protocols,
            session_timeout_ms=request.session_timeout_ms,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            waiting_join=number,
            is_new=True,
        ),
        request.protocol_type,
    )
    start(state, ("session", member_id), NEW_MEMBER_JOIN_TIMEOUT_MS)
    rebalance_or_complete(state)


def _join_again(state: ClassicCoordinator, number: int, request: JoinGroup) -> None:
    """Begin a rebalance for a member that changes something or leads; else repeat its answer."""
    group = state.group
    member = group.members[request.member_id]
    is_same = request.protocols == member.protocols
    is_repeat = group.state is GroupState.COMPLETING_REBALANCE or (
        group.state is GroupState.STABLE and group.leader != member.member_id
    )
    if is_same and is_repeat:
        member.generation = group.generation  # one that was late for it is in it now
        reply(state, number, joined(group, member))
    else:
        _update(group, member, request, number)
        rebalance_or_complete(state)


def _update(group: ClassicGroup, member: GroupMember, request: JoinGroup, number: int) -> None:
    group.update(member, request.protocols, number)
    member.session_timeout_ms = request.session_timeout_ms
    member.rebalance_timeout_ms = request.rebalance_timeout_ms


def put_back_static(state: ClassicCoordinator, member_id: str, waiting: WaitingAppend) -> None:
    """Put a static member back in its old place, as it was: its return could not be written.

    One that has gone meanwhile leaves what Kafka 4.4.0 leaves of it: its group counts as if it had
    changed its protocols once more.
    """
    group, old = state.group, waiting.replaced
    assert old is not None, "it came in the place of another one"
    new = group.members.get(member_id)
    if new is None:
        group.supported.subtract(waiting.supports)
        group.supported.update(each.name for each in old.protocols)
        return
    group.update(new, old.protocols, new.waiting_join)
    new.session_timeout_ms = old.session_timeout_ms
    new.rebalance_timeout_ms = old.rebalance_timeout_ms
    known = group.replace_static(new, old.member_id)
    start(state, ("session", known.member_id), known.session_timeout_ms)


def _return_static(
    state: ClassicCoordinator, number: int, request: JoinGroup, old: GroupMember, member_id: str
) -> None:
    """Put a static member in the place of the one it was; no rebalance follows (KIP-345)."""
    group = state.group
    fenced = ErrorCode.FENCED_INSTANCE_ID
    answer_join(state, old, JoinGroupResponse(fenced, old.member_id))
    answer_sync(state, old, SyncGroupResponse(fenced))
    new = group.replace_static(old, member_id)
    start(state, ("session", member_id), new.session_timeout_ms)
    _update(group, new, request, number)
    if group.state is GroupState.STABLE:
        if group.selected_protocol() == group.protocol:
            assignments = {each.member_id: each.assignment for each in group.members.values()}
            names = tuple(each.name for each in request.protocols)
            waiting = WaitingAppend(
                generation=group.generation,
                returned=member_id,
                replaced=old,
                supports=names,
                skips_assignment=request.version >= SKIPS_ASSIGNMENT,
            )
            append(state, waiting, assignments)
        else:
            rebalance_or_complete(state)
    elif group.state is GroupState.COMPLETING_REBALANCE:
        prepare(state)
    else:
        complete_if_all_joined(state)
