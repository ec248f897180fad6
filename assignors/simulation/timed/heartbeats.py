"""Heartbeats of idle members are computed, not queued.

A member at rest sends a heartbeat every interval, and as long as nobody has anything to say, the
answer is always the same. So its next heartbeat, when each one arrives, and when its session would
run out, are arithmetic: such a member costs no event. It is woken when something happens to it, or
when the coordinator changes: then its heartbeat in flight, its next one and its session are put
into the queue, as they would be there had every heartbeat been an event.

Waking a member too early changes nothing but the number of events. That every run ends the same
with all heartbeats queued is a law (`tests/simulation/timed/test_heartbeats.py`). It rests on three
decisions: the delay of a message depends on when it is sent, not on how many were sent before it;
heartbeats that say nothing neither wait for the coordinator nor occupy it (each is answered after
its service time, beside the queue); and of one moment heartbeats come last (`queue.Rank`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from assignors.simulation.timed.network import Link, Network
from assignors.simulation.timed.protocols.effects import (
    COORDINATOR,
    MILLISECOND,
    Effect,
    Fired,
    MemberEvent,
    Response,
    Schedule,
    Send,
    TimerKey,
)
from assignors.simulation.timed.protocols.kafka import classic_group
from assignors.simulation.timed.protocols.kafka.classic_group import ClassicGroup, GroupState
from assignors.simulation.timed.protocols.kafka.classic_member import ClassicMember
from assignors.simulation.timed.protocols.kafka.consumer_group import STABLE, ConsumerGroup
from assignors.simulation.timed.protocols.kafka.consumer_member import ConsumerClient
from assignors.simulation.timed.protocols.kafka.messages import (
    ConsumerHeartbeatResponse,
    ErrorCode,
    HeartbeatResponse,
)
from assignors.simulation.timed.protocols.kafka.state import GroupCoordinator
from assignors.simulation.timed.queue import EventQueue, Rank
from assignors.simulation.timed.scenario import BrokerConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainHeartbeats:
    """What a protocol knows of heartbeats that say nothing and are answered with nothing new."""

    request: str
    """The name of their type."""
    may_rest: Callable[[int], bool]
    """Whether the next heartbeats of a member, by its number, are plain until `changes` differ."""
    changes: Callable[[], object]
    """What the coordinator has done that idle members may learn of: another value, another one."""
    timing: Callable[[int], tuple[TimerKey, int, int]]
    """The key of a member's session timer at the coordinator, its heartbeat interval and its
    session timeout in microseconds."""
    answer: Callable[[int], Response]
    """A member's number -> what it is answered while it rests."""
    standing: Callable[[int], int] | None = None
    """How many requests of a member the coordinator keeps until it has news; `None`: never any."""


def classic_plain(
    coordinator: GroupCoordinator, members: Sequence[ClassicMember]
) -> PlainHeartbeats:
    """Return what the classic protocol knows: a rebalance concerns everybody."""
    return PlainHeartbeats(
        request="Heartbeat",
        may_rest=lambda number: _classic_may_rest(members[number], coordinator),
        changes=lambda: coordinator.group and coordinator.classic.changes,
        timing=lambda number: (
            (classic_group.SESSION, members[number].member_id),
            members[number].beat_us,
            members[number].config.session_timeout_ms * MILLISECOND,
        ),
        answer=lambda _: HeartbeatResponse(ErrorCode.NONE),
    )


def _classic_may_rest(member: ClassicMember, coordinator: GroupCoordinator) -> bool:
    """Return whether the heartbeats of a member are answered with nothing new."""
    group = coordinator.group
    return (
        member.is_at_rest
        and not member.times.wake_ms
        and isinstance(group, ClassicGroup)
        and group.state is not GroupState.PREPARING_REBALANCE
        and member.generation == group.generation
        and group.refusal(member.member_id, member.config.instance_id) is ErrorCode.NONE
    )


def consumer_plain(
    coordinator: GroupCoordinator, members: Sequence[ConsumerClient], broker: BrokerConfig
) -> PlainHeartbeats:
    """Return what the protocol of KIP-848 knows: another epoch concerns everybody."""
    return PlainHeartbeats(
        request="ConsumerHeartbeat",
        may_rest=lambda number: _consumer_may_rest(members[number], coordinator.consumer),
        changes=lambda: _consumer_changes(coordinator),
        timing=lambda number: (
            ("session", members[number].member_id),
            members[number].beat_us,
            broker.consumer_session_timeout_ms * MILLISECOND,
        ),
        answer=lambda number: ConsumerHeartbeatResponse(
            ErrorCode.NONE, members[number].member_id, members[number].epoch
        ),
    )


def _consumer_changes(coordinator: GroupCoordinator) -> object:
    group = coordinator.consumer
    if group is None:
        return None
    return group.epoch, group.target_epoch, group.is_refresh_due, coordinator.target_changes


def _consumer_may_rest(client: ConsumerClient, group: ConsumerGroup | None) -> bool:
    """Return whether a member has nothing to say, and its heartbeats are answered so."""
    if group is None or not client.epoch == group.target_epoch == group.epoch:
        return False
    member = group.members.get(client.member_id)
    return (
        client.is_at_rest
        and not client.is_busy
        and member is not None
        and member.state is STABLE
        and not member.pattern
        and client.epoch == member.epoch
        and not group.is_refresh_due
    )


HEARTBEAT = Fired(("heartbeat",), 0)
BEAT, ARRIVAL, ANSWER, SESSION = Rank


class Rest(NamedTuple):
    """A member that rests. Times are microseconds since the run began."""

    due: int
    """When its first heartbeat is due that is not queued."""
    every: int
    session_over: int
    """When its session would run out without any further heartbeat."""
    session_timeout: int
    session: TimerKey
    """The key of its session timer."""


@dataclass(slots=True, kw_only=True)
class Heartbeats:
    """The members that rest, and the queue into which they are woken."""

    step_member: Callable[[int, MemberEvent], list[Effect]]
    """Lets a member, by its number, handle an event."""
    plain: PlainHeartbeats
    network: Network
    queue: EventQueue[Any]
    broker: BrokerConfig
    resting: dict[int, Rest] = field(default_factory=dict)
    """By member number."""
    seen: object = None
    """The coordinator's `changes` when they were last looked at."""

    def rest(self, number: int) -> None:
        """Let a member rest if nobody has anything to say. Cost: O(1)."""
        plain, link = self.plain, self.network.links[number]
        standing = 0 if plain.standing is None else plain.standing(number)
        if link.unanswered != standing or not self.network.is_well(number):
            return
        if not plain.may_rest(number):
            return
        queue, key = self.queue, (number, HEARTBEAT.key)
        due = queue.due(key)
        if due is None:
            return
        session, every, timeout = plain.timing(number)
        session_key = (COORDINATOR, session)
        session_over = queue.due(session_key)
        if session_over is None or not self._is_regular(link, every, timeout):
            return
        if session_over <= due + self.network.longest_us:
            return
        queue.stop(key)
        queue.stop(session_key)
        self.resting[number] = Rest(due, every, session_over, timeout, session)

    def _is_regular(self, link: Link, every: int, timeout: int) -> bool:
        """Return whether each heartbeat is answered before the next is due, and in time.

        It arrives before the session is over then. Where something has gone wrong once, an answer
        also has to come before its request is given up.
        """
        delay = self.network.longest_us
        time = every if link.trouble is None else min(every, link.limit_us)
        return time > 2 * delay + self.broker.service_us and timeout > every + delay

    def look(self) -> None:
        """Wake all members if a step of the coordinator, or a new topic, may have news for them.

        Cost: O(1) where there are none, O(members at rest) otherwise.
        """
        changes = self.plain.changes()
        if changes != self.seen:
            self.seen = changes
            for number in list(self.resting):
                self.wake(number)

    def wake(self, number: int) -> None:
        """Put into the queue what would be there for a member at rest. Cost: O(log n)."""
        rest = self.resting.pop(number, None)
        if rest is None:
            return
        due, every, session_over, timeout, session = rest
        queue, network = self.queue, self.network
        sent = self._sent_by_now(number, due, every)
        if sent:
            last = due + (sent - 1) * every
            if sent > 1:
                session_over = network.arrives(number, last - every) + timeout
            arrives = network.arrives(number, last)
            if queue.is_past(arrives, ARRIVAL, number):
                session_over = arrives + timeout
            leaves = arrives + self.broker.service_us
            returns = network.returns(number, leaves)
            is_over = queue.is_past(returns, ANSWER, number)
            network.count(self.plain.request, sent - 1 + is_over)
            if is_over:
                link = network.links[number]
                link.arrives, link.returns = arrives, returns
            else:
                self._send(number, last, leaves)
        event = (number, HEARTBEAT)
        queue.start((number, HEARTBEAT.key), due + sent * every, event, BEAT, number)
        queue.start(
            (COORDINATOR, session),
            session_over,
            (COORDINATOR, Fired(session, 0)),
            SESSION,
            session[-1],
        )

    def _sent_by_now(self, number: int, due: int, every: int) -> int:
        """Return how many heartbeats a member has sent, of those due from `due` on. Cost: O(1)."""
        sent = max((self.queue.now - due) // every + 1, 0)
        last = due + (sent - 1) * every
        is_to_come = sent > 0 and not self.queue.is_past(last, BEAT, number)
        return sent - is_to_come

    def _send(self, number: int, at: int, leaves: int) -> None:
        """Send the heartbeat that was due at `at`; its answer leaves then, and has not come yet."""
        queue, network = self.queue, self.network
        for effect in self.step_member(number, HEARTBEAT):
            if not isinstance(effect, Send):
                assert isinstance(effect, Schedule), effect
                continue
            sent = network.send(at, number, effect)
            assert sent is not None, "no member rests while its connection is bad"
            arrives, rank, arrived = sent
            if not queue.is_past(arrives, ARRIVAL, number):
                queue.put(arrives, (COORDINATOR, arrived), rank, number)
                continue
            answered = network.answer(leaves, arrived.number, self.plain.answer(number))
            assert answered is not None, "the member that rests is the one that sent"
            returns, rank, _, what = answered
            queue.put(returns, (number, what), rank, number)

    def close(self, at: int) -> None:
        """Count the heartbeats up to the end of the run. Cost: O(members at rest)."""
        for due, every, *_ in self.resting.values():
            self.network.count(self.plain.request, max((at - due) // every + 1, 0))
