"""What the coordinator of a classic group does with each request, timer and written record.

JoinGroup requests wait until every member has sent one, or the longest rebalance timeout is over;
then all are answered at once, with the next generation. SyncGroup requests wait until the leader's
has come with the assignment and its record is replicated. Every request is a message of its own: a
member that joins again before another one has sent SyncGroup makes that SyncGroup fail with
REBALANCE_IN_PROGRESS.

Timers: `(SESSION, member_id)`, which every heartbeat starts again; `("join",)`, the end of the
join phase; `("sync",)`, by which every member must have sent SyncGroup.

Source: `GroupMetadataManager.classicGroupJoin`, `-Sync`, `-Heartbeat`, `-Leave` of Kafka 4.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Append,
    Cancel,
    Reply,
    Request,
    Schedule,
    TimerKey,
)
from assignors.simulation.timed.protocols.kafka.classic_group import (
    SESSION,
    ClassicGroup,
    GroupMember,
    GroupState,
)
from assignors.simulation.timed.protocols.kafka.messages import (
    SKIPS_ASSIGNMENT,
    UNKNOWN_MEMBER_ID,
    ClassicResponse,
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
from assignors.simulation.timed.protocols.kafka.state import (
    GroupCoordinator,
    WaitingAppend,
    record_of,
)

JOIN: tuple[str, ...] = ("join",)
SYNC: tuple[str, ...] = ("sync",)
NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
"""How long a new member may wait for the first barrier (`group.new.member.join.timeout.ms`)."""
HEARTBEAT_RESPONSES = {error: HeartbeatResponse(error) for error in ErrorCode}
IN_A_GENERATION = (GroupState.STABLE, GroupState.COMPLETING_REBALANCE)


def reply(
    state: GroupCoordinator,
    number: int,
    response: JoinGroupResponse | SyncGroupResponse | LeaveGroupResponse,
) -> None:
    """Answer a request."""
    state.out.append(Reply(number, response))


def answer_join(state: GroupCoordinator, member: GroupMember, response: JoinGroupResponse) -> None:
    """Answer the JoinGroup of a member, if one waits."""
    if member.waiting_join is not None:
        reply(state, member.waiting_join, response)
        member.waiting_join = None
        if member.member_id in state.classic.members:
            state.classic.joins_waiting -= 1


def answer_sync(state: GroupCoordinator, member: GroupMember, response: SyncGroupResponse) -> bool:
    """Answer the SyncGroup of a member; return whether one waited."""
    if member.waiting_sync is None:
        return False
    reply(state, member.waiting_sync, response)
    member.waiting_sync = None
    return True


def start(state: GroupCoordinator, key: TimerKey, after_ms: int, data: int = 0) -> None:
    """Start a timer, in place of the one of this key."""
    state.out.append(Schedule(key, after_ms * MILLISECOND, data))


def append(state: GroupCoordinator, waiting: WaitingAppend, plan: dict[str, bytes]) -> None:
    """Write the group with these assignments; `waiting` is what follows."""
    state.tokens += 1
    state.appends[state.tokens] = waiting
    state.out.append(Append((record_of(state.classic, plan),), state.tokens))


def rebalance_or_complete(state: GroupCoordinator) -> None:
    """Begin a rebalance, or end the join phase of the one that goes on."""
    if state.classic.state is GroupState.PREPARING_REBALANCE:
        complete_if_all_joined(state)
    else:
        prepare(state)


def prepare(state: GroupCoordinator) -> None:
    """Begin a rebalance: everybody has to join again."""
    group = state.classic
    if group.state is GroupState.COMPLETING_REBALANCE:
        deliver(state, {}, ErrorCode.REBALANCE_IN_PROGRESS)
    group.pending_syncs.clear()
    state.out.append(Cancel(SYNC))
    was_empty = group.state is GroupState.EMPTY
    group.move_to(GroupState.PREPARING_REBALANCE, state.now_ms)
    if was_empty:
        delay = state.config.initial_delay_ms
        start(state, JOIN, delay, max(group.rebalance_timeout_ms - delay, 0))
    elif group.have_all_joined:
        complete_join(state)
    else:
        start(state, JOIN, group.rebalance_timeout_ms)


def complete_if_all_joined(state: GroupCoordinator) -> None:
    """End the join phase if everybody has joined; a first rebalance waits for its delay."""
    group = state.classic
    is_delayed = group.previous is GroupState.EMPTY
    if group.state is GroupState.PREPARING_REBALANCE and not is_delayed and group.have_all_joined:
        complete_join(state)


def complete_if_last(state: GroupCoordinator) -> None:
    """End the join phase if the member that left was the last one awaited.

    Unlike a join or a leave this also ends the delay of a first rebalance: Kafka does so.
    """
    group = state.classic
    if group.state is GroupState.PREPARING_REBALANCE and group.have_all_joined:
        complete_join(state)


def join_over(state: GroupCoordinator, remaining_ms: int) -> None:
    """End the join phase without the rest; a first rebalance waits on while members come."""
    group = state.classic
    if group.previous is GroupState.EMPTY and group.has_new_member and remaining_ms > 0:
        group.has_new_member = False
        delay = min(state.config.initial_delay_ms, remaining_ms)
        # As Kafka counts: what remains falls by the first delay, not by the one that starts now.
        start(state, JOIN, delay, max(remaining_ms - state.config.initial_delay_ms, 0))
    else:
        complete_join(state)


def complete_join(state: GroupCoordinator) -> None:
    """End the join phase: the next generation begins, and every JoinGroup is answered."""
    group = state.classic
    state.out.append(Cancel(JOIN))
    some_are_late = group.joins_waiting < len(group.members)
    late = [each for each in group.in_order() if each.waiting_join is None] if some_are_late else ()
    for member in late:
        if member.instance_id is None:
            group.remove(member.member_id)
            state.out.append(Cancel((SESSION, member.member_id)))
    if group.members and not group.elect_joined_leader():
        start(state, JOIN, group.rebalance_timeout_ms)
        return
    group.generation += 1
    group.protocol = group.selected_protocol() if group.members else None
    group.note_subscriptions()
    following = GroupState.COMPLETING_REBALANCE if group.members else GroupState.EMPTY
    if not group.may_move_to(following):
        # The timer of an earlier classic group of this name, which became a consumer group. Kafka
        # 4.4.0 throws here, and what was done before is done.
        return
    group.move_to(following, state.now_ms)
    group.pending_syncs.clear()
    if not group.members:
        append(state, WaitingAppend(generation=group.generation), {})
        return
    group.pending_syncs.update(group.members)
    for member in group.in_order():
        if member.waiting_join is not None:
            member.generation = group.generation
        answer_join(state, member, joined(group, member))
        state.out.append(member.session_timer())
        member.is_new = False
    start(state, SYNC, group.rebalance_timeout_ms, group.generation)


def joined(group: ClassicGroup, member: GroupMember) -> JoinGroupResponse:
    """Return the answer of the current generation; the leader gets everybody's Subscriptions."""
    is_leader = group.leader == member.member_id
    return JoinGroupResponse(
        ErrorCode.NONE,
        member.member_id,
        generation=group.generation,
        protocol=group.protocol,
        leader=group.leader or "",
        members=group.joined_members() if is_leader else (),
    )


def deliver(state: GroupCoordinator, plan: dict[str, bytes], error: ErrorCode) -> None:
    """Answer every SyncGroup that waits, with a plan or with an error."""
    group = state.classic
    protocol = group.protocol if error is ErrorCode.NONE else None
    for member in group.in_order():
        member.assignment = plan.get(member.member_id, b"")
        if answer_sync(state, member, SyncGroupResponse(error, member.assignment, protocol)):
            state.out.append(member.session_timer())


def sync_over(state: GroupCoordinator, generation: int) -> None:
    """Members that have not sent SyncGroup in time are removed."""
    group = state.classic
    if generation == group.generation and group.state in IN_A_GENERATION and group.pending_syncs:
        for member_id in sorted(group.pending_syncs):
            group.remove(member_id)
            state.out.append(Cancel((SESSION, member_id)))
        prepare(state)


def remove(state: GroupCoordinator, member_id: str) -> None:
    """Remove a member, and answer its JoinGroup if one waits."""
    member = state.classic.members.get(member_id)
    if member is not None:
        answer_join(
            state, member, JoinGroupResponse(ErrorCode.UNKNOWN_MEMBER_ID, UNKNOWN_MEMBER_ID)
        )
    state.classic.remove(member_id)


def join(state: GroupCoordinator, number: int, request: JoinGroup) -> None:
    """Refuse a JoinGroup, or let it wait for the next generation.

    The first one that comes without a member id makes the group, which is a record of its own.
    """
    is_first = state.group is None
    if is_first and request.member_id != UNKNOWN_MEMBER_ID:
        refused = JoinGroupResponse(ErrorCode.UNKNOWN_MEMBER_ID, request.member_id)
        reply(state, number, refused)
        return
    if is_first:
        state.group = ClassicGroup(since_ms=state.now_ms)
    _join(state, number, request)
    if is_first:
        append(state, WaitingAppend(generation=state.classic.generation, made_by=number), {})


def _join(state: GroupCoordinator, number: int, request: JoinGroup) -> None:
    group = state.classic
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


def _join_refusal(state: GroupCoordinator, request: JoinGroup) -> ErrorCode:
    """Return why a JoinGroup is refused, `NONE` if it is not."""
    group, member_id = state.classic, request.member_id
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


def _has_room(state: GroupCoordinator, member_id: str) -> bool:
    """Return whether the group is not too large for this member."""
    group = state.classic
    if group.state is GroupState.EMPTY:
        return True
    member = group.members.get(member_id)
    if group.state is GroupState.PREPARING_REBALANCE:
        is_in = member is not None and member.waiting_join is not None
        return is_in or group.joins_waiting < state.config.classic_max_size
    return member is not None or len(group.members) < state.config.classic_max_size


def _join_new(state: GroupCoordinator, number: int, request: JoinGroup) -> None:
    """Give a dynamic member an id to join with (KIP-394); take a static one in."""
    group = state.classic
    member_id = state.new_id(request.instance_id or request.client_id)
    if request.instance_id is None:
        group.pending_ids.add(member_id)
        start(state, (SESSION, member_id), request.session_timeout_ms)
        reply(state, number, JoinGroupResponse(ErrorCode.MEMBER_ID_REQUIRED, member_id))
        return
    known = group.static_ids.get(request.instance_id)
    if known is None:
        _add(state, number, request, member_id)
    else:
        _return_static(state, number, request, group.members[known], member_id)


def _add(state: GroupCoordinator, number: int, request: JoinGroup, member_id: str) -> None:
    group = state.classic
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
    start(state, (SESSION, member_id), NEW_MEMBER_JOIN_TIMEOUT_MS)
    rebalance_or_complete(state)


def _join_again(state: GroupCoordinator, number: int, request: JoinGroup) -> None:
    """Begin a rebalance for a member that changes something or leads; else repeat its answer."""
    group = state.classic
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


def put_back_static(state: GroupCoordinator, member_id: str, waiting: WaitingAppend) -> None:
    """Put a static member back in its old place, as it was: its return could not be written.

    One that has gone meanwhile leaves what Kafka 4.4.0 leaves of it: its group counts as if it had
    changed its protocols once more.
    """
    group, old = state.classic, waiting.replaced
    assert old is not None, "it came in the place of another one"
    new = group.members.get(member_id)
    if new is None:
        assert waiting.came is not None, "it came in the place of another one"
        group.supported.subtract(each.name for each in waiting.came.protocols)
        group.supported.update(each.name for each in old.protocols)
        return
    group.update(new, old.protocols, new.waiting_join)
    new.session_timeout_ms = old.session_timeout_ms
    new.rebalance_timeout_ms = old.rebalance_timeout_ms
    known = group.replace_static(new, old.member_id)
    start(state, (SESSION, known.member_id), known.session_timeout_ms)


def _return_static(
    state: GroupCoordinator, number: int, request: JoinGroup, old: GroupMember, member_id: str
) -> None:
    """Put a static member in the place of the one it was; no rebalance follows (KIP-345)."""
    group = state.classic
    fenced = ErrorCode.FENCED_INSTANCE_ID
    answer_join(state, old, JoinGroupResponse(fenced, old.member_id))
    answer_sync(state, old, SyncGroupResponse(fenced))
    new = group.replace_static(old, member_id)
    start(state, (SESSION, member_id), new.session_timeout_ms)
    _update(group, new, request, number)
    if group.state is GroupState.STABLE:
        if group.selected_protocol() == group.protocol:
            assignments = {each.member_id: each.assignment for each in group.members.values()}
            waiting = WaitingAppend(
                generation=group.generation,
                returned=member_id,
                replaced=old,
                came=new,
                skips_assignment=request.version >= SKIPS_ASSIGNMENT,
            )
            append(state, waiting, assignments)
        else:
            rebalance_or_complete(state)
    elif group.state is GroupState.COMPLETING_REBALANCE:
        prepare(state)
    else:
        complete_if_all_joined(state)


def arrived(state: GroupCoordinator, number: int, request: Request) -> None:
    """Handle a request. Cost: O(1) for a heartbeat, O(members) for a barrier that opens."""
    if state.group is None and not isinstance(request, JoinGroup):
        state.out.append(Reply(number, refused(request, ErrorCode.UNKNOWN_MEMBER_ID)))
    elif isinstance(request, Heartbeat):
        state.out.append(Reply(number, HEARTBEAT_RESPONSES[_heartbeat(state, request)]))
    elif isinstance(request, JoinGroup):
        join(state, number, request)
    elif isinstance(request, SyncGroup):
        _sync(state, number, request)
    elif isinstance(request, LeaveGroup):
        _leave(state, number, request)
    else:
        raise AssertionError(request)


def refused(request: Request, code: ErrorCode) -> ClassicResponse:
    """Return the answer that refuses a request of a member of the classic protocol."""
    match request:
        case JoinGroup():
            return JoinGroupResponse(code, request.member_id)
        case SyncGroup():
            return SyncGroupResponse(code)
        case Heartbeat():
            return HEARTBEAT_RESPONSES[code]
    return LeaveGroupResponse(code)


def fired(state: GroupCoordinator, key: TimerKey, data: int) -> None:
    """Handle a timer."""
    if key[0] == SESSION:
        _session_over(state, key[1])
    elif key == JOIN:
        join_over(state, data)
    else:
        sync_over(state, data)


def append_failed(state: GroupCoordinator, tokens: Collection[int]) -> None:
    """Answer those who wait for records that were not written."""
    lost = [state.appends.pop(token) for token in sorted(tokens) if token in state.appends]
    # A group that was just made goes last: until then the others are answered as its members.
    for each in sorted(lost, key=lambda append: append.made_by is not None):
        _append_failed(state, each)


def _sync(state: GroupCoordinator, number: int, request: SyncGroup) -> None:
    group = state.classic
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


def committed(state: GroupCoordinator, token: int) -> None:
    """Deliver the plan whose record is replicated, or answer the static member that came back."""
    waiting = state.appends.pop(token)
    state.is_behind = False
    if waiting.left is not None:
        reply(state, waiting.left, LeaveGroupResponse(ErrorCode.NONE))
    if not isinstance(state.group, ClassicGroup):
        return
    group = state.group
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
        group.move_to(GroupState.STABLE, state.now_ms)


def _append_failed(state: GroupCoordinator, waiting: WaitingAppend) -> None:
    """Answer those who wait for a record that was not written; a plan needs another round.

    The group itself stays as it is: Kafka takes back what it replays, and these it does not. So the
    log lacks something until the next record. Only a group that was just made is gone, and who else
    has joined it meanwhile is not answered.
    """
    group, unavailable = state.group, ErrorCode.COORDINATOR_NOT_AVAILABLE
    state.is_behind = waiting.made_by is None
    if not isinstance(group, ClassicGroup):
        return
    if waiting.made_by is not None:
        for maker in group.members.values():
            if maker.waiting_join == waiting.made_by:
                answer_join(state, maker, JoinGroupResponse(unavailable, UNKNOWN_MEMBER_ID))
        state.group = None
        return
    if waiting.returned is not None:
        member = group.members.get(waiting.returned)
        if member is not None:
            old, led = waiting.replaced, group.leader == waiting.returned
            leader = old.member_id if led and old is not None else group.leader or ""
            answer = JoinGroupResponse(
                unavailable, UNKNOWN_MEMBER_ID, group.generation, group.protocol, leader
            )
            answer_join(state, member, answer)
        put_back_static(state, waiting.returned, waiting)
    elif (
        waiting.plan is not None
        and group.state is GroupState.COMPLETING_REBALANCE
        and waiting.generation == group.generation
    ):
        deliver(state, {}, unavailable)
        prepare(state)


def _heartbeat(state: GroupCoordinator, request: Heartbeat) -> ErrorCode:
    group = state.classic
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


def _leave(state: GroupCoordinator, number: int, request: LeaveGroup) -> None:
    group = state.classic
    member_id = request.member_id
    if member_id == UNKNOWN_MEMBER_ID and request.instance_id is not None:
        member_id = group.static_ids.get(request.instance_id, UNKNOWN_MEMBER_ID)
    if member_id in group.pending_ids:
        error = ErrorCode.NONE
    else:
        error = group.refusal(member_id, request.instance_id)
    if error is ErrorCode.NONE:
        state.out.append(Cancel((SESSION, member_id)))
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


def _session_over(state: GroupCoordinator, member_id: str) -> None:
    """No heartbeat has come in time. Who waits for an answer need not send any."""
    group = state.classic
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
