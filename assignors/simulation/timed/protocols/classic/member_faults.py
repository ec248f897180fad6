"""What a member does when something goes wrong: no answer in time, no poll in time, no generation.

Java's client does not stop when its session must be over at the coordinator: it opens another
connection, and learns from the next answer that it is no longer in the group. Only then, and only
when the application polls, does it give up what it consumed. librdkafka gives up by itself
(`MemberConfig.stops_without_answer`).

Source: the heartbeat thread, `joinGroupIfNeeded` and `maybeLeaveGroup` of `AbstractCoordinator`.
"""

from __future__ import annotations

from dataclasses import replace

from assignors.model import NO_GENERATION
from assignors.simulation.timed.dialects.unanswered import Unanswered
from assignors.simulation.timed.protocols.application import RETRY_BACKOFF_US
from assignors.simulation.timed.protocols.classic.member_rounds import (
    WAITING,
    begin_long_poll,
    failed,
    free,
    poll,
    revoke_then_join,
    send_join,
    send_sync,
)
from assignors.simulation.timed.protocols.classic.member_state import (
    ClassicMember,
    beat_later,
    look_later,
    look_next_second,
    lose,
    poll_to_its_end,
    send,
    stop_beats,
)
from assignors.simulation.timed.protocols.classic.messages import (
    NO_GENERATION_ID,
    UNKNOWN_MEMBER_ID,
    ErrorCode,
    Heartbeat,
    LeaveGroup,
)
from assignors.simulation.timed.protocols.classic.states import MemberState
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Disconnect,
    Disturbed,
    Failed,
    Failure,
    Schedule,
)

BEATING = (MemberState.STABLE, MemberState.REVOKING, MemberState.SYNCING)
"""States in which a member sends heartbeats."""


def beat(state: ClassicMember, after_us: int = 0) -> None:
    """Send a heartbeat; the next one is due an interval later, whenever the answer comes.

    One that waits for its connection to open is enough. One that is due amid a round waits for it.
    """
    is_joining = state.state in {MemberState.JOINING, MemberState.SYNCING}
    waits_for_round = is_joining and (state.beats_go_on or state.waits_for_sync)
    if waits_for_round or (state.times.wake_ms and not after_us):
        state.is_beat_due = True
        return
    _send_beat(state, after_us)


def _send_beat(state: ClassicMember, after_us: int) -> None:
    if state.is_connected or after_us:
        request = Heartbeat(state.member_id, state.config.instance_id, state.generation)
        send(state, request, after_us)
    beat_later(state)


def look(state: ClassicMember) -> None:
    """Do what is due, and look again."""
    look_later(state)
    _do_due(state)


def look_each_second(state: ClassicMember) -> None:
    """Do what is due, and look again in a second."""
    look_next_second(state)
    _do_due(state)


def _do_due(state: ClassicMember) -> None:
    """Send a heartbeat that is due, and the JoinGroup that has waited for its second."""
    is_in = not state.application.has_left and state.deferred is ErrorCode.NONE
    if state.is_beat_due and is_in and state.state in {MemberState.STABLE, MemberState.REVOKING}:
        state.is_beat_due = False
        _send_beat(state, 0)
    if state.is_join_due:
        state.is_join_due = False
        poll(state)


def end_join_pause(state: ClassicMember) -> None:
    """Let a join follow."""
    state.may_join = True


def end_poll(state: ClassicMember) -> None:
    """Leave a poll whose time is over, while the member waits for its round to end."""
    if state.state in WAITING:
        state.is_between_polls = True
        state.out.append(Schedule(("poll-begins",), state.times.between_polls_us))


def begin_poll(state: ClassicMember) -> None:
    """Wait on for the round, or ask again for the assignment that was lost."""
    if state.state not in WAITING:
        return
    if state.is_round_lost:
        send_join(state)
    else:
        poll_to_its_end(state)


def lose_place(state: ClassicMember, error: ErrorCode) -> None:
    """Do what an error asks for, once the application's thread has time for it."""
    if state.application.is_busy:
        state.deferred = error
        stop_beats(state)
    else:
        failed(state, error)


def request_failed(state: ClassicMember, event: Failed) -> None:
    """Send a request that has no answer again, on the next connection."""
    if state.state in WAITING and event.number == state.awaited:
        _ask_again(state, event.failure)
    elif state.state in BEATING and event.number > state.reconnected_at:
        if state.application.has_left:
            return
        state.is_connected = False
        state.reconnected_at = state.number
        beat(state, RETRY_BACKOFF_US)


def _ask_again(state: ClassicMember, failure: Failure) -> None:
    """Ask again for a generation, or for an assignment, as the member's client does.

    Most join again as who they are: they revoke nothing for that.
    """
    dialect = state.dialect
    if dialect is None or failure is Failure.REFUSED:
        send_join(state, RETRY_BACKOFF_US)
        return
    after_us = dialect.retry_ms * MILLISECOND
    match dialect.unanswered:
        case Unanswered.LOSES:
            _send_again_or_lose(state, failure, dialect.retry_ms)
        case Unanswered.REVOKES if state.owned:
            revoke_then_join(state, {})
        case Unanswered.NEW_AT_FIRST if not _has_been_assigned(state):
            state.member_id = UNKNOWN_MEMBER_ID
            send_join(state, after_us)
        case _:
            send_join(state, after_us)


def _send_again_or_lose(state: ClassicMember, failure: Failure, retry_ms: int) -> None:
    """Send the same request again while a session lasts; then give up everything, and join.

    The pauses in between double each time.
    """
    config, is_syncing = state.config, state.state is MemberState.SYNCING
    pause_ms = retry_ms << state.late
    if failure is Failure.LATE:
        state.late += 1
        limit_ms = config.sync_limit_ms if is_syncing else config.join_limit_ms
        paused_ms = retry_ms * ((1 << state.late) - 1)
        if state.late * limit_ms + paused_ms > config.session_timeout_ms:
            state.late = 0
            lose(state, "lost")
            state.memberships = tuple(replace(each, assigned={}) for each in state.memberships)
            send_join(state, retry_ms * MILLISECOND)
            return
    if is_syncing:
        send_sync(state, pause_ms * MILLISECOND)
    else:
        send_join(state, pause_ms * MILLISECOND)


def _has_been_assigned(state: ClassicMember) -> bool:
    return any(each.generation != NO_GENERATION for each in state.memberships)


def session_over(state: ClassicMember) -> None:
    """Open another connection: no answer has come for a session timeout."""
    is_patient = state.waits_for_sync and state.state is MemberState.SYNCING
    if state.state not in BEATING or is_patient:
        return
    state.out.append(Disconnect())
    if state.config.stops_without_answer and state.state is MemberState.STABLE:
        lose_place(state, ErrorCode.ILLEGAL_GENERATION)


def lose_generation(state: ClassicMember) -> None:
    """Forget the generation, not the member id; a member on its way gets a new one anyway."""
    if state.state is MemberState.STABLE:
        lose_place(state, ErrorCode.ILLEGAL_GENERATION)


def forget_generation(state: ClassicMember) -> None:
    """Forget the generation as librdkafka does that has committed with an older one.

    At rest it gives up everything and joins again. Amid a rebalance it only forgets: a JoinGroup
    whose answer has yet to come brings a new generation, but a member that waits for its
    assignment has none from then on, and hears so in answer to its next heartbeat.

    Source: `rd_kafka_cgrp_op_handle_OffsetCommit`, `rd_kafka_cgrp_revoke_all_rejoin_maybe`.
    """
    if state.state is MemberState.STABLE:
        lose_place(state, ErrorCode.ILLEGAL_GENERATION)
    else:
        state.generation = NO_GENERATION_ID


def slow_down(state: ClassicMember, event: Disturbed) -> None:
    """Take over how slow the application is; a long poll begins or ends."""
    if state.application.slow_down(event):
        begin_long_poll(state)
        free(state)


def poll_late(state: ClassicMember) -> None:
    """Leave the group: the application has not polled in time. It does not know yet."""
    if state.member_id and state.config.instance_id is None and state.is_connected:
        send(state, LeaveGroup(state.member_id))
    state.member_id, state.generation = UNKNOWN_MEMBER_ID, NO_GENERATION_ID
    state.application.has_left = True
    stop_beats(state)
