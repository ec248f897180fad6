"""What a consumer with the protocol of KIP-848 does with each answer, timer and command.

It sends heartbeats, one at a time. An answer with an assignment says what it may consume from now
on. What is missing it gives up first, then it takes what is new, each in a callback; once both are
over it says at once what it owns, in a heartbeat. Nobody else is stopped by that.

Callbacks run in the application's polls: the next one runs that for what is given up, the one after
it that for what is new, even if nothing is. While a callback runs the member handles nothing else.

Timers: `("heartbeat",)`; `("poll",)`, the poll of the first callback; `("revoked",)`, the end of
that callback; `("take",)`, the poll of the second one; `("assigned",)`, its end.

Source: `ConsumerMembershipManager`, `ConsumerHeartbeatRequestManager` of Kafka's Java client, and
`tests/foreign/calibrate`, which plays the same with real members.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from assignors.simulation.timed.protocols.consumer.messages import (
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    ConsumerError,
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
)
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Answered,
    Cancel,
    Command,
    Consume,
    Effect,
    Fired,
    Schedule,
    Send,
)
from assignors.simulation.timed.protocols.partitions import count, shared
from assignors.simulation.timed.scenario import MemberConfig
from wire import TopicPartitions

TIMERS = ("heartbeat", "poll", "revoked", "take", "assigned")
FATAL = (
    ConsumerError.FENCED_INSTANCE_ID,
    ConsumerError.UNRELEASED_INSTANCE_ID,
    ConsumerError.GROUP_MAX_SIZE_REACHED,
)
"""Errors after which a consumer gives up."""


@dataclass(slots=True, kw_only=True)
class ConsumerClient:
    """A member's side of the protocol."""

    config: MemberConfig
    new_id: Callable[[str], str]
    draw: Callable[[str, int], int]
    """(`"poll"`, limit) -> a random time in microseconds."""
    heartbeat_interval_ms: int
    topics: tuple[str, ...] = ()
    member_id: str = ""
    epoch: int = 0
    is_up: bool = False
    owned: TopicPartitions = field(default_factory=dict)
    """What it consumes."""
    target: TopicPartitions = field(default_factory=dict)
    """The last assignment it was sent."""
    going_for: TopicPartitions | None = None
    """The assignment that it is on the way to: it waits for a poll, or a callback runs."""
    in_callback: bool = False
    """One of its callbacks runs: it takes and gives up nothing else until that is over."""
    in_flight: int | None = None
    """Number of the heartbeat that waits for an answer."""
    must_report: bool = False
    """The next heartbeat says what it owns."""
    must_send: bool = False
    """A heartbeat is due at once, when the one in flight is answered."""
    has_new_topics: bool = False
    is_stopping: bool = False
    number: int = 0
    out: list[Effect] = field(default_factory=list)

    @property
    def generation(self) -> int:
        """Its epoch."""
        return self.epoch

    @property
    def is_at_rest(self) -> bool:
        """Whether it runs and has nothing to do but consume."""
        return self.is_up and self.epoch > 0 and self.going_for is None and not self.must_send

    @property
    def is_busy(self) -> bool:
        """Whether a heartbeat waits for an answer, or the next one has something to report."""
        return self.in_flight is not None or self.must_report or self.has_new_topics


def step(state: ConsumerClient, event: Answered | Fired | Command) -> list[Effect]:
    """Return what a member does about an event; `state` is changed in place.

    Cost: O(its partitions) for an assignment, O(1) otherwise.
    """
    state.out = []
    match event:
        case Answered(number, ConsumerHeartbeatResponse() as response):
            if state.is_up and number == state.in_flight:
                state.in_flight = None
                _answered(state, response)
        case Fired((name,)):
            _TIMERS[name](state)
        case Command():
            _COMMANDS[event](state)
    return state.out


def _start(state: ConsumerClient) -> None:
    """Start the process: it chooses an id and joins with epoch 0."""
    state.is_up, state.is_stopping = True, False
    state.topics = state.topics or state.config.topics
    state.member_id = state.new_id(state.config.name)
    _join(state)


def _join(state: ConsumerClient) -> None:
    state.epoch, state.owned, state.target, state.going_for = 0, {}, {}, None
    _send_now(state)


def _answered(state: ConsumerClient, response: ConsumerHeartbeatResponse) -> None:
    if response.error in FATAL:
        _lose(state, "fenced")
        _end(state)
        return
    if response.error is not ConsumerError.NONE:
        _lose(state, "fenced")
        _join(state)
        return
    state.epoch = response.epoch
    if response.assignment is not None:
        state.target = response.assignment
        _reconcile(state)
    if state.must_send:
        _send_now(state)


def _reconcile(state: ConsumerClient) -> None:
    """Set out for the assignment, unless the member is on its way to an earlier one."""
    if state.going_for is not None or state.is_stopping or _has(state, state.target):
        return
    state.going_for = state.target
    has_lost = count(shared(state.owned, state.target)) < count(state.owned)
    wait = state.draw("poll", state.config.poll_ms * MILLISECOND)
    state.out.append(Schedule(("poll" if has_lost else "take",), wait))


def _poll(state: ConsumerClient) -> None:
    """Give up what the assignment lacks: consumption ends, the callback runs and commits."""
    assert state.going_for is not None
    state.owned = shared(state.owned, state.going_for)
    state.in_callback = True
    state.out.append(Consume(state.owned, "revoked"))
    state.out.append(Schedule(("revoked",), state.config.revoke_ms * MILLISECOND))


def _revoked(state: ConsumerClient) -> None:
    state.in_callback = False
    if state.is_stopping:
        _give_up_and_leave(state)
    else:
        state.out.append(Schedule(("take",), state.config.poll_ms * MILLISECOND))


def _take(state: ConsumerClient) -> None:
    """Run the callback for what is new, if anything is."""
    assert state.going_for is not None
    state.in_callback = True
    is_new = not _has(state, state.going_for)
    wait = state.config.assign_ms * MILLISECOND * is_new
    state.out.append(Schedule(("assigned",), wait))


def _assigned(state: ConsumerClient) -> None:
    """Consume what is new, and report it: the member has what it set out for."""
    assert state.going_for is not None
    state.in_callback = False
    if not _has(state, state.going_for):
        state.owned = state.going_for
        state.out.append(Consume(state.owned, "assigned"))
    state.going_for = None
    if state.is_stopping:
        _give_up_and_leave(state)
        return
    state.must_report = True
    _send_now(state)
    _reconcile(state)  # another assignment may have come meanwhile


def _has(state: ConsumerClient, partitions: TopicPartitions) -> bool:
    """Return whether the member owns exactly these."""
    both = count(shared(state.owned, partitions))
    return both == count(partitions) == count(state.owned)


def _send_now(state: ConsumerClient) -> None:
    """Send a heartbeat, or leave it to the moment when the one in flight is answered."""
    if state.in_flight is not None:
        state.must_send = True
        return
    is_join = state.epoch == 0
    config = state.config
    says_owned = is_join or state.must_report
    request = ConsumerHeartbeat(
        state.member_id,
        state.epoch,
        config.instance_id,
        config.rack_id,
        config.rebalance_timeout_ms if is_join else -1,
        state.topics if is_join or state.has_new_topics else None,
        state.owned if says_owned else None,
        config.name,
    )
    state.must_send = state.must_report = state.has_new_topics = False
    state.in_flight = _send(state, request)
    state.out.append(Schedule(("heartbeat",), state.heartbeat_interval_ms * MILLISECOND))


def _rejoin(state: ConsumerClient) -> None:
    """Say that the subscription has changed, with the next heartbeat, which is due at once."""
    if state.is_up and state.epoch > 0:
        state.has_new_topics = True
        _send_now(state)


def _stop(state: ConsumerClient) -> None:
    """Close the consumer: give everything up, then leave."""
    if not state.is_up or state.is_stopping:
        return
    state.is_stopping = True
    if not state.in_callback:
        _give_up_and_leave(state)


def _give_up_and_leave(state: ConsumerClient) -> None:
    """Leave, once the callback for what it still owns is over."""
    state.out += [Cancel((name,)) for name in TIMERS]
    if state.owned:
        state.owned, state.in_callback = {}, True
        state.out.append(Consume({}, "revoked"))
        state.out.append(Schedule(("revoked",), state.config.revoke_ms * MILLISECOND))
    else:
        _leave(state)


def _leave(state: ConsumerClient) -> None:
    instance_id = state.config.instance_id
    epoch = LEAVE_EPOCH if instance_id is None else STATIC_LEAVE_EPOCH
    _send(state, ConsumerHeartbeat(state.member_id, epoch, instance_id))
    _end(state)


def _crash(state: ConsumerClient) -> None:
    if state.is_up:
        _lose(state, "crashed")
        _end(state)


def _lose(state: ConsumerClient, reason: str) -> None:
    """Stop consuming everything, without a commit."""
    state.out += [Cancel((name,)) for name in TIMERS]
    state.in_callback = False
    if state.owned:
        state.out.append(Consume({}, reason))
    state.owned = {}


def _end(state: ConsumerClient) -> None:
    state.is_up, state.in_flight, state.owned = False, None, {}
    state.in_callback = state.must_send = False
    state.going_for = None
    state.out += [Cancel((name,)) for name in TIMERS]


def _send(state: ConsumerClient, request: ConsumerHeartbeat) -> int:
    state.number += 1
    state.out.append(Send(state.number, request))
    return state.number


_TIMERS: dict[str, Callable[[ConsumerClient], None]] = {
    "heartbeat": _send_now,
    "poll": _poll,
    "revoked": _revoked,
    "take": _take,
    "assigned": _assigned,
}
_COMMANDS: dict[Command, Callable[[ConsumerClient], None]] = {
    Command.START: _start,
    Command.STOP: _stop,
    Command.CRASH: _crash,
    Command.REJOIN: _rejoin,
}
