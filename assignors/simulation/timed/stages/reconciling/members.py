"""Members of a consumer group that are brought to their target: few events each.

A member that hears of another assignment, or has to wait for one, goes through a dozen events:
heartbeats and reports with their answers, polls and callbacks. Others have to do with four of them:
the coordinator handles a heartbeat, the member stops to consume something, it begins to and reports
that, and the coordinator handles the report. These alone are queued. What lies between them is
arithmetic (`way`), and what a member does is done when the next of the four is due (`steps`).

Nothing here decides anything: what a member and the coordinator come to is what their steps lead
to. When something happens to a member it goes on by events, as it would stand then (`release`).

That every run ends the same as by events alone is a law
(`tests/simulation/timed/test_reconciling.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from assignors.simulation.timed.heartbeats import Heartbeats
from assignors.simulation.timed.monitors.watch import Watch
from assignors.simulation.timed.plain_heartbeats import Rest
from assignors.simulation.timed.protocols.consumer.member_state import ConsumerClient
from assignors.simulation.timed.protocols.consumer.messages import (
    ConsumerError,
    ConsumerHeartbeatResponse,
)
from assignors.simulation.timed.protocols.effects import MILLISECOND, CoordinatorEvent
from assignors.simulation.timed.protocols.partitions import are_same, count
from assignors.simulation.timed.queue import Rank
from assignors.simulation.timed.stages.reconciling.asking import Asking
from assignors.simulation.timed.stages.reconciling.by_events import put_back, send_answer, unhear
from assignors.simulation.timed.stages.reconciling.expecting import has_its_target, until_next
from assignors.simulation.timed.stages.reconciling.giving_up import GivingUp
from assignors.simulation.timed.stages.reconciling.joining import Joined, Joining
from assignors.simulation.timed.stages.reconciling.member import (
    Answer,
    Next,
    ReconciliationDue,
    Reconciling,
    set_out,
)
from assignors.simulation.timed.stages.reconciling.steps import MemberSteps
from assignors.simulation.timed.stages.reconciling.way import (
    gains_at,
    gains_something,
    has_all_at,
    reports_kept_at,
    revokes_at,
    sets_out_at,
)
from wire import TopicPartitions

DUE = ReconciliationDue()
HEARTBEAT, REVOCATION, ASSIGNMENT, REPORT = Next
ARRIVAL, ANSWER = Rank.ARRIVAL, Rank.ANSWER
NONE = ConsumerError.NONE


@dataclass(slots=True, kw_only=True)
class ReconcilingMembers:
    """The members that are on their way, or wait for what their next heartbeat brings."""

    asking: Asking
    clients: Sequence[ConsumerClient]
    heartbeats: Heartbeats
    watch: Watch | None
    steps: MemberSteps
    members: dict[int, Reconciling] = field(default_factory=dict)
    """By member number."""
    known: dict[int, Reconciling] = field(default_factory=dict)
    """Those that were on their way once, to be filled anew."""
    answers: dict[int, Answer] = field(default_factory=dict)
    """Member number -> the last answer that the member knew of before it came, or comes."""
    giving_up: GivingUp = field(init=False)
    joining: Joining = field(init=False)

    def __post_init__(self) -> None:
        """Members are brought up to date before anybody looks at them."""
        self.giving_up = GivingUp(asking=self.asking, steps=self.steps)
        self.joining = Joining(asking=self.asking, steps=self.steps, clients=self.clients)
        self.heartbeats.under_way = self.members
        if self.watch is not None:
            self.watch.catch_up = self.look_closely

    def may_wait(self, number: int) -> bool:
        """Return whether nothing happens to a member until its next heartbeat is answered."""
        client, group = self.clients[number], self.asking.waiting.coordinator.group
        is_there = has_its_target(client) and client.member_id in group.members
        return is_there and self.steps.are_plain(number, client)

    def wait(self, number: int, rest: Rest) -> None:
        """Let a member wait of which nothing is in the queue. Cost: O(log n)."""
        self._await(self._begin(number, rest))

    def _begin(self, number: int, rest: Rest) -> Reconciling:
        """Let a member be on its way, of which nothing is in the queue."""
        one = set_out(self.known.get(number), number, self.clients[number], rest)
        self.known[number] = self.members[number] = one
        return one

    def arrive(self, event: CoordinatorEvent, leaves: int) -> bool:
        """Let a member join whose request arrives; return whether that is all that comes of it.

        Its answer leaves then, but for the time of an append. Cost: O(log n).
        """
        before = self.asking.waiting.coordinator.group.epoch
        joined = self.joining.arrived(event, leaves + self.heartbeats.broker.append_us)
        if joined is not None:
            self._set_off(joined)
            self.asking.take_note(event, before)
        return joined is not None

    def join(self, token: int, replicated: int) -> bool:
        """Let a member that joins go its way, if its answer alone waits for an append; whether so.

        `replicated` is when its records are. Cost: O(log n).
        """
        joined = self.joining.written(token, replicated)
        if joined is not None:
            self._set_off(joined)
        return joined is not None

    def _set_off(self, joined: Joined) -> None:
        """Let a member that joins go its way to its first target."""
        one, answer = self._begin(joined.number, joined.rest), joined.answer
        one.answer, one.pending, one.report = answer, (answer.returns, None), None
        if count(answer.response.assignment or {}):
            self._expect_next(one, ASSIGNMENT, gains_at(one.client, answer.returns))
        else:
            self._expect_kept(one, sets_out_at(one.client, answer.returns))

    def _await(self, one: Reconciling) -> None:
        """Let the next heartbeat of a member be an event when it arrives."""
        one.next, one.answer, one.pending, one.report = HEARTBEAT, None, None, None
        arrives = self.heartbeats.network.arrives(one.number, one.due)
        self._start(one, arrives, ARRIVAL)

    def expect(self, number: int) -> bool:
        """Let the next heartbeat of a member at rest be an event when it arrives.

        Returns whether it is: not where the answer to the last one is on its way, or where the
        member is not plain, or stops. Cost: O(log n), O(its partitions) if it has moved.
        """
        client = self.clients[number]
        if not self.steps.are_plain(number, client):
            return False
        rest = until_next(self.heartbeats, number, client)
        if rest is None:
            return False
        self.heartbeats.leave(number)
        self.wait(number, rest)
        return True

    def happen(self, number: int) -> None:
        """Let happen what is next for a member."""
        one = self.members[number]
        what = one.next
        if what is HEARTBEAT:
            self._beat(one)
        elif what is REPORT:
            self._arrive(one)
        elif what is REVOCATION:
            self._give_up(one)
        else:
            self._have_all(one)

    def _beat(self, one: Reconciling) -> None:
        """Let the coordinator handle a heartbeat that says nothing."""
        heartbeats, client = self.heartbeats, one.client
        client.number = client.in_flight = client.number + 1
        one.due += one.every
        heartbeats.network.count(heartbeats.plain.request, 1)
        leaves = heartbeats.queue.now + heartbeats.broker.service_us
        reports_at = self.giving_up.begin(one, leaves)
        if reports_at is not None:
            self._expect_kept(one, reports_at)
            return
        response, is_written = self.asking.answer(client, is_report=False)
        # An answer to a heartbeat that said nothing comes last of its moment: see `Network.send`.
        self._answer(one, response, leaves + is_written * heartbeats.broker.append_us, ANSWER)

    def _arrive(self, one: Reconciling) -> None:
        """Let the coordinator handle a report."""
        response = None if one.kept is None else self.giving_up.report(one, one.kept)
        if one.report is None:
            self.steps.have_kept(one)
        is_written = response is not None
        if response is None:
            response, is_written = self.asking.answer(one.client, is_report=True)
        network, broker = self.heartbeats.network, self.heartbeats.broker
        # As `Network.handled`: of consumer groups nothing else that comes to it is computed.
        begins = max(self.heartbeats.queue.now, network.busy_until)
        network.busy_until = leaves = begins + broker.service_us
        self._answer(one, response, leaves + is_written * broker.append_us, None)

    def _answer(
        self, one: Reconciling, response: ConsumerHeartbeatResponse, leaves: int, rank: Rank | None
    ) -> None:
        """Let the coordinator have handled a report, or a heartbeat; see what comes of its answer.

        That leaves then. Of the member's requests it answers the last one.
        """
        network, now, client = self.heartbeats.network, self.heartbeats.queue.now, one.client
        link = network.links[one.number]
        link.arrives = now
        one.session_over = now + one.session_timeout
        returns = max(leaves + network.delays.one(link.back, leaves), link.returns)
        link.returns = returns
        one.answer = answer = Answer(client.number, response, returns, rank, client.epoch)
        one.pending, one.report = (returns, None), None
        target = response.assignment
        if response.error is not NONE or returns >= one.due:
            self._leave(one)
        elif target is None or are_same(target, client.target):
            self.steps.hear(one, answer)
            self.answers[one.number] = answer
            self._rest_or_wait(one)
        elif (revokes := revokes_at(client, target, returns)) is not None:
            self._expect_to_stop(one, target, revokes)
        else:
            self._expect_next(one, ASSIGNMENT, gains_at(client, returns))

    def _give_up(self, one: Reconciling) -> None:
        """Let a member stop to consume something; see when it has its target."""
        self.steps.give_up(one)
        client, queue = one.client, self.heartbeats.queue
        gains = gains_something(client)
        at = has_all_at(client, queue.now, gains=gains)
        if gains or at >= one.due or not self.steps.is_alone(one):
            self._expect_next(one, ASSIGNMENT, at)
        else:
            self._expect_kept(one, at)

    def _expect_to_stop(self, one: Reconciling, target: TopicPartitions, at: int) -> None:
        """See when a member reports that it has stopped to consume something at a moment.

        Where it gains nothing nobody has to do with it until its report arrives.
        """
        client, queue, network = one.client, self.heartbeats.queue, self.heartbeats.network
        limit = min(one.due, queue.now + client.config.rebalance_timeout_ms * MILLISECOND)
        reports_at = reports_kept_at(client, target, at)
        is_seen = self.steps.are_looked_at(one.number)
        if reports_at is None or is_seen or reports_at + network.longest_us >= limit:
            self._expect_next(one, REVOCATION, at)
        else:
            one.stops_at = at
            self._expect_kept(one, reports_at)

    def _expect_kept(self, one: Reconciling, at: int) -> None:
        """Let the report be an event of a member that has what it keeps at a moment.

        Nobody has to do with it before that arrives. By events where a heartbeat is due.
        """
        number, heartbeats = one.number, self.heartbeats
        one.next, one.reports_at = REPORT, at
        if at >= one.due:
            self._leave(one)
        else:
            arrives = heartbeats.network.arrives(number, at)
            heartbeats.queue.start_later(one.key, at, arrives, (number, DUE), number)

    def _have_all(self, one: Reconciling) -> None:
        """Let a member have what it set out for, and report it."""
        one.next = REPORT
        self._start(one, self.steps.have_all(one))

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
        group = self.asking.waiting.coordinator.group
        if group.epoch == group.target_epoch and self.heartbeats.plain.may_rest(one.number):
            del self.members[one.number]
            self.heartbeats.put(one.number, one.rest)
        else:
            self._await(one)

    def _start(self, one: Reconciling, at: int, rank: Rank | None = None) -> None:
        self.heartbeats.queue.start(one.key, at, (one.number, DUE), rank, one.number)

    # Whatever is not so

    def look_closely(self) -> None:
        """Do as `catch_up`; from now on it is an event when a member stops to consume something."""
        self.catch_up()
        for one in list(self.members.values()):
            if one.stops_at:
                self._expect_next(one, REVOCATION, one.stops_at)
                one.stops_at = 0

    def catch_up(self) -> None:
        """Let all members know what has happened to them until now. Cost: O(those on their way)."""
        for one in self.members.values():
            if one.pending is not None:
                self._catch_up(one)

    def _catch_up(self, one: Reconciling) -> None:
        """Let a member know what has happened to it until now."""
        self.giving_up.tell(one)
        queue = self.heartbeats.queue
        self.steps.catch_up(one, queue.now + (one.next is REPORT and queue.has_asked(one.key)))

    def release(self, number: int) -> None:
        """Let a member go on by events, if it is on its way. Cost: O(log n)."""
        one = self.members.get(number)
        if one is None:
            return
        if one.next is HEARTBEAT:
            self.heartbeats.queue.stop(one.key)
            del self.members[number]
            self.heartbeats.put(number, one.rest)
            self.heartbeats.wake(number)
        else:
            self._catch_up(one)
            self.heartbeats.queue.stop(one.key)
            self._leave(one)

    def _leave(self, one: Reconciling) -> None:
        """Let a member go on by events that is on its way."""
        del self.members[one.number]
        put_back(self.heartbeats, one)

    def take_back(self, number: int) -> None:
        """Let a member not know of an answer that is still on its way. Cost: O(1)."""
        answer = self.answers.pop(number, None)
        if answer is not None and answer.returns >= self.heartbeats.queue.now:
            unhear(self.watch, number, self.clients[number], answer)
            send_answer(self.heartbeats, number, answer)

    def close(self, at: int) -> None:
        """Count heartbeats up to the end of a run; let members know of it. Cost: O(members)."""
        for one in self.members.values():
            if one.next is HEARTBEAT:
                self.heartbeats.network.count(self.heartbeats.plain.request, one.sent(at))
            elif one.pending is not None:
                self.giving_up.tell(one)
                self.steps.catch_up(one, at + 1)
