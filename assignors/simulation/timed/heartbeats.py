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

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from assignors.simulation.timed.network import Link, Network
from assignors.simulation.timed.protocols.effects import (
    COORDINATOR,
    Effect,
    Fired,
    MemberEvent,
    Schedule,
    Send,
    TimerKey,
)
from assignors.simulation.timed.queue import EventQueue, Rank
from assignors.simulation.timed.scenario import BrokerConfig
from assignors.simulation.timed.sides import Sides

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
    sides: Sides
    network: Network
    queue: EventQueue[Any]
    broker: BrokerConfig
    resting: dict[int, Rest] = field(default_factory=dict)
    """By member number."""
    seen: object = None
    """The sides' `changes` when they were last looked at."""

    def rest(self, number: int) -> None:
        """Let a member rest if nobody has anything to say. Cost: O(1)."""
        sides, link = self.sides, self.network.links[number]
        if link.unanswered != sides.standing(number) or not self.network.is_well(number):
            return
        if not sides.may_rest(number):
            return
        queue, key = self.queue, (number, HEARTBEAT.key)
        due = queue.due(key)
        if due is None:
            return
        session, every, timeout = sides.heartbeat_times(number)
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
        changes = self.sides.changes()
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
            network.count(self.sides.heartbeat, sent - 1 + is_over)
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
            answered = network.answer(leaves, arrived.number, self.sides.heartbeat_answer(number))
            assert answered is not None, "the member that rests is the one that sent"
            returns, rank, _, what = answered
            queue.put(returns, (number, what), rank, number)

    def close(self, at: int) -> None:
        """Count the heartbeats up to the end of the run. Cost: O(members at rest)."""
        for due, every, *_ in self.resting.values():
            self.network.count(self.sides.heartbeat, max((at - due) // every + 1, 0))
