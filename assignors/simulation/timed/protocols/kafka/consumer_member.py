"""What a consumer with the protocol of KIP-848 does with each answer, timer and command.

It sends heartbeats, one at a time. An answer with an assignment says what it may consume from now
on. What is missing it gives up first, then it takes what is new, each in a callback; once both are
over it says at once what it owns, in a heartbeat. Nobody else is stopped by that.

Callbacks run in the application's polls: the next one runs that for what is given up, the one after
it that for what is new, even if nothing is. While a callback runs the member handles nothing else.

Timers: `("heartbeat",)`; `("poll",)`, the poll of the first callback; `("revoked",)`, the end of
that callback; `("take",)`, the poll of the second one; `("assigned",)`, its end; `("max-poll",)`,
by which the application has to poll.

It has no session timeout of its own: one that is cut off goes on until an answer says that it is
fenced. Only then, and only when the application polls, does it give up what it consumed, and joins
again with epoch 0. Nor does it repeat a heartbeat by itself: it sends the next one, with everything
in it, as it cannot know what has arrived.

Source: `ConsumerMembershipManager`, `ConsumerHeartbeatRequestManager`,
`AbstractHeartbeatRequestManager` and `AbstractMembershipManager` of Kafka's Java client, and
`tests/lab/calibrate`, which plays the same with real members.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from assignors.simulation.timed.protocols.application import (
    RETRY_BACKOFF_US,
    Application,
    call_back,
    next_beat,
    rest_of_poll,
    watch_thread,
    whole_poll,
)
from assignors.simulation.timed.protocols.effects import (
    Answered,
    Cancel,
    Command,
    Consume,
    Disturbed,
    Effect,
    Failed,
    Fired,
    GiveUp,
    MemberEvent,
    Schedule,
    Send,
)
from assignors.simulation.timed.protocols.kafka.messages import (
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
    ErrorCode,
)
from assignors.simulation.timed.protocols.partitions import are_same, count, has_all, shared
from assignors.simulation.timed.scenario import MemberConfig
from wire import TopicPartitions

TIMERS = ("heartbeat", "poll", "revoked", "take", "assigned", "max-poll")
"""The timers of a process; none of them runs on once it has ended."""
NO_ERROR = ErrorCode.NONE


@dataclass(slots=True, kw_only=True)
class ConsumerClient:
    """A member's side of the protocol."""

    config: MemberConfig
    new_id: Callable[[str], str]
    draw: Callable[[str, int], int]
    """(`"poll"`, limit) -> a random time in microseconds."""
    heartbeat_interval_ms: int
    late_us: int = 0
    """So much later than this is each heartbeat."""
    topics: tuple[str, ...] = ()
    member_id: str = ""
    epoch: int = 0
    is_up: bool = False
    owned: TopicPartitions = field(default_factory=dict)
    """What it consumes."""
    confirmed: TopicPartitions = field(default_factory=dict)
    """What it consumed when it last had what it went for, and reports to own. What a callback gives
    up is in it until that is over: else another member would get it before the commit."""
    confirmed_number: int = 0
    """Number of the assignment that this is, or was."""
    target: TopicPartitions = field(default_factory=dict)
    """The last assignment it was sent."""
    target_number: int = 0
    """Counts assignments that differ from the one before (`LocalAssignment.localEpoch`)."""
    going_for: TopicPartitions | None = None
    """The assignment that it is on the way to, whatever else comes meanwhile."""
    going_number: int = 0
    awaits_poll: bool = False
    """It sets out for what its target is then when the application polls next."""
    in_flight: int | None = None
    """Number of the heartbeat that waits for an answer."""
    must_report: bool = False
    """The next heartbeat says what it owns."""
    acknowledges: bool = False
    """That heartbeat is due at once, when the one in flight is answered (ACKNOWLEDGING)."""
    must_send: bool = False
    """A heartbeat is due at once, when the one in flight is answered."""
    has_new_topics: bool = False
    is_stopping: bool = False
    application: Application = field(default_factory=Application)
    waiting: str | None = None
    """The poll that is due as soon as the application is no longer busy."""
    deferred: ErrorCode = ErrorCode.NONE
    """What a heartbeat reported while the application was busy."""
    says_all: bool = False
    """The next heartbeat repeats everything: the last one may not have arrived."""
    number: int = 0
    out: list[Effect] = field(default_factory=list)

    @property
    def beat_us(self) -> int:
        """The time from one of its heartbeats to the next."""
        return self.config.by_its_clock(self.heartbeat_interval_ms) + self.late_us

    @property
    def generation(self) -> int:
        """Its epoch."""
        return self.epoch

    @property
    def is_at_rest(self) -> bool:
        """Whether it runs and has nothing to do but consume."""
        is_there = self.going_for is None and not self.awaits_poll
        is_silent = not self.must_send and not self.acknowledges
        return is_there and is_silent and self.is_up and self.epoch > 0 and not self.is_out

    @property
    def is_out(self) -> bool:
        """Whether it is no longer in the group, and the application does not know yet."""
        return self.application.has_left or self.deferred is not NO_ERROR

    @property
    def is_busy(self) -> bool:
        """Whether a heartbeat waits for an answer, or the next one has something to report."""
        return self.in_flight is not None or self.must_report or self.has_new_topics


def send(state: ConsumerClient, request: ConsumerHeartbeat, after_us: int = 0) -> int:
    """Send a heartbeat; return its number."""
    state.number += 1
    state.out.append(Send(state.number, request, after_us))
    return state.number


def next_request(state: ConsumerClient) -> ConsumerHeartbeat:
    """Return the heartbeat that a member sends now, with what it has to say."""
    config = state.config
    says_all = state.epoch == 0 or state.says_all
    request = ConsumerHeartbeat(
        state.member_id,
        state.epoch,
        config.instance_id,
        config.rack_id,
        config.rebalance_timeout_ms if says_all else -1,
        state.topics if says_all or state.has_new_topics else None,
        state.confirmed if says_all or state.must_report else None,
        config.name,
        config.pattern if says_all else None,
        config.remote_assignor if says_all else None,
    )
    state.must_send = state.acknowledges = state.must_report = False
    state.has_new_topics = state.says_all = False
    return request


LOST = (
    ErrorCode.NONE,  # it has left because it polled too late
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.UNKNOWN_MEMBER_ID,
)
"""Errors after which a consumer loses everything and joins again; after others it gives up."""
STOPS = tuple(Cancel((name,)) for name in TIMERS)
NOT_LATE = Cancel(("max-poll",))
NONE = ErrorCode.NONE
POLLS = ("poll", "take")
"""The timers of polls: they wait for the application's thread."""


def _start(state: ConsumerClient) -> None:
    """Start the process: it chooses an id and joins with epoch 0."""
    state.is_up, state.is_stopping = True, False
    state.topics = state.topics or state.config.topics
    state.member_id = state.new_id(state.config.name)
    state.in_flight = None
    state.application.restart()
    _join(state)


def _join(state: ConsumerClient) -> None:
    state.epoch, state.owned, state.target, state.confirmed = 0, {}, {}, {}
    state.going_for, state.awaits_poll, state.acknowledges = None, False, False
    state.target_number = state.confirmed_number = 0
    state.application.has_left, state.deferred, state.waiting = False, NONE, None
    send_now(state)


def _answered(state: ConsumerClient, response: ConsumerHeartbeatResponse) -> None:
    if response.error is not NONE:
        lose_place(state, response.error)
        return
    state.epoch = response.epoch
    assignment = response.assignment
    if assignment is not None:
        if not (state.target_number and are_same(assignment, state.target)):
            state.target = assignment
            state.target_number += 1
        if state.target_number != state.confirmed_number:
            state.acknowledges = False
    if state.must_send or state.acknowledges:
        send_now(state)
    _reconcile(state)


def lose_place(state: ConsumerClient, error: ErrorCode) -> None:
    """Do what an error asks for, once the application's thread has time for it."""
    if state.application.is_busy:
        state.deferred = error
        state.out.append(Cancel(("heartbeat",)))
    else:
        _give_up(state, error)


def _give_up(state: ConsumerClient, error: ErrorCode) -> None:
    """Lose everything; then join again with epoch 0, unless the error is fatal."""
    _lose(state, "fenced")
    if error in LOST:
        _join(state)
    else:
        _end(state)
        state.out.append(GiveUp(error.name))


def _reconcile(state: ConsumerClient) -> None:
    """Set out for the target, unless the member is there, or on its way to an earlier one.

    Where it has what it is assigned, as a change was taken back before it set out, it acknowledges
    that at once. The way begins at the application's next poll where partitions are to be given up
    or offsets to be committed, else now. There is one to the first assignment even if that is empty
    (`LocalAssignment.NONE` differs from one of nothing): a newcomer's callback runs.
    """
    is_there = state.target_number == state.confirmed_number
    if is_there or state.going_for is not None or state.acknowledges or state.is_stopping:
        return
    if state.confirmed_number and are_same(state.confirmed, state.target):
        _confirm(state, state.confirmed, state.target_number)
    elif state.config.auto_commit_ms or not has_all(state.target, state.owned):
        if not state.awaits_poll:
            state.awaits_poll = True
            _wait(state, "poll")
    else:
        state.going_for, state.going_number = state.target, state.target_number
        _wait(state, "take")


def _wait(state: ConsumerClient, timer: str) -> None:
    """Wait until the application polls."""
    state.out.append(Schedule((timer,), rest_of_poll(state.config, state.draw)))


def _poll(state: ConsumerClient) -> None:
    """Give up what the target lacks: consumption ends, the callback runs and commits."""
    state.awaits_poll = False
    if state.target_number == state.confirmed_number or state.going_for is not None:
        free(state)  # it need not give up anything any more
        return
    state.going_for, state.going_number = state.target, state.target_number
    kept = shared(state.owned, state.target)
    if count(kept) == count(state.owned):
        _take(state)
        return
    state.owned = kept
    state.out.append(Consume(state.owned, "revoked"))
    state.out += call_back(state.application, state.config, "revoked", state.config.revoke_ms)


def _revoked(state: ConsumerClient) -> None:
    state.application.is_in_callback = False
    if state.is_stopping or state.is_out:
        free(state)
    else:
        state.out.append(Schedule(("take",), whole_poll(state.config, state.draw)))


def _take(state: ConsumerClient) -> None:
    """Run the callback for what is new, if anything is."""
    assert state.going_for is not None
    if are_same(state.owned, state.going_for):
        _assigned(state)
    else:
        state.out += call_back(state.application, state.config, "assigned", state.config.assign_ms)


def _assigned(state: ConsumerClient) -> None:
    """Consume what is new, and report it: the member has what it set out for.

    It does so even if an answer has taken that back meanwhile: it gives it up next.
    """
    assert state.going_for is not None
    state.application.is_in_callback = False
    got, state.going_for = state.going_for, None
    if not state.is_out:
        if not are_same(state.owned, got):
            state.owned = got
            state.out.append(Consume(state.owned, "assigned"))
        _confirm(state, got, state.going_number)
    free(state)


def _confirm(state: ConsumerClient, got: TopicPartitions, number: int) -> None:
    """Acknowledge what the member has come to, as soon as no heartbeat waits for its answer.

    If that answer brings another assignment, the next heartbeat that is due says it instead
    (`processAssignmentReceived` leaves ACKNOWLEDGING for RECONCILING).
    """
    state.confirmed, state.confirmed_number = got, number
    if not state.is_stopping:
        state.must_report = state.acknowledges = True
        if state.in_flight is None:
            send_now(state)


def send_now(state: ConsumerClient, after_us: int = 0) -> None:
    """Send a heartbeat, or leave it to the moment when the one in flight is answered."""
    if state.in_flight is not None:
        state.must_send = True
        return
    state.in_flight = send(state, next_request(state), after_us)
    state.out.append(next_beat(state.beat_us))


def _rejoin(state: ConsumerClient) -> None:
    """Say that the subscription has changed, now, or when its heartbeat (or join) is answered."""
    if state.is_up and not state.is_out:
        state.has_new_topics = True
        send_now(state)


def _stop(state: ConsumerClient) -> None:
    """Close the consumer: give everything up, then leave. It waits for the application's thread."""
    if not state.is_up or state.is_stopping:
        return
    state.is_stopping = True
    if not state.application.is_busy:
        _give_up_and_leave(state)


def _give_up_and_leave(state: ConsumerClient) -> None:
    """Leave, once the callback for what it still owns is over."""
    state.out += STOPS
    if state.owned:
        state.owned = {}
        state.out.append(Consume({}, "revoked"))
        state.out += call_back(state.application, state.config, "revoked", state.config.revoke_ms)
    else:
        _leave(state)


def _leave(state: ConsumerClient) -> None:
    instance_id = state.config.instance_id
    epoch = LEAVE_EPOCH if instance_id is None else STATIC_LEAVE_EPOCH
    send(state, ConsumerHeartbeat(state.member_id, epoch, instance_id))
    _end(state)


def _crash(state: ConsumerClient) -> None:
    if state.is_up:
        _lose(state, "crashed")
        _end(state)


def _lose(state: ConsumerClient, reason: str) -> None:
    """Stop consuming everything, without a commit."""
    state.out += STOPS
    if state.owned:
        state.out.append(Consume({}, reason))
    state.owned = {}


def _end(state: ConsumerClient) -> None:
    state.is_up, state.in_flight, state.owned, state.going_for = False, None, {}, None
    state.must_send = state.acknowledges = state.awaits_poll = False
    state.application.restart()
    state.out += STOPS


def begin_long_poll(state: ConsumerClient) -> None:
    """Let the application be busy with its records, if it takes long for them."""
    application = state.application
    if not application.long_poll_us or application.is_busy or state.is_out:
        return
    if state.epoch > 0 and state.going_for is None:
        application.is_in_poll = True
        state.out += watch_thread(state.config, application.long_poll_us)


def free(state: ConsumerClient) -> None:
    """Do what has waited for the application's thread."""
    if state.application.is_busy or not state.is_up:
        return
    state.out.append(NOT_LATE)
    waiting, state.waiting = state.waiting, None
    if state.is_stopping:
        _give_up_and_leave(state)
    elif state.is_out:
        _give_up(state, state.deferred)
    elif waiting is not None:
        _TIMERS[waiting](state)
    else:
        _reconcile(state)  # another assignment may have come meanwhile
        begin_long_poll(state)


def _request_failed(state: ConsumerClient, number: int) -> None:
    """Send a heartbeat without an answer again: all of it, as the coordinator may not have it."""
    if state.is_up and number == state.in_flight:
        state.in_flight, state.says_all = None, True
        send_now(state, RETRY_BACKOFF_US)


def _lose_generation(state: ConsumerClient) -> None:
    """Forget the member epoch: lose everything, and join again with epoch 0."""
    if state.is_up and state.epoch > 0 and not state.is_stopping and not state.is_out:
        state.in_flight = None
        lose_place(state, ErrorCode.FENCED_MEMBER_EPOCH)


def _slow_down(state: ConsumerClient, event: Disturbed) -> None:
    """Take over how slow the application is; a long poll begins or ends."""
    if state.application.slow_down(event):
        begin_long_poll(state)
        free(state)


def _poll_late(state: ConsumerClient) -> None:
    """Leave the group: the application has not polled in time. It does not know yet."""
    if state.is_out or state.is_stopping:
        return
    instance_id = state.config.instance_id
    epoch = LEAVE_EPOCH if instance_id is None else STATIC_LEAVE_EPOCH
    send(state, ConsumerHeartbeat(state.member_id, epoch, instance_id))
    state.application.has_left = True
    state.in_flight, state.must_send, state.acknowledges = None, False, False
    state.out.append(Cancel(("heartbeat",)))


_TIMERS: dict[str, Callable[[ConsumerClient], None]] = {
    "heartbeat": send_now,
    "poll": _poll,
    "revoked": _revoked,
    "take": _take,
    "assigned": _assigned,
    "max-poll": _poll_late,
}
_COMMANDS: dict[Command, Callable[[ConsumerClient], None]] = {
    Command.START: _start,
    Command.STOP: _stop,
    Command.CRASH: _crash,
    Command.REJOIN: _rejoin,
    Command.LOSE_GENERATION: _lose_generation,
}


def step(state: ConsumerClient, event: MemberEvent) -> list[Effect]:
    """Return what a member does about an event; `state` is changed in place.

    Cost: O(its partitions) for an assignment, O(1) otherwise.
    """
    state.out = []
    if isinstance(event, Fired):
        name = event.key[0]
        if name in POLLS and state.application.is_busy:
            state.waiting = name
        else:
            _TIMERS[name](state)
    elif isinstance(event, Answered):
        response = event.response
        is_awaited = state.is_up and event.number == state.in_flight
        if is_awaited and isinstance(response, ConsumerHeartbeatResponse):
            state.in_flight = None
            _answered(state, response)
    elif isinstance(event, Failed):
        _request_failed(state, event.number)
    elif isinstance(event, Disturbed):
        _slow_down(state, event)
    elif event is not Command.SESSION_OVER:  # the session is the coordinator's affair
        _COMMANDS[event](state)
    return state.out
