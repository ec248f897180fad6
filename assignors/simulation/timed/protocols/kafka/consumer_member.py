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

from assignors.simulation.timed.protocols.client import RETRY_BACKOFF_US, HeartbeatClient
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
)
from assignors.simulation.timed.protocols.kafka.messages import (
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
    ErrorCode,
)
from assignors.simulation.timed.protocols.partitions import are_same, count, has_all, shared
from wire import TopicPartitions

LOST = (
    ErrorCode.NONE,  # it has left because it polled too late
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.UNKNOWN_MEMBER_ID,
)
"""Errors after which a consumer loses everything and joins again; after others it gives up."""
STOPS = tuple(
    Cancel((name,)) for name in ("heartbeat", "poll", "revoked", "take", "assigned", "max-poll")
)
"""What stops the timers of a process: none of them runs on once it has ended."""
NONE = ErrorCode.NONE
POLLS = ("poll", "take")
"""The timers of polls: they wait for the application's thread."""


@dataclass(slots=True, kw_only=True)
class ConsumerClient(HeartbeatClient):
    """A member's side of the protocol."""

    new_id: Callable[[str], str]
    heartbeat_interval_ms: int
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
    waiting: str | None = None
    """The poll that is due as soon as the application is no longer busy."""
    says_all: bool = False
    """The next heartbeat repeats everything: the last one may not have arrived."""

    @property
    def beat_us(self) -> int:
        """The time from one of its heartbeats to the next."""
        return self.config.by_its_clock(self.heartbeat_interval_ms) + self.late_us

    @property
    def is_at_rest(self) -> bool:
        """Whether it runs and has nothing to do but consume."""
        is_there = self.going_for is None and not self.awaits_poll
        is_silent = not self.must_send and not self.acknowledges
        return is_there and is_silent and self.is_up and self.epoch > 0 and not self.is_out

    @property
    def is_busy(self) -> bool:
        """Whether a heartbeat waits for an answer, or the next one has something to report."""
        return self.in_flight is not None or self.must_report or self.has_new_topics

    def start(self) -> None:
        """Start the process: it chooses an id."""
        self.member_id, self.in_flight = self.new_id(self.config.name), None
        HeartbeatClient.start(self)

    def join(self) -> None:
        """Join with epoch 0."""
        self.epoch, self.owned, self.target, self.confirmed = 0, {}, {}, {}
        self.going_for, self.awaits_poll, self.acknowledges = None, False, False
        self.target_number = self.confirmed_number = 0
        self.application.has_left, self.deferred, self.waiting = False, NONE, None
        send_now(self)

    def _lose(self, reason: str) -> None:
        self.out += STOPS
        if self.owned:
            self.out.append(Consume({}, reason))
        self.owned = {}

    def _give_up_all(self) -> bool:
        has_any, self.waiting = bool(self.owned), None
        self._lose("revoked")
        return has_any

    def _give_up_place(self, error: ErrorCode) -> None:
        """Lose everything; then join again with epoch 0, unless the error is fatal."""
        self._lose("fenced")
        if error in LOST:
            self.join()
        else:
            self._end()
            self.out.append(GiveUp(error.name))

    def _say_leave(self) -> None:
        instance_id = self.config.instance_id
        epoch = LEAVE_EPOCH if instance_id is None else STATIC_LEAVE_EPOCH
        self.send(ConsumerHeartbeat(self.member_id, epoch, instance_id))

    def _end(self) -> None:
        self.is_up, self.in_flight, self.owned, self.going_for = False, None, {}, None
        self.must_send = self.acknowledges = self.awaits_poll = False
        self.application.restart()
        self.out += STOPS

    def _may_poll_long(self) -> bool:
        return self.epoch > 0 and self.going_for is None and not self.is_out

    def _go_on(self) -> None:
        """Poll, if the application was busy when a poll was due; another target may have come."""
        waiting, self.waiting = self.waiting, None
        if waiting is not None:
            _TIMERS[waiting](self)
        else:
            _reconcile(self)
            self.begin_long_poll()


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


def _answered(state: ConsumerClient, response: ConsumerHeartbeatResponse) -> None:
    if response.error is not NONE:
        state.lose_place(response.error)
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
            state.poll_later()
    else:
        state.going_for, state.going_number = state.target, state.target_number
        state.poll_later("take")


def _poll(state: ConsumerClient) -> None:
    """Give up what the target lacks: consumption ends, the callback runs and commits."""
    state.awaits_poll = False
    if state.target_number == state.confirmed_number or state.going_for is not None:
        state.free()  # it need not give up anything any more
        return
    state.going_for, state.going_number = state.target, state.target_number
    kept = shared(state.owned, state.target)
    if count(kept) == count(state.owned):
        _take(state)
        return
    state.owned = kept
    state.out.append(Consume(state.owned, "revoked"))
    state.call_back("revoked", state.config.revoke_ms)


def _revoked(state: ConsumerClient) -> None:
    state.application.is_in_callback = False
    if state.is_stopping or state.is_out:
        state.free()
    else:
        state.poll_to_its_end("take")


def _take(state: ConsumerClient) -> None:
    """Run the callback for what is new, if anything is."""
    assert state.going_for is not None
    if are_same(state.owned, state.going_for):
        _assigned(state)
    else:
        state.call_back("assigned", state.config.assign_ms)


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
    state.free()


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
    state.in_flight = state.send(next_request(state), after_us)
    state.beat_later()


def _rejoin(state: ConsumerClient) -> None:
    """Say that the subscription has changed, now, or when its heartbeat (or join) is answered."""
    if state.is_up and not state.is_out:
        state.has_new_topics = True
        send_now(state)


def _request_failed(state: ConsumerClient, number: int) -> None:
    """Send a heartbeat without an answer again: all of it, as the coordinator may not have it."""
    if state.is_up and number == state.in_flight:
        state.in_flight, state.says_all = None, True
        send_now(state, RETRY_BACKOFF_US)


def _lose_generation(state: ConsumerClient) -> None:
    """Forget the member epoch: lose everything, and join again with epoch 0."""
    if state.is_up and state.epoch > 0 and not state.is_stopping and not state.is_out:
        state.in_flight = None
        state.lose_place(ErrorCode.FENCED_MEMBER_EPOCH)


def _poll_late(state: ConsumerClient) -> None:
    if not (state.is_out or state.is_stopping):
        state.leave_late()
        state.in_flight, state.must_send, state.acknowledges = None, False, False


_TIMERS: dict[str, Callable[[ConsumerClient], None]] = {
    "heartbeat": send_now,
    "poll": _poll,
    "revoked": _revoked,
    "take": _take,
    "assigned": _assigned,
    "max-poll": _poll_late,
}
_COMMANDS: dict[Command, Callable[[ConsumerClient], None]] = {
    Command.START: ConsumerClient.start,
    Command.STOP: ConsumerClient.stop,
    Command.CRASH: ConsumerClient.crash,
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
        state.slow_down(event)
    elif event is not Command.SESSION_OVER:  # the session is the coordinator's affair
        _COMMANDS[event](state)
    return state.out
