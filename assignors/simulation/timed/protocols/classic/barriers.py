"""The two barriers of a rebalance, and what opens them.

JoinGroup requests wait until every member has sent one, or the longest rebalance timeout is over;
then all are answered at once, with the next generation. SyncGroup requests wait until the leader's
has come with the assignment and its record is replicated.
"""

from __future__ import annotations

from assignors.simulation.timed.protocols.classic.coordinator_state import (
    ClassicCoordinator,
    WaitingAppend,
    answer_join,
    answer_sync,
    append,
    start,
)
from assignors.simulation.timed.protocols.classic.group import ClassicGroup, GroupMember
from assignors.simulation.timed.protocols.classic.messages import (
    UNKNOWN_MEMBER_ID,
    ErrorCode,
    JoinGroupResponse,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.classic.states import GroupState
from assignors.simulation.timed.protocols.effects import Cancel

JOIN: tuple[str, ...] = ("join",)
SYNC: tuple[str, ...] = ("sync",)
IN_A_GENERATION = (GroupState.STABLE, GroupState.COMPLETING_REBALANCE)


def rebalance_or_complete(state: ClassicCoordinator) -> None:
    """Begin a rebalance, or end the join phase of the one that goes on."""
    if state.group.state is GroupState.PREPARING_REBALANCE:
        complete_if_all_joined(state)
    else:
        prepare(state)


def prepare(state: ClassicCoordinator) -> None:
    """Begin a rebalance: everybody has to join again."""
    group = state.group
    if group.state is GroupState.COMPLETING_REBALANCE:
        deliver(state, {}, ErrorCode.REBALANCE_IN_PROGRESS)
    group.pending_syncs.clear()
    state.out.append(Cancel(SYNC))
    was_empty = group.state is GroupState.EMPTY
    group.move_to(GroupState.PREPARING_REBALANCE)
    if was_empty:
        delay = state.config.initial_delay_ms
        start(state, JOIN, delay, max(group.rebalance_timeout_ms - delay, 0))
    elif group.have_all_joined:
        complete_join(state)
    else:
        start(state, JOIN, group.rebalance_timeout_ms)


def complete_if_all_joined(state: ClassicCoordinator) -> None:
    """End the join phase if everybody has joined; a first rebalance waits for its delay."""
    group = state.group
    is_delayed = group.previous is GroupState.EMPTY
    if group.state is GroupState.PREPARING_REBALANCE and not is_delayed and group.have_all_joined:
        complete_join(state)


def complete_if_last(state: ClassicCoordinator) -> None:
    """End the join phase if the member that left was the last one awaited.

    Unlike a join or a leave this also ends the delay of a first rebalance: Kafka does so.
    """
    group = state.group
    if group.state is GroupState.PREPARING_REBALANCE and group.have_all_joined:
        complete_join(state)


def join_over(state: ClassicCoordinator, remaining_ms: int) -> None:
    """End the join phase without the rest; a first rebalance waits on while members come."""
    group = state.group
    if group.previous is GroupState.EMPTY and group.has_new_member and remaining_ms > 0:
        group.has_new_member = False
        delay = min(state.config.initial_delay_ms, remaining_ms)
        # As Kafka counts: what remains falls by the first delay, not by the one that starts now.
        start(state, JOIN, delay, max(remaining_ms - state.config.initial_delay_ms, 0))
    else:
        complete_join(state)


def complete_join(state: ClassicCoordinator) -> None:
    """End the join phase: the next generation begins, and every JoinGroup is answered."""
    group = state.group
    state.out.append(Cancel(JOIN))
    some_are_late = group.joins_waiting < len(group.members)
    late = [each for each in group.in_order() if each.waiting_join is None] if some_are_late else ()
    for member in late:
        if member.instance_id is None:
            group.remove(member.member_id)
            state.out.append(Cancel(("session", member.member_id)))
    if group.members and not group.elect_joined_leader():
        start(state, JOIN, group.rebalance_timeout_ms)
        return
    group.generation += 1
    group.protocol = group.selected_protocol() if group.members else None
    following = GroupState.COMPLETING_REBALANCE if group.members else GroupState.EMPTY
    if not group.may_move_to(following):
        # The timer of an earlier classic group of this name, which became a consumer group. Kafka
        # 4.4.0 throws here, and what was done before is done.
        return
    group.move_to(following)
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


def deliver(state: ClassicCoordinator, plan: dict[str, bytes], error: ErrorCode) -> None:
    """Answer every SyncGroup that waits, with a plan or with an error."""
    group = state.group
    protocol = group.protocol if error is ErrorCode.NONE else None
    for member in group.in_order():
        member.assignment = plan.get(member.member_id, b"")
        if answer_sync(state, member, SyncGroupResponse(error, member.assignment, protocol)):
            state.out.append(member.session_timer())


def sync_over(state: ClassicCoordinator, generation: int) -> None:
    """Members that have not sent SyncGroup in time are removed."""
    group = state.group
    if generation == group.generation and group.state in IN_A_GENERATION and group.pending_syncs:
        for member_id in sorted(group.pending_syncs):
            group.remove(member_id)
            state.out.append(Cancel(("session", member_id)))
        prepare(state)


def remove(state: ClassicCoordinator, member_id: str) -> None:
    """Remove a member, and answer its JoinGroup if one waits."""
    member = state.group.members.get(member_id)
    if member is not None:
        answer_join(
            state, member, JoinGroupResponse(ErrorCode.UNKNOWN_MEMBER_ID, UNKNOWN_MEMBER_ID)
        )
    state.group.remove(member_id)
