"""What the coordinator of a classic group does with each request, timer and written record.

Every request is a message of its own: a member that joins again before another one has sent
SyncGroup makes that SyncGroup fail with REBALANCE_IN_PROGRESS.

Timers: `("session", member_id)`, which every heartbeat starts anew; `("join",)`, the end of the
first barrier; `("sync",)`, by which every member must have sent SyncGroup.

Source: `GroupMetadataManager.classicGroupJoin`, `-Sync`, `-Heartbeat`, `-Leave` of Kafka 4.
"""

from __future__ import annotations

from dataclasses import replace

from assignors.simulation.timed.protocols.classic.barriers import (
    IN_A_GENERATION,
    complete_if_all_joined,
    complete_if_last,
    deliver,
    join_over,
    joined,
    prepare,
    remove,
    sync_over,
)
from assignors.simulation.timed.protocols.classic.coordinator_state import (
    ClassicCoordinator,
    WaitingAppend,
    answer_join,
    append,
    reply,
)
from assignors.simulation.timed.protocols.classic.group import ClassicGroup
from assignors.simulation.timed.protocols.classic.joining import join, put_back_static
from assignors.simulation.timed.protocols.classic.messages import (
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
from assignors.simulation.timed.protocols.classic.states import GroupState
from assignors.simulation.timed.protocols.effects import (
    Append,
    AppendFailed,
    Arrived,
    Cancel,
    CoordinatorEvent,
    Effect,
    Fired,
    Reply,
)

HEARTBEAT_RESPONSES = {error: HeartbeatResponse(error) for error in ErrorCode}


def step(state: ClassicCoordinator, event: CoordinatorEvent) -> list[Effect]:
    """Return what the coordinator does about an event; `state` is changed in place.

    Cost: O(1) for a heartbeat, O(members) for a barrier that opens, O(log members) otherwise.
    """
    state.out = []
    if isinstance(event, Arrived):
        _arrived(state, event)
    elif isinstance(event, Fired):
        if state.exists:  # else it is gone with its first record, and its timers find nothing
            _fired(state, event)
    elif isinstance(event, AppendFailed):
        lost = [state.appends.pop(n) for n in sorted(event.tokens & state.appends.keys())]
        # A group that was just made goes last: until then the others are answered as its members.
        for each in sorted(lost, key=lambda append: append.made_by is not None):
            _append_failed(state, each)
    else:
        _committed(state, state.appends.pop(event.token))
    return state.out


def _arrived(state: ClassicCoordinator, event: Arrived) -> None:
    number, request = event
    if isinstance(request, Heartbeat):
        state.out.append(Reply(number, HEARTBEAT_RESPONSES[_heartbeat(state, request)]))
    elif isinstance(request, JoinGroup):
        join(state, number, request)
    elif isinstance(request, SyncGroup):
        _sync(state, number, request)
    elif isinstance(request, LeaveGroup):
        _leave(state, number, request)


def _fired(state: ClassicCoordinator, event: Fired) -> None:
    kind = event.key[0]
    if kind == "session":
        _session_over(state, event.key[1])
    elif kind == "join":
        join_over(state, event.data)
    elif kind == "sync":
        sync_over(state, event.data)


def _sync(state: ClassicCoordinator, number: int, request: SyncGroup) -> None:
    group = state.group
    error = _sync_refusal(group, request)
    if error is not ErrorCode.NONE:
        reply(state, number, SyncGroupResponse(error))
        return
    member = group.members[request.member_id]
    group.pending_syncs.discard(member.member_id)
    if group.state is GroupState.STABLE:
        answer = SyncGroupResponse(ErrorCode.NONE, member.assignment, group.protocol)
        reply(state, number, answer)
        return
    member.waiting_sync = number
    if group.leader == member.member_id:
        sent = dict(request.assignments)
        plan = {each: sent.get(each, b"") for each in group.members}
        append(state, WaitingAppend(generation=group.generation, plan=plan), plan)


def _sync_refusal(group: ClassicGroup, request: SyncGroup) -> ErrorCode:
    refusal = group.refusal(request.member_id, request.instance_id)
    if refusal is not ErrorCode.NONE:
        return refusal
    if request.generation != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    if _differs(request.protocol_type, group.protocol_type) or _differs(
        request.protocol, group.protocol
    ):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if group.state is GroupState.PREPARING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE


def _differs(said: str | None, known: str | None) -> bool:
    """Return whether a request names another one; a group without a generation has none yet."""
    return said != known and said is not None and known is not None


def _committed(state: ClassicCoordinator, waiting: WaitingAppend) -> None:
    """Deliver the plan whose record is replicated, or answer the static member that came back."""
    group = state.group
    state.is_behind = False
    if waiting.left is not None:
        reply(state, waiting.left, LeaveGroupResponse(ErrorCode.NONE))
    if waiting.returned is not None:
        member = group.members.get(waiting.returned)
        if member is not None:
            is_leader = group.leader == member.member_id
            answer = joined(group, member)._replace(skip_assignment=is_leader)
            if is_leader and not waiting.skips_assignment:
                # The id that it had before: so it does not assign, and does not know that it leads.
                assert waiting.replaced is not None, "it came in the place of another one"
                former = waiting.replaced.member_id
                answer = answer._replace(leader=former, members=(), skip_assignment=False)
            answer_join(state, member, answer)
    elif (
        waiting.plan is not None
        and group.state is GroupState.COMPLETING_REBALANCE
        and waiting.generation == group.generation
    ):
        deliver(state, waiting.plan, ErrorCode.NONE)
        group.move_to(GroupState.STABLE)


def _append_failed(state: ClassicCoordinator, waiting: WaitingAppend) -> None:
    """Answer those who wait for a record that was not written; a plan needs another round.

    The group itself stays as it is: Kafka takes back what it replays, and these it does not. So the
    log lacks something until the next record. Only a group that was just made is gone, and who else
    has joined it meanwhile is not answered.
    """
    group = state.group
    unavailable = ErrorCode.COORDINATOR_NOT_AVAILABLE
    if waiting.made_by is not None:
        for maker in group.members.values():
            if maker.waiting_join == waiting.made_by:
                answer_join(state, maker, JoinGroupResponse(unavailable, UNKNOWN_MEMBER_ID))
        state.group, state.exists, state.is_behind = ClassicGroup(), False, False
        return
    state.is_behind = True
    if waiting.returned is not None:
        member = group.members.get(waiting.returned)
        if member is not None:
            answer_join(state, member, JoinGroupResponse(unavailable, UNKNOWN_MEMBER_ID))
        put_back_static(state, waiting.returned, waiting)
    elif (
        waiting.plan is not None
        and group.state is GroupState.COMPLETING_REBALANCE
        and waiting.generation == group.generation
    ):
        deliver(state, {}, unavailable)
        prepare(state)


def _heartbeat(state: ClassicCoordinator, request: Heartbeat) -> ErrorCode:
    group = state.group
    refusal = group.refusal(request.member_id, request.instance_id)
    if refusal is not ErrorCode.NONE:
        return refusal
    if request.generation != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    member = group.members[request.member_id]
    state.out.append(member.session_timer())
    if group.state is GroupState.PREPARING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE


def _leave(state: ClassicCoordinator, number: int, request: LeaveGroup) -> None:
    group = state.group
    member_id = request.member_id
    if member_id == UNKNOWN_MEMBER_ID and request.instance_id is not None:
        member_id = group.static_ids.get(request.instance_id, UNKNOWN_MEMBER_ID)
    if member_id in group.pending_ids:
        error = ErrorCode.NONE
    else:
        error = group.refusal(member_id, request.instance_id)
    if error is ErrorCode.NONE:
        state.out.append(Cancel(("session", member_id)))
        remove(state, member_id)
        if group.state in IN_A_GENERATION:
            prepare(state)
        else:
            complete_if_all_joined(state)
    written = [each.token for each in state.out if isinstance(each, Append)]
    if written:
        state.appends[written[0]] = replace(state.appends[written[0]], left=number)
    else:
        reply(state, number, LeaveGroupResponse(error))


def _session_over(state: ClassicCoordinator, member_id: str) -> None:
    """No heartbeat has come in time. Who waits for an answer need not send any."""
    group = state.group
    if member_id in group.pending_ids:
        group.remove(member_id)
        complete_if_last(state)
        return
    member = group.members.get(member_id)
    if member is None:
        return
    is_waiting = member.waiting_join is not None or member.waiting_sync is not None
    if is_waiting and not member.is_new:
        return
    remove(state, member_id)
    if group.state in IN_A_GENERATION:
        prepare(state)
    else:
        complete_if_last(state)
