"""How a classic member joins, leads or follows, and applies its assignment; and what goes wrong.

The Subscription it joins with is real bytes, and so is the assignment it gets; a leader hands the
bytes of all members to `assignors.leader.lead`.

Java's client does not stop when its session must be over at the coordinator: it opens another
connection, and learns from the next answer that it is no longer in the group. Only then, and only
when the application polls, does it give up what it consumed. librdkafka gives up by itself
(`MemberConfig.stops_without_answer`).

Source: the heartbeat thread, `joinGroupIfNeeded` and `maybeLeaveGroup` of `AbstractCoordinator`.
"""

from __future__ import annotations

from dataclasses import replace

from assignors.leader import Memory
from assignors.membership import Membership
from assignors.model import NO_GENERATION
from assignors.simulation.timed.dialects.dialect import Reaction
from assignors.simulation.timed.dialects.unanswered import Unanswered
from assignors.simulation.timed.protocols.application import (
    RETRY_BACKOFF_US,
    call_back,
    watch_thread,
)
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Cancel,
    Consume,
    Disconnect,
    Disturbed,
    Failed,
    Failure,
    Schedule,
)
from assignors.simulation.timed.protocols.kafka.classic_member_state import (
    ClassicMember,
    MemberState,
    beat_again,
    beat_later,
    end,
    end_by_itself,
    led_whatever_fails,
    look_later,
    look_next_second,
    lose,
    pause_joins,
    poll_later,
    poll_to_its_end,
    react,
    say_leave,
    send,
    stop_beats,
    taken,
    written,
)
from assignors.simulation.timed.protocols.kafka.messages import (
    NO_GENERATION_ID,
    SKIPS_ASSIGNMENT,
    UNKNOWN_MEMBER_ID,
    ErrorCode,
    Heartbeat,
    JoinGroup,
    JoinGroupResponse,
    LeaveGroup,
    Protocol,
    SyncGroup,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.partitions import count, shared
from assignors.simulation.timed.scenario import ClientModel
from wire import TopicPartitions
from wire.constructors import unchecked

FATAL = (
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
    ErrorCode.GROUP_MAX_SIZE_REACHED,
)
"""Errors after which a consumer gives up."""
ENDED_BY_A_JOIN = tuple(Cancel((name,)) for name in ("poll", "follow-up", "max-poll", "heartbeat"))
"""Timers that run no longer while a member joins."""
NOT_LATE = Cancel(("max-poll",))
LOSING = (ClientModel.IN_POLL, ClientModel.HEARTBEAT_THREAD)
"""Models of the client whose `close` knows no generation amid a rebalance."""
BEFORE_THE_RUN = 0
"""The generation of what members owned before: the coordinator's first one is 1."""
WAITING = (MemberState.JOINING, MemberState.SYNCING)
"""States in which a JoinGroup or SyncGroup may wait for its answer."""
_membership, _memory = unchecked(Membership), unchecked(Memory)


def start_process(state: ClassicMember) -> None:
    """Start the process: a consumer without a member id and without a past."""
    is_first = state.number == 0
    state.claimed = state.config.owned if is_first else {}
    state.memberships = tuple(
        _membership(
            kind=assignor.user_data,
            rack_id=state.config.rack_id,
            assigned=state.claimed,
            generation=BEFORE_THE_RUN if state.claimed else NO_GENERATION_ID,
        )
        for assignor in state.assignors
    )
    state.topics = state.topics or state.config.topics
    state.member_id, state.generation, state.owned = UNKNOWN_MEMBER_ID, NO_GENERATION_ID, {}
    state.must_rejoin = state.must_follow_up = state.is_stopping = state.is_leader = False
    state.must_start_anew, state.failures, state.user_data = False, 0, None
    state.is_beat_due = True
    state.memory = _memory()
    state.is_connected = state.may_join = True
    look_next_second(state)
    state.application.restart()
    send_join(state)


def send_join(state: ClassicMember, after_us: int = 0) -> None:
    """Join with what it owns now."""
    memberships, protocols = [], []
    for assignor, membership in zip(state.assignors, state.memberships, strict=True):
        after, blob = written(state, assignor, membership)
        memberships.append(after)
        protocols.append(Protocol(assignor.name, blob))
    begin_join(state, tuple(memberships))
    config = state.config
    pause_joins(state)
    poll_to_its_end(state)
    state.out += ENDED_BY_A_JOIN[:-1] if state.beats_go_on else ENDED_BY_A_JOIN
    state.awaited = send(
        state,
        JoinGroup(
            config.name,
            state.member_id,
            config.instance_id,
            config.session_timeout_ms,
            config.rebalance_timeout_ms,
            tuple(protocols),
            version=SKIPS_ASSIGNMENT if state.dialect is None else state.dialect.join_version,
        ),
        after_us,
    )


def begin_join(state: ClassicMember, memberships: tuple[Membership, ...]) -> None:
    """Let a member join that has written its Subscriptions: `memberships` are those after it."""
    state.state = MemberState.JOINING
    state.must_rejoin = state.application.has_left = state.is_round_lost = False
    state.deferred = ErrorCode.NONE
    state.memberships = memberships


def joined(state: ClassicMember, response: JoinGroupResponse) -> None:
    """Take part in the generation that the answer names, or do what the error asks for."""
    error, state.late, state.plan = response.error, 0, ()
    if error is ErrorCode.NONE:
        state.member_id, state.generation = response.member_id, response.generation
        state.state = MemberState.SYNCING
        state.chosen = [each.name for each in state.assignors].index(response.protocol or "")
        state.is_leader = response.leader == response.member_id
        config = state.config
        if state.waits_for_sync and not state.beats_go_on:
            state.is_beat_due = state.beats_at_once
        if not (state.beats_go_on or state.beats_anew or config.runs_handlers):
            beat_later(state)
        if response.members and not response.skip_assignment:
            compute(state, response)
        else:
            send_sync(state, state.draw("sync", state.config.sync_delay_us))
    elif error is ErrorCode.MEMBER_ID_REQUIRED:
        state.member_id = response.member_id
        send_join(state)
    else:
        failed(state, error)


def compute(state: ClassicMember, response: JoinGroupResponse) -> None:
    """Compute the assignment, as the leader, and send it once the time for that is over."""
    led, error = led_whatever_fails(state, response)
    if isinstance(led, Reaction):
        react(state, led, error)
        return
    state.plan = led
    known = state.cluster.topics
    count = sum(topic.partition_count for topic in known.values())
    takes = state.compute_us_per_partition * count + state.application.slow_assignor_us
    state.out += watch_thread(state.config, takes)
    state.out.append(Schedule(("computed",), takes))


def retry(state: ClassicMember) -> None:
    """Join again, after what was received could not be used."""
    if state.must_start_anew:
        state.must_start_anew = False
        failed(state, ErrorCode.UNKNOWN_MEMBER_ID)
    else:
        send_join(state)


def computed(state: ClassicMember) -> None:
    """Send the assignment, unless the leader has lost its place meanwhile."""
    if state.application.has_left:
        failed(state, ErrorCode.UNKNOWN_MEMBER_ID)
    elif state.state is MemberState.SYNCING:
        send_sync(state, 0)


def send_sync(state: ClassicMember, after_us: int) -> None:
    """Send SyncGroup; a leader puts the assignment of everybody into it."""
    request = SyncGroup(
        state.member_id,
        state.config.instance_id,
        state.generation,
        state.assignors[state.chosen].name,
        state.plan,
    )
    if not state.sends_again:
        state.plan = ()
    state.awaited = send(state, request, after_us)


def synced(state: ClassicMember, response: SyncGroupResponse) -> None:
    """Apply an assignment; the callbacks take their time."""
    state.late = 0
    if state.is_between_polls:
        state.is_round_lost = True
        return
    if response.error is not ErrorCode.NONE:
        failed(state, response.error)
        return
    assigned = taken(state, response)
    if assigned is None:
        return
    if state.times.between_polls_us:
        state.out += (Cancel(("poll-ends",)),)
    beat_again(state)
    claimed, state.claimed = state.claimed, {}
    held = claimed if claimed and state.is_cooperative else state.owned
    kept = shared(held, assigned)
    kept_count = count(kept)
    has_lost = kept is not held and kept_count < count(held)
    state.owned = assigned
    if has_lost:
        # What it lost it stops at once; what is new to it starts after both callbacks.
        state.out.append(Consume(kept, "revoked"))
        state.state = MemberState.REVOKING
        state.out += call_back(state.application, state.config, "revoked", state.config.revoke_ms)
    elif kept_count < count(assigned) or claimed:
        state.out += call_back(state.application, state.config, "assigned", state.config.assign_ms)
    if state.is_leader and state.must_follow_up and not has_lost:
        delay = state.config.heartbeat_interval_ms * MILLISECOND
        state.out.append(Schedule(("follow-up",), delay))
    begin_long_poll(state)


def revoke_then_join(state: ClassicMember, kept: TopicPartitions) -> None:
    """Join with `kept`, once the callback for what is revoked is over."""
    if count(kept) == count(state.owned):
        send_join(state)
        return
    state.owned = kept
    state.state = MemberState.REVOKING
    state.out.append(Consume(kept, "revoked"))
    state.out += call_back(state.application, state.config, "revoked", state.config.revoke_ms)


def revoke_then_leave(state: ClassicMember) -> None:
    """Leave, once the callback for what it still owns is over.

    Java's client, which closes amid a rebalance, calls that lost (`onLeavePrepare`): no commit.
    """
    if state.config.client_model in LOSING and state.state in WAITING:
        lose(state, "lost")
    if state.owned:
        revoke_then_join(state, {})
    else:
        leave(state)


def revoked(state: ClassicMember) -> None:
    """Leave, or join again, once the callback for revoked partitions is over."""
    state.application.is_in_callback = False
    if state.is_stopping:
        revoke_then_leave(state)
        return
    if state.application.has_left:
        failed(state, ErrorCode.UNKNOWN_MEMBER_ID)
        return
    if state.owned:
        state.out.append(Consume(state.owned, "assigned"))
    if state.times.between_polls_us and state.is_cooperative:
        state.state, state.must_rejoin = MemberState.STABLE, True
        poll_later(state)
        return
    send_join(state)


def assigned(state: ClassicMember) -> None:
    """Consume what is new: the callback for assigned partitions is over."""
    state.application.is_in_callback = False
    if not state.application.has_left and state.deferred is ErrorCode.NONE:
        state.out.append(Consume(state.owned, "assigned"))


def poll(state: ClassicMember) -> None:
    """Prepare to join: under an eager protocol everything is revoked first."""
    if state.state is not MemberState.STABLE or state.application.is_busy:
        return
    wanted = {topic: n for topic, n in state.owned.items() if topic in state.topics}
    kept: TopicPartitions = wanted if state.is_cooperative else {}
    if not state.may_join and state.is_cooperative and count(kept) == count(state.owned):
        state.is_join_due = True
        return
    revoke_then_join(state, kept)


def begin_long_poll(state: ClassicMember) -> None:
    """Let the application be busy with its records, if it takes long for them."""
    application = state.application
    if application.long_poll_us and not application.is_busy and state.state is MemberState.STABLE:
        application.is_in_poll = True
        state.out += watch_thread(state.config, application.long_poll_us)


def free(state: ClassicMember, *, at_once: bool = True) -> None:
    """Do what has waited for the application's thread: at once, or a rebalance at the next poll."""
    if state.application.is_busy or state.state is not MemberState.STABLE:
        return
    state.out.append(NOT_LATE)
    if state.is_stopping:
        revoke_then_leave(state)
    elif state.application.has_left:
        failed(state, ErrorCode.UNKNOWN_MEMBER_ID)
    elif state.deferred is not ErrorCode.NONE:
        failed(state, state.deferred)
    elif state.must_rejoin and at_once:
        poll(state)
    elif state.must_rejoin:
        poll_later(state)
    else:
        begin_long_poll(state)


def leave(state: ClassicMember) -> None:
    """Leave the group and end; a static member says nothing, so that it can come back."""
    say_leave(state)
    end(state)


def failed(state: ClassicMember, error: ErrorCode) -> None:
    """Do what an error asks for: join again as the same member, as a new one, or give up."""
    if error in FATAL:
        lose(state, "fenced")
        end_by_itself(state, error.name)
        return
    if error is ErrorCode.COORDINATOR_NOT_AVAILABLE:
        send_join(state, RETRY_BACKOFF_US)
        return
    if error is ErrorCode.REBALANCE_IN_PROGRESS:
        if state.is_cooperative:
            send_join(state)
        else:
            revoke_then_join(state, {})
        return
    if error is ErrorCode.UNKNOWN_MEMBER_ID:
        state.member_id = UNKNOWN_MEMBER_ID
    state.generation = NO_GENERATION_ID
    lose(state, "lost")
    send_join(state)


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
