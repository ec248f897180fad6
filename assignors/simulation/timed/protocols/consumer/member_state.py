"""A consumer with the protocol of KIP-848: its state, and how it sends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from assignors.simulation.timed.protocols.application import Application
from assignors.simulation.timed.protocols.consumer.messages import ConsumerError, ConsumerHeartbeat
from assignors.simulation.timed.protocols.effects import Effect, Send
from assignors.simulation.timed.scenario import MemberConfig
from wire import TopicPartitions

TIMERS = ("heartbeat", "poll", "revoked", "take", "assigned", "max-poll")
"""The timers of a process; none of them runs on once it has ended."""


NO_ERROR = ConsumerError.NONE


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
    deferred: ConsumerError = ConsumerError.NONE
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
