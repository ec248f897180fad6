"""Heartbeats that change nothing are computed, not queued.

A member at rest sends a heartbeat every interval, and as long as nobody has anything to say, the
answer is always the same. So its next heartbeat, when each one arrives, and when its session would
run out, are arithmetic: such a member *rests*, and costs no event. It is woken when something
happens to it, or when the coordinator has something to say: then its heartbeat that is on its way,
its next one and its session are put into the queue as they would stand there.

In a consumer group a member may also go on resting while it only moves to a new epoch
(`protocols/promotions`).

Waking a member too early changes nothing but the number of events. That every run ends the same
with all heartbeats queued is a law (`tests/simulation/timed/test_heartbeats.py`). It rests on three
decisions: the delay of a message depends on when it is sent, not on how many were sent before it;
heartbeats that say nothing neither wait for the coordinator nor occupy it (each is answered after
its service time, beside the queue); and of one moment heartbeats come last (`queue.Rank`).
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any

from assignors.simulation.timed.network import Link, Network
from assignors.simulation.timed.next_heartbeats import NextHeartbeats
from assignors.simulation.timed.plain_heartbeats import (
    News,
    PlainHeartbeats,
    Rest,
    Together,
    Underway,
)
from assignors.simulation.timed.protocols.effects import (
    COORDINATOR,
    Fired,
    Response,
    Schedule,
    Send,
)
from assignors.simulation.timed.protocols.promotions import Move, Promotions
from assignors.simulation.timed.queue import EventQueue, Rank
from assignors.simulation.timed.scenario import BrokerConfig
from assignors.simulation.timed.sides import Sides

HEARTBEAT = Fired(("heartbeat",), 0)
BEAT, ARRIVAL, ANSWER, SESSION = Rank


@dataclass(slots=True, kw_only=True)
class Heartbeats:
    """The members that rest, and the queue into which they are woken."""

    sides: Sides
    plain: PlainHeartbeats
    network: Network
    queue: EventQueue[Any]
    broker: BrokerConfig
    promotes: bool
    """Whether members that only move to a new epoch go on resting."""
    resting: dict[int, Rest] = field(default_factory=dict)
    """By member number."""
    by_id: dict[str, int] = field(default_factory=dict)
    promotions: Promotions
    awaited_from: int | None = None
    """From when on the first heartbeat of anybody counts; a member has been woken for it."""
    first: int | None = None
    """The member that was."""
    rounds: Together | None = None
    """Members at rest go through a round together, if this is given."""
    reconciling: Underway | None = None
    """Members reconcile with few events each, if this is given."""
    under_way: Container[int] = ()
    """Those that are about to: what happens next to them is not in the queue."""
    next: NextHeartbeats = field(init=False)

    def __post_init__(self) -> None:
        """Nobody rests."""
        self.next = NextHeartbeats(queue=self.queue, network=self.network, resting=self.resting)

    @classmethod
    def of(
        cls,
        sides: Sides,
        network: Network,
        queue: EventQueue[Any],
        broker: BrokerConfig,
        *,
        promotes: bool,
    ) -> Heartbeats | None:
        """Return what computes heartbeats, `None` under a protocol that has to see each one."""
        plain = sides.plain
        if plain is None:
            return None
        found = cls(
            sides=sides,
            plain=plain,
            network=network,
            queue=queue,
            broker=broker,
            promotes=promotes and plain.promote is not None,
            promotions=Promotions(members=len(sides.members)),
        )
        if found.promotes and plain.counts_ahead is not None:
            plain.counts_ahead(found.count_ahead)
        return found

    def rest(self, number: int) -> None:
        """Let a member rest if nobody has anything to say. Cost: O(1)."""
        plain, reconciling, link = self.plain, self.reconciling, self.network.links[number]
        standing = 0 if plain.standing is None else plain.standing(number)
        if link.unanswered != standing or not self.network.is_well(number):
            return
        may_rest = plain.may_rest(number)
        if not may_rest and (reconciling is None or not reconciling.may_wait(number)):
            return
        queue, key = self.queue, (number, HEARTBEAT.key)
        due = queue.due(key)
        if due is None:
            return
        member_id, every, timeout = self.plain.timing(number)
        session_key = (COORDINATOR, ("session", member_id))
        session_over = queue.due(session_key)
        if session_over is None or not self.is_regular(link, every, timeout):
            return
        if session_over <= due + self.network.longest_us:
            return
        queue.stop(key)
        queue.stop(session_key)
        rest = Rest(due, every, session_over, timeout, member_id)
        if may_rest or reconciling is None:
            self.put(number, rest)
        else:
            reconciling.wait(number, rest)

    def is_regular(self, link: Link, every: int, timeout: int) -> bool:
        """Return whether each heartbeat is answered before the next is due, and in time.

        It arrives before the session is over then. Where something has gone wrong once, an answer
        also has to come before its request is given up.
        """
        delay = self.network.longest_us
        handling = self.broker.service_us + self.promotes * self.broker.append_us
        time = every if link.trouble is None else min(every, link.limit_us)
        return time > 2 * delay + handling and timeout > every + delay

    def put(self, number: int, rest: Rest) -> None:
        """Let a member rest of which nothing is in the queue. Cost: O(1)."""
        self.resting[number] = rest
        self.by_id[rest.member_id] = number
        self.next.changed.add(number)

    def may_wake(self, number: int) -> bool:
        """Return whether what happens to a member may be computed, not queued. Cost: O(1)."""
        return number in self.resting or number in self.under_way

    def look(self) -> None:
        """Wake those for whom a step of the coordinator, or a new topic, may have news.

        Cost: O(1) where there are none, O(members) otherwise.
        """
        news = self.plain.news()
        if news is not None:
            self._spread(news)
        if self.plain.awaited_from is not None:
            awaited_from = self.plain.awaited_from()
            if awaited_from != self.awaited_from:
                self.awaited_from = awaited_from
                self.wake_first()

    def _spread(self, news: News) -> None:
        if news.member_ids is not None:
            for member_id in news.member_ids:
                if member_id in self.by_id:
                    self._expect(self.by_id[member_id])
        if news.member_ids is None or (news.epoch is not None and not self.promotes):
            together = () if self.rounds is None else self.rounds.begin()
            for number in list(self.resting):
                if number not in together:
                    self.wake(number)
        elif news.epoch is not None and self.resting:
            order, times = self.next.in_order(self.queue.now)
            members = self.sides.members
            self.promotions.count(self.queue.now, self._is_past)
            self.promotions.begin(news.epoch, order, times, lambda n: members[n].generation)
            self.wake_last()

    def count_ahead(self, epoch: int) -> int:
        """Return how many members at rest have moved to an epoch."""
        if epoch != self.promotions.epoch:
            return 0
        return self.promotions.count(self.queue.now, self._is_past)

    def wake_last(self) -> None:
        """Wake the member that is the last to move: with that the group is stable."""
        self.promotions.count(self.queue.now, self._is_past)
        last = self.promotions.last()
        if last is not None:
            self._expect(last)

    def wake_first(self) -> None:
        """Wake the member whose heartbeat is the first to arrive once one is awaited.

        Cost: O(members at rest).
        """
        self.first = None
        if self.awaited_from is not None and self.resting:
            self.first = self.next.first(max(self.awaited_from, self.queue.now))
            self._expect(self.first)

    def commanded(self, number: int) -> None:
        """Wake others in place of a member that was woken, and may now send no heartbeat in time.

        Nobody comes to rest while a heartbeat is awaited: if it was another one, that still is the
        first. Cost: O(1), O(members at rest) for the first one.
        """
        if self.first is None or number == self.first:
            self.wake_first()
        self.wake_last()

    def _is_past(self, arrives: int, number: int) -> bool:
        return self.queue.is_past(arrives, ARRIVAL, number)

    def _expect(self, number: int) -> None:
        """Let the next heartbeat of a member at rest be an event."""
        if self.reconciling is None or not self.reconciling.expect(number):
            self.wake(number)

    def leave(self, number: int) -> None:
        """Let a member rest no longer that knows of all answers, and put nothing into the queue."""
        rest = self.resting.pop(number)
        self.next.changed.add(number)
        del self.by_id[rest.member_id]
        self._promote(number, self._moved(number), knows=True)

    def wake(self, number: int) -> None:
        """Put into the queue what would stand there. Cost: O(1), O(its partitions) if it moved."""
        if self.rounds is not None and self.rounds.wake(number):
            return
        rest = self.resting.pop(number, None)
        if rest is None:
            if self.reconciling is not None:
                self.reconciling.release(number)
            return
        if self.reconciling is not None:
            self.reconciling.take_back(number)
        self.next.changed.add(number)
        due, every, session_over, timeout, member_id = rest
        del self.by_id[member_id]
        queue, network, move = self.queue, self.network, self._moved(number)
        sent = self.sent_by_now(number, due, every)
        if sent:
            last = due + (sent - 1) * every
            if sent > 1:
                session_over = network.arrives(number, last - every) + timeout
            arrives = network.arrives(number, last)
            if self._is_past(arrives, number):
                session_over = arrives + timeout
            is_moving = move is not None and move.at == arrives
            leaves = arrives + self.broker.service_us + is_moving * self.broker.append_us
            returns = network.returns(number, leaves)
            is_over = queue.is_past(returns, ANSWER, number)
            network.count(self.plain.request, sent - 1 + is_over)
            self._promote(number, move, knows=is_over or not is_moving)
            if is_over:
                network.passed(number, arrives, returns)
            else:
                own = self.sides.members[number].generation
                epoch = move.epoch if move is not None and is_moving else own
                answer = self.plain.answer(number, epoch)
                self._send(number, last, leaves, answer)
        else:
            self._promote(number, move, knows=True)
        event = (number, HEARTBEAT)
        queue.start((number, HEARTBEAT.key), due + sent * every, event, BEAT, number)
        session = Fired(("session", member_id), 0)
        event = (COORDINATOR, session)
        queue.start((COORDINATOR, session.key), session_over, event, SESSION, member_id)

    def sent_by_now(self, number: int, due: int, every: int) -> int:
        """Return how many heartbeats a member has sent, of those due from `due` on. Cost: O(1)."""
        sent = max((self.queue.now - due) // every + 1, 0)
        last = due + (sent - 1) * every
        is_to_come = sent > 0 and not self.queue.is_past(last, BEAT, number)
        return sent - is_to_come

    def _moved(self, number: int) -> Move | None:
        """Return to what epoch a member has moved at rest, and when if that was the last one."""
        promotions = self.promotions
        own = self.sides.members[number].generation
        epoch, previous = promotions.before(number) or (own, -1)
        at = promotions.end(number, self.queue.now, self._is_past)
        if at is not None:
            return Move(promotions.epoch, epoch, at)
        return None if previous < 0 else Move(epoch, previous, -1)

    def _promote(self, number: int, move: Move | None, *, knows: bool) -> None:
        if move is not None:
            assert self.plain.promote is not None, "members move in consumer groups alone"
            believed = move.epoch if knows else move.previous
            self.plain.promote(number, move.epoch, move.previous, believed)

    def _send(self, number: int, at: int, leaves: int, answer: Response) -> None:
        """Send the heartbeat that was due at `at`; its answer leaves then, and has not come yet."""
        queue, network = self.queue, self.network
        for effect in self.sides.step_member(number, HEARTBEAT):
            if isinstance(effect, Send):
                sent = network.send(at, number, effect)
                assert sent is not None, "no member rests while its connection is bad"
                arrives, rank, arrived = sent
                if not queue.is_past(arrives, ARRIVAL, number):
                    queue.put(arrives, (COORDINATOR, arrived), rank, number)
                    continue
                answered = network.answer(leaves, arrived.number, answer)
                assert answered is not None, "the member that rests is the one that sent"
                returns, rank, _, what = answered
                queue.put(returns, (number, what), rank, number)
            else:
                assert isinstance(effect, Schedule), effect

    def close(self, at: int) -> None:
        """Count the heartbeats up to the end of the run. Cost: O(members at rest)."""
        for due, every, *_ in self.resting.values():
            self.network.count(self.plain.request, max((at - due) // every + 1, 0))
        if self.reconciling is not None:
            self.reconciling.close(at)
