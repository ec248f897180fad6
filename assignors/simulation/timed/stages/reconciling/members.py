"""Members of a consumer group that are brought to their target: few events each.

A member that hears of another assignment, or has to wait for one, goes through a dozen events:
heartbeats and reports with their answers, polls and callbacks. Others have to do with four of them:
the coordinator handles a heartbeat, the member stops to consume something, it begins to and reports
that, and the coordinator handles the report. These alone are queued. What lies between them is
arithmetic, and the member's own steps are taken when the next of the four is due.

Nothing here decides anything: the member's steps and the coordinator's are theirs. When something
happens to a member it goes on by events, as it would stand then (`release`).

That every run ends the same as by events alone is a law
(`tests/simulation/timed/test_reconciling.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from assignors.simulation.timed.heartbeats import HEARTBEAT, Heartbeats
from assignors.simulation.timed.monitors.moment import Consumption
from assignors.simulation.timed.monitors.watch import Watch, saw_member
from assignors.simulation.timed.network import NEVER
from assignors.simulation.timed.plain_heartbeats import Rest
from assignors.simulation.timed.protocols.consumer.member import step
from assignors.simulation.timed.protocols.consumer.member_state import ConsumerClient
from assignors.simulation.timed.protocols.consumer.messages import (
    ConsumerError,
    ConsumerHeartbeat,
)
from assignors.simulation.timed.protocols.effects import (
    Answered,
    Arrived,
    Consume,
    Effect,
    Fired,
    MemberEvent,
    Schedule,
    Send,
)
from assignors.simulation.timed.protocols.partitions import are_same
from assignors.simulation.timed.queue import Rank
from assignors.simulation.timed.stages.reconciling.asking import Asking
from assignors.simulation.timed.stages.reconciling.by_events import put_back, send_answer
from assignors.simulation.timed.stages.reconciling.member import (
    Answer,
    Next,
    ReconciliationDue,
    Reconciling,
    gains_at,
    has_all_at,
    is_plain,
    revokes_at,
)

DUE = ReconciliationDue()
BEAT = HEARTBEAT.key


@dataclass(slots=True, kw_only=True)
class ReconcilingMembers:
    """The members that are on their way, or wait for what their next heartbeat brings."""

    asking: Asking
    clients: Sequence[ConsumerClient]
    heartbeats: Heartbeats
    watch: Watch | None
    consume: Callable[[int, MemberEvent, Consume], None]
    """Lets a member consume other partitions."""
    members: dict[int, Reconciling] = field(default_factory=dict)
    """By member number."""
    answers: dict[int, Answer] = field(default_factory=dict)
    """Member number -> the last answer that the member knew of before it came, or comes."""

    def __post_init__(self) -> None:
        """Members are brought up to date before anybody looks at them."""
        self.heartbeats.under_way = self.members
        if self.watch is not None:
            self.watch.catch_up = self.catch_up

    def may_wait(self, number: int) -> bool:
        """Return whether nothing happens to a member until its next heartbeat is answered."""
        client = self.clients[number]
        return (
            client.is_at_rest
            and not client.is_busy
            and client.target_number == client.confirmed_number > 0
            and client.member_id in self.asking.waiting.coordinator.group.members
            and is_plain(client)
        )

    def wait(self, number: int, rest: Rest) -> None:
        """Let a member wait of which nothing is in the queue. Cost: O(log n)."""
        due, every, session_over, timeout, member_id = rest
        one = Reconciling(number, Next.HEARTBEAT, due, every, session_over, timeout, member_id)
        self.members[number] = one
        self._await(one)

    def _await(self, one: Reconciling) -> None:
        """Let the next heartbeat of a member be an event when it arrives."""
        one.next, one.answer, one.pending, one.report = Next.HEARTBEAT, None, None, None
        arrives = self.heartbeats.network.arrives(one.number, one.due)
        self._start(one, arrives, Rank.ARRIVAL)

    def expect(self, number: int) -> bool:
        """Let the next heartbeat of a member at rest be an event when it arrives.

        Returns whether it is: not where the answer to the last one is on its way, or where the
        member is not plain. Cost: O(log n), O(its partitions) if it has moved.
        """
        heartbeats, client = self.heartbeats, self.clients[number]
        if not (is_plain(client) and client.target_number == client.confirmed_number > 0):
            return False
        queue, network, broker = heartbeats.queue, heartbeats.network, heartbeats.broker
        due, every, session_over, timeout, member_id = heartbeats.resting[number]
        sent = heartbeats.sent_by_now(number, due, every)
        if sent:
            last = due + (sent - 1) * every
            arrives = network.arrives(number, last)
            if queue.is_past(arrives, Rank.ARRIVAL, number):
                handled = arrives + broker.service_us + broker.append_us
                if handled + network.longest_us >= queue.now:
                    return False
                due, session_over = last + every, arrives + timeout
            else:
                if sent > 1:
                    session_over = network.arrives(number, last - every) + timeout
                due, sent = last, sent - 1
            network.count(heartbeats.plain.request, sent)
        heartbeats.leave(number)
        self.wait(number, Rest(due, every, session_over, timeout, member_id))
        return True

    def happen(self, number: int) -> None:
        """Let happen what is next for a member."""
        one = self.members[number]
        if one.next is Next.HEARTBEAT:
            self._beat(one)
        elif one.next is Next.REPORT:
            assert one.report is not None, "it is sent"
            own_number, report, _ = one.report
            self._ask(one, own_number, report)
        else:
            self._go_on(one, self.heartbeats.queue.now + 1)
            if one.next is Next.REVOCATION:
                self._give_up(one)
            else:
                assert one.report is not None, "it reports what it has"
                one.next = Next.REPORT
                self._start(one, one.report[2])

    def _beat(self, one: Reconciling) -> None:
        """Let the coordinator handle a heartbeat that says nothing."""
        number, heartbeats = one.number, self.heartbeats
        sent, _ = step(self.clients[number], HEARTBEAT)
        assert isinstance(sent, Send)
        assert isinstance(sent.request, ConsumerHeartbeat)
        one.due += one.every
        heartbeats.network.count(heartbeats.plain.request, 1)
        self._ask(one, sent.number, sent.request)

    def _ask(self, one: Reconciling, own_number: int, request: ConsumerHeartbeat) -> None:
        """Let the coordinator handle a request, and see what its answer leads to."""
        heartbeats, number = self.heartbeats, one.number
        network, broker, now = heartbeats.network, heartbeats.broker, heartbeats.queue.now
        network.links[number].arrives = now
        event = Arrived(0, request)
        leaves = network.handled(now, event, broker.service_us)
        one.session_over = now + one.session_timeout
        response, is_written = self.asking.answer(event, request)
        leaves += is_written * broker.append_us
        returns = network.returns(number, leaves)
        network.links[number].returns = returns
        # As `Network.send` has it: an answer to a heartbeat that said nothing comes last.
        rank = Rank.ANSWER if one.next is Next.HEARTBEAT else None
        one.answer = Answer(own_number, response, returns, rank, self.clients[number].epoch)
        one.pending = (returns, Answered(own_number, response))
        one.report = None
        self._set_off(one, one.answer)

    def _set_off(self, one: Reconciling, answer: Answer) -> None:
        """Find out what an answer leads to, and when."""
        client, target = self.clients[one.number], answer.response.assignment
        returns = answer.returns
        if answer.response.error is not ConsumerError.NONE or returns >= one.due:
            self._leave(one)
        elif target is None or are_same(target, client.target):
            self._go_on(one, NEVER)
            self.answers[one.number] = answer
            self._rest_or_wait(one)
        elif (revokes := revokes_at(client, target, returns)) is not None:
            self._expect_next(one, Next.REVOCATION, revokes)
        else:
            self._expect_next(one, Next.ASSIGNMENT, gains_at(client, returns))

    def _give_up(self, one: Reconciling) -> None:
        """See when a member that has given up something has its target."""
        client = self.clients[one.number]
        assert client.going_for is not None
        at = has_all_at(client, client.going_for, self.heartbeats.queue.now)
        self._expect_next(one, Next.ASSIGNMENT, at)

    def _expect_next(self, one: Reconciling, what: Next, at: int) -> None:
        """Let what a member does next be an event.

        By events, where another heartbeat is due before: its answer may change the way.
        """
        one.next = what
        if at >= one.due:
            self._leave(one)
        else:
            self._start(one, at)

    def _rest_or_wait(self, one: Reconciling) -> None:
        """Let a member rest, or wait for what its next heartbeat brings."""
        if self.heartbeats.plain.may_rest(one.number):
            del self.members[one.number]
            self.heartbeats.put(one.number, _rest(one))
        else:
            self._await(one)

    def _go_on(self, one: Reconciling, before: int) -> None:
        """Let a member take the steps due before a moment, up to one that changes what it has."""
        number, client = one.number, self.clients[one.number]
        has_other = False
        while one.pending is not None and one.pending[0] < before and not has_other:
            (at, event), one.pending = one.pending, None
            effects = step(client, event)
            for effect in effects:
                if isinstance(effect, Schedule):
                    key, after_us, _ = effect
                    if key == BEAT:
                        one.due = at + after_us
                    else:
                        one.pending = (at + after_us, Fired(key, 0))
                elif isinstance(effect, Consume):
                    has_other = True
                    self.consume(number, event, effect)
                elif isinstance(effect, Send):
                    self._report(one, at, effect)
            self._watch(number, event, effects, has_other=has_other)

    def _watch(
        self, number: int, event: MemberEvent, effects: list[Effect], *, has_other: bool
    ) -> None:
        """Let monitors know what a member does; nobody else has to do with what it gives up.

        So that is not kept as what it commits.
        """
        watch = self.watch
        if watch is None:
            return
        if watch.ledger.doubled or watch.lasting or watch.committed_by:
            queue = self.heartbeats.queue
            saw_member(watch, (queue.count, queue.now), number, event, effects)
        elif has_other:
            watch.does[number] = Consumption(consumed=self.clients[number].owned)
        watch.generations[number] = self.clients[number].epoch

    def _report(self, one: Reconciling, at: int, sent: Send) -> None:
        """Send what a member has come to."""
        assert isinstance(sent.request, ConsumerHeartbeat)
        network = self.heartbeats.network
        network.count(self.heartbeats.plain.request, 1)
        one.report = (sent.number, sent.request, network.arrives(one.number, at))

    def _start(self, one: Reconciling, at: int, rank: Rank | None = None) -> None:
        number = one.number
        self.heartbeats.queue.start(("reconciling", number), at, (number, DUE), rank, number)

    # Whatever is not so

    def catch_up(self) -> None:
        """Let all members know what has happened to them until now. Cost: O(those on their way)."""
        now = self.heartbeats.queue.now
        for one in self.members.values():
            if one.pending is not None:
                self._go_on(one, now)

    def release(self, number: int) -> None:
        """Let a member go on by events, if it is on its way. Cost: O(log n)."""
        one = self.members.get(number)
        if one is None:
            return
        self.heartbeats.queue.stop(("reconciling", number))
        if one.next is Next.HEARTBEAT:
            del self.members[number]
            self.heartbeats.put(number, _rest(one))
            self.heartbeats.wake(number)
        else:
            self._go_on(one, self.heartbeats.queue.now)
            self._leave(one)

    def _leave(self, one: Reconciling) -> None:
        """Let a member go on by events that is on its way."""
        del self.members[one.number]
        put_back(self.heartbeats, one)

    def take_back(self, number: int) -> None:
        """Let a member not know of an answer that is still on its way. Cost: O(1)."""
        answer = self.answers.pop(number, None)
        if answer is None or answer.returns < self.heartbeats.queue.now:
            return
        client = self.clients[number]
        client.in_flight, client.epoch = answer.own_number, answer.epoch
        if self.watch is not None:
            self.watch.generations[number] = answer.epoch
        send_answer(self.heartbeats, number, answer)

    def close(self, at: int) -> None:
        """Count heartbeats up to the end of a run; let members know of it. Cost: O(members)."""
        for one in self.members.values():
            if one.next is Next.HEARTBEAT:
                sent = max((at - one.due) // one.every + 1, 0)
                self.heartbeats.network.count(self.heartbeats.plain.request, sent)
            elif one.pending is not None:
                self._go_on(one, at + 1)


def _rest(one: Reconciling) -> Rest:
    return Rest(one.due, one.every, one.session_over, one.session_timeout, one.member_id)
