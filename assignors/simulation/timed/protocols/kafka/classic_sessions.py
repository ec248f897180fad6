"""A member whose application processes each partition in a handler of its own, as with Sarama.

Such an application does not poll. It calls `Consume`, which joins, calls `Setup`, then starts a
`ConsumeClaim` for every partition, each in a goroutine, and returns when the session is over. A
handler learns that by its channel, which closes: it finishes its record and returns. `Cleanup` is
called when the last one has returned, and only then `Consume` returns, and the next one joins. So
one handler that does not return holds up the join of its member, and with it the whole group, until
the coordinator drops the member. Heartbeats leave all the time.

Under an eager protocol every rebalance ends the session. Under a cooperative one it survives: the
member joins again with what it has, and only handlers of what it loses must return, within the
rebalance timeout, or else the session ends. `Setup` and `Cleanup` are then called once. A JoinGroup
or SyncGroup without an answer ends it too: `Consume` returns with that error.

Timers: `("handler", topic, number)`, when a handler that has been told to return does so;
`("handlers-late",)`, by when those of revoked partitions must; `("assigned",)` and `("revoked",)`,
the ends of `Setup` and `Cleanup`. Of `MemberConfig` a handler takes `poll_ms` at most for its
record, `Setup` takes `assign_ms` and `Cleanup`, with the last commit, `revoke_ms`.

Source: Sarama 1.61.1: `newConsumerGroupSession`, `release`, `heartbeatLoop` and `startClaim` in
`consumer_group_session.go`, lines 81 to 217 and 354 to 491; `consumeCooperative`,
`reconcileAssignment`, `revokeClaims` in `consumer_group_cooperative.go`; `Consume` and `joinSync`
in `consumer_group.go`, lines 230 to 512.
"""

from __future__ import annotations

from collections.abc import Callable

from assignors.ownership.changes import TopicPartition, pairs
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Answered,
    Cancel,
    Command,
    Consume,
    Disturbed,
    Effect,
    Failed,
    Failure,
    Fired,
    MemberEvent,
    Schedule,
    TimerKey,
)
from assignors.simulation.timed.protocols.kafka import classic_member
from assignors.simulation.timed.protocols.kafka.classic_member import (
    WAITING,
    ClassicMember,
    MemberState,
    joined,
    leave,
    send_join,
    stop_beats,
    taken,
)
from assignors.simulation.timed.protocols.kafka.messages import (
    NO_GENERATION_ID,
    UNKNOWN_MEMBER_ID,
    ErrorCode,
    HeartbeatResponse,
    JoinGroupResponse,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.partitions import count, shared
from wire import TopicPartitions

HANDLER = "handler"
RETRY_US = 2_000_000
"""`Consumer.Group.Rebalance.Retry.Backoff`: how long a round that failed is waited for."""
RETRIED = (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE)
LOST = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION)


def step(state: ClassicMember, event: MemberEvent) -> list[Effect]:
    """Return what a member with handlers does about an event; `state` is changed in place.

    Cost: O(its partitions) where a session begins, changes or ends, and O(1) otherwise.
    """
    state.out = []
    return state.out if _handled(state, event) else classic_member.step(state, event)


def _handled(state: ClassicMember, event: MemberEvent) -> bool:
    """Do what the other members do not; return whether the event asks for that."""
    if isinstance(event, Answered):
        return _answered(state, event)
    if isinstance(event, Failed):
        is_awaited = state.state in WAITING and event.number == state.awaited
        has_failed = state.has_session and event.failure is not Failure.REFUSED
        is_over = is_awaited and (state.is_stopping or has_failed)
        if is_over:
            stop_beats(state)
            _end(state)
        return is_over
    if isinstance(event, Disturbed):
        if state.application.slow_down(event) and not event.by_us:
            for one, is_busy in state.returning.items():
                if is_busy:
                    state.out.append(Schedule(_timer(one), 0))
        return True
    if isinstance(event, Fired) and event.key[0] == HANDLER:
        _, topic, number = event.key
        _returned(state, topic, int(number))
        return True
    do = TIMERS.get(event.key[0]) if isinstance(event, Fired) else COMMANDS.get(event)
    if do is not None and state.is_up:
        do(state)
    return do is not None


def _answered(state: ClassicMember, answered: Answered) -> bool:
    """Handle an answer that leads to anything else than it does with other members."""
    number, response = answered
    if isinstance(response, HeartbeatResponse):
        state.is_connected = True
        _heard(state, response.error)
        return True
    if number != state.awaited or state.state not in WAITING:
        return False
    if not isinstance(response, JoinGroupResponse | SyncGroupResponse):
        return False
    state.is_connected = True
    error = response.error
    if error is ErrorCode.NONE:
        if isinstance(response, SyncGroupResponse):
            _synced(state, response)
        else:
            joined(state, response)
        return True
    if state.is_stopping:
        _end(state)
    elif error in RETRIED:
        send_join(state, RETRY_US)
    elif error in LOST and state.has_session:
        state.member_id, state.generation = UNKNOWN_MEMBER_ID, NO_GENERATION_ID
        _end(state)
    else:
        return False
    return True


def _heard(state: ClassicMember, error: ErrorCode) -> None:
    """Handle what a heartbeat reports: a rebalance, or that the member is no longer in the group.

    Who has heard that sends no heartbeat any more; it still waits for its handlers.
    """
    if error is ErrorCode.NONE:
        return
    if error is ErrorCode.REBALANCE_IN_PROGRESS:
        _rejoin(state)
    elif state.state is MemberState.STABLE:
        stop_beats(state)
        if state.application.is_in_callback:
            state.deferred = error
        else:
            _end(state)
    elif state.is_ending:
        stop_beats(state)


def _rejoin(state: ClassicMember) -> None:
    """Take part in a rebalance: at once, or after `Setup`. Who is on its way does so anyway."""
    if state.state is not MemberState.STABLE:
        return
    if state.application.is_in_callback:
        state.must_rejoin = True
    elif state.is_cooperative and all(topic in state.topics for topic in state.owned):
        send_join(state)
    else:
        _end(state)


def _synced(state: ClassicMember, response: SyncGroupResponse) -> None:
    """Begin a session, or go on with one."""
    assigned = taken(state, response)
    if assigned is None:
        return
    if state.is_beat_due or not state.has_session:
        state.is_beat_due = False
        state.out.append(Schedule(("heartbeat",), 0))
    if state.is_leader and state.must_follow_up:
        delay = state.config.heartbeat_interval_ms * MILLISECOND
        state.out.append(Schedule(("follow-up",), delay))
    if state.has_session:
        _change(state, assigned)
    else:
        state.has_session, state.owned = True, assigned
        state.call_back("assigned", state.config.assign_ms)
    if state.topics != state.joined_topics:
        _rejoin(state)


def _change(state: ClassicMember, assigned: TopicPartitions) -> None:
    """Let the handlers return of what is lost, then start those of what is new."""
    kept = shared(state.owned, assigned)
    if state.is_stopping:
        _end(state)
    elif count(kept) < count(state.owned):
        state.state, state.assigned = MemberState.REVOKING, assigned
        limit = state.config.rebalance_timeout_ms * MILLISECOND
        state.out.append(Schedule(("handlers-late",), limit))
        remain = pairs(assigned)
        _tell(state, [each for each in pairs(state.owned) if each not in remain])
    elif count(kept) < count(assigned):
        state.owned = assigned
        state.out.append(Consume(assigned, "assigned"))


def _set_up(state: ClassicMember) -> None:
    """Start the handlers, unless the session is over before it has begun."""
    state.application.is_in_callback = False
    is_over = state.is_stopping or state.deferred is not ErrorCode.NONE
    if is_over or (state.must_rejoin and not state.is_cooperative):
        state.owned = {}
        _end(state)
        return
    if state.owned:
        state.out.append(Consume(state.owned, "assigned"))
    if state.must_rejoin:
        state.must_rejoin = False
        _rejoin(state)


def _end(state: ClassicMember) -> None:
    """End the session: every handler is told to return. Without one, join or leave."""
    state.must_rejoin = False
    state.out += (Cancel(("handlers-late",)), Cancel(("follow-up",)))
    if not state.has_session:
        _go_on(state)
        return
    state.state, state.is_ending, state.assigned = MemberState.REVOKING, True, {}
    _tell(state, [each for each in pairs(state.owned) if each not in state.returning])
    if not state.returning:
        _clean_up(state)


def _tell(state: ClassicMember, partitions: list[TopicPartition]) -> None:
    """Let handlers return, each once its record is done; amid a long one the first does not yet."""
    is_busy = state.application.long_poll_us > 0 and not any(state.returning.values())
    for one in partitions:
        state.returning[one] = is_busy
        wait = state.draw("poll", state.config.poll_ms * MILLISECOND)
        if not is_busy:
            state.out.append(Schedule(_timer(one), wait))
        is_busy = False


def _timer(partition: TopicPartition) -> TimerKey:
    """Return the timer of a handler that is told to return."""
    topic, number = partition
    return HANDLER, topic, str(number)


def _returned(state: ClassicMember, topic: str, number: int) -> None:
    """Let go of a partition whose handler has returned; the last one lets the member go on."""
    del state.returning[topic, number]
    left = tuple(each for each in state.owned[topic] if each != number)
    state.owned = {
        name: left if name == topic else numbers
        for name, numbers in state.owned.items()
        if name != topic or left
    }
    state.out.append(Consume(state.owned, "revoked"))
    if state.returning:
        return
    if state.is_ending:
        _clean_up(state)
        return
    state.out.append(Cancel(("handlers-late",)))
    state.owned, state.assigned = state.assigned, {}
    state.out.append(Consume(state.owned, "assigned"))
    send_join(state)


def _clean_up(state: ClassicMember) -> None:
    """Call `Cleanup`, which every session ends with, even one without a partition."""
    state.call_back("revoked", state.config.revoke_ms)


def _cleaned_up(state: ClassicMember) -> None:
    """Return from `Consume`; the application calls it again, or has closed."""
    state.application.is_in_callback = False
    state.has_session = state.is_ending = False
    _go_on(state)


def _go_on(state: ClassicMember) -> None:
    if state.is_stopping:
        leave(state)
    else:
        send_join(state)


def _stop(state: ClassicMember) -> None:
    """Close: the session ends, and the member leaves. It waits for a round that it is in."""
    state.is_stopping = True
    is_at_work = state.state is MemberState.STABLE and not state.application.is_in_callback
    if is_at_work or (state.state is MemberState.REVOKING and not state.is_ending):
        _end(state)


def _lose_generation(state: ClassicMember) -> None:
    """End the session, as a member that is told so; one on its way gets a new one anyway."""
    _heard(state, ErrorCode.ILLEGAL_GENERATION)


TIMERS: dict[str, Callable[[ClassicMember], None]] = {
    "handlers-late": _end,
    "assigned": _set_up,
    "revoked": _cleaned_up,
    "follow-up": _rejoin,
}
"""What the timers do beside those of other members."""
COMMANDS: dict[Command, Callable[[ClassicMember], None]] = {
    Command.STOP: _stop,
    Command.REJOIN: _rejoin,
    Command.LOSE_GENERATION: _lose_generation,
}
"""The same of commands."""
