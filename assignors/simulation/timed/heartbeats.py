"""Heartbeats that change nothing are computed, not queued.

A member at rest sends a heartbeat every interval, and as long as nobody has anything to say, the
answer is always the same. So its next heartbeat, when each one arrives, and when its session would
run out, are arithmetic: such a member *rests*, and costs no event. It is woken when something
happens to it, or when the coordinator has something to say: then its heartbeat that is on its way,
its next one and its session are put into the queue as they would stand there.

Waking a member too early changes nothing but the number of events. That every run ends the same
with all heartbeats queued is a law (`tests/simulation/timed/test_heartbeats.py`). It rests on three
decisions: the delay of a message depends on when it is sent, not on how many were sent before it;
heartbeats that say nothing neither wait for the coordinator nor occupy it (each is answered after
its service time, beside the queue); and of one moment heartbeats come last (`queue.Rank`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from assignors.simulation.timed.network import Network
from assignors.simulation.timed.protocols.effects import COORDINATOR, Fired, Schedule, Send
from assignors.simulation.timed.queue import EventQueue, Rank
from assignors.simulation.timed.sides import PlainHeartbeats, Sides

HEARTBEAT = Fired(("heartbeat",), 0)


class Rest(NamedTuple):
    """A member that rests. Times are microseconds since the run began."""

    due: int
    """When its first heartbeat is due that is not queued."""
    every: int
    session_over: int
    """When its session would run out without any further heartbeat."""
    session_timeout: int
    member_id: str


@dataclass(slots=True, kw_only=True)
class Heartbeats:
    """The members that rest, and the queue into which they are woken."""

    sides: Sides
    plain: PlainHeartbeats
    network: Network
    queue: EventQueue[Any]
    service_us: int
    resting: dict[int, Rest] = field(default_factory=dict)
    """By member number."""
    changes: int = 0
    """Of the coordinator (`PlainHeartbeats.changes`), when it was last looked at."""
    awaited_from: int | None = None
    """From when on the first heartbeat of anybody counts; a member has been woken for it."""

    @classmethod
    def of(
        cls, sides: Sides, network: Network, queue: EventQueue[Any], service_us: int
    ) -> Heartbeats | None:
        """Return what computes heartbeats, `None` under a protocol that has to see each one."""
        if sides.plain is None:
            return None
        return cls(
            sides=sides, plain=sides.plain, network=network, queue=queue, service_us=service_us
        )

    def rest(self, number: int) -> None:
        """Let a member rest if nobody has anything to say. Cost: O(1)."""
        plain = self.plain
        if not self.network.is_quiet(number, plain.standing(number)) or not plain.may_rest(number):
            return
        queue, key = self.queue, (number, HEARTBEAT.key)
        due = queue.due(key)
        if due is None:
            return
        member_id, every, timeout = self.plain.timing(number)
        session_key = (COORDINATOR, ("session", member_id))
        session_over = queue.due(session_key)
        delay = self.network.longest_us
        # Each one is answered before the next is due, and arrives before the session is over.
        is_regular = every > 2 * delay + self.service_us and timeout > every + delay
        if session_over is None or not is_regular or session_over <= due + delay:
            return
        queue.stop(key)
        queue.stop(session_key)
        self.resting[number] = Rest(due, every, session_over, timeout, member_id)

    def look(self) -> None:
        """Wake those for whom a step of the coordinator, or a new topic, may have news.

        Cost: O(1) where there are none, O(members) otherwise.
        """
        changes = self.plain.changes()
        if changes != self.changes:
            self.changes = changes
            for number in list(self.resting):
                self.wake(number)
        awaited_from = self.plain.awaited_from()
        if awaited_from != self.awaited_from:
            self.awaited_from = awaited_from
            self.wake_first()

    def wake_first(self) -> None:
        """Wake the member whose heartbeat is the first to arrive once one is awaited.

        Cost: O(members at rest).
        """
        if self.awaited_from is not None and self.resting:
            self.wake(min(self.resting, key=self._arrives_first))

    def _arrives_first(self, number: int) -> tuple[int, int]:
        """Return when the first heartbeat of a member arrives that counts, and its number."""
        rest, network = self.resting[number], self.network
        assert self.awaited_from is not None
        begin = max(self.awaited_from, self.queue.now)
        due = rest.due
        if begin - network.longest_us > due:
            due += (begin - network.longest_us - due) // rest.every * rest.every
        while True:
            arrives = network.arrives(number, due)
            if arrives >= begin and not self.queue.is_past(arrives, Rank.ARRIVAL, number):
                return arrives, number
            due += rest.every

    def wake(self, number: int) -> None:
        """Put into the queue what would stand there. Cost: O(1)."""
        rest = self.resting.pop(number, None)
        if rest is None:
            return
        due, every, session_over, timeout, member_id = rest
        queue, network = self.queue, self.network
        sent = max((queue.now - due) // every + 1, 0)
        if sent and not queue.is_past(due + (sent - 1) * every, Rank.HEARTBEAT, number):
            sent -= 1
        if sent:
            last = due + (sent - 1) * every
            if sent > 1:
                session_over = network.arrives(number, last - every) + timeout
            arrives = network.arrives(number, last)
            if queue.is_past(arrives, Rank.ARRIVAL, number):
                session_over = arrives + timeout
            is_over = queue.is_past(self._returns(number, arrives), Rank.ANSWER, number)
            network.count(self.plain.request, sent - 1 + is_over)
            if is_over:
                network.passed(number, arrives, self._returns(number, arrives))
            else:
                self._send(number, last)
        event = (number, HEARTBEAT)
        queue.start((number, HEARTBEAT.key), due + sent * every, event, Rank.HEARTBEAT, number)
        key = ("session", member_id)
        session = (COORDINATOR, Fired(key, 0))
        queue.start((COORDINATOR, key), session_over, session, Rank.SESSION, member_id)

    def _returns(self, number: int, arrives: int) -> int:
        return self.network.returns(number, arrives + self.service_us)

    def _send(self, number: int, at: int) -> None:
        """Send the heartbeat that was due at `at` and is not answered yet."""
        queue, network = self.queue, self.network
        for effect in self.sides.step_member(number, HEARTBEAT):
            if isinstance(effect, Send):
                sent = network.send(at, number, effect)
                assert sent is not None, "no member rests while its connection is bad"
                arrives, rank, arrived = sent
                if not queue.is_past(arrives, Rank.ARRIVAL, number):
                    queue.put(arrives, (COORDINATOR, arrived), rank, number)
                    continue
                answer = self.plain.answer(number)
                answered = network.answer(arrives + self.service_us, arrived.number, answer)
                assert answered is not None, "the member that rests is the one that sent"
                returns, rank, _, what = answered
                queue.put(returns, (number, what), rank, number)
            else:
                assert isinstance(effect, Schedule), effect

    def close(self, at: int) -> None:
        """Count the heartbeats up to the end of the run. Cost: O(members at rest)."""
        for due, every, *_ in self.resting.values():
            self.network.count(self.plain.request, max((at - due) // every + 1, 0))


def wake_for(heartbeats: Heartbeats | None, request: int) -> None:
    """Wake the member whose request, by number, is about to be answered. Cost: O(1)."""
    waiting = None if heartbeats is None else heartbeats.network.in_flight.get(request)
    if heartbeats is not None and waiting is not None:
        heartbeats.wake(waiting[0])
