"""What members on their way do themselves: taken later than it happens, each with its own time.

Most take the two changes of their way at once (`way`). Where a monitor looks at more than these, or
something has happened meanwhile, a member takes its own steps one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from assignors.simulation.timed.heartbeats import HEARTBEAT, Heartbeats
from assignors.simulation.timed.monitors.moment import consuming
from assignors.simulation.timed.monitors.watch import Watch, saw_member
from assignors.simulation.timed.network import NEVER
from assignors.simulation.timed.protocols.consumer.assignment.unwritten import Kept
from assignors.simulation.timed.protocols.consumer.group import partitions_of
from assignors.simulation.timed.protocols.consumer.member import step
from assignors.simulation.timed.protocols.consumer.member_state import ConsumerClient
from assignors.simulation.timed.protocols.consumer.messages import ConsumerHeartbeat
from assignors.simulation.timed.protocols.consumer.records import EpochsByPartition
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Answered,
    Consume,
    Effect,
    Fired,
    MemberEvent,
    Schedule,
    Send,
)
from assignors.simulation.timed.stages.reconciling.member import Answer, Reconciling
from assignors.simulation.timed.stages.reconciling.way import (
    end_revocation,
    give_up,
    give_up_and_report,
    is_plain,
    set_out_to_gain,
    take,
)
from wire import TopicPartitions

BEAT = HEARTBEAT.key
POLLED, REVOKED, ASSIGNED = (Fired((name,), 0) for name in ("poll", "revoked", "assigned"))
"""What leads to another consumption: a poll, and the ends of callbacks."""
REVOKING = Schedule(REVOKED.key, 0)
"""The callback for what is given up begins."""


@dataclass(slots=True, kw_only=True)
class MemberSteps:
    """What members do, and who has to know of it."""

    heartbeats: Heartbeats
    watch: Watch | None
    consume: Callable[[int, int, Consume], None]
    """(member, moment, what) -> nothing: lets a member consume other partitions from then on."""
    end: Callable[[int, int, EpochsByPartition, TopicPartitions], None]
    """(member, moment, what, the rest) -> nothing: lets a member end to consume something then."""
    plain: dict[int, bool] = field(default_factory=dict)
    """Member number -> whether it `is_plain`, of those that were asked for."""

    def are_plain(self, number: int, client: ConsumerClient) -> bool:
        """Return whether what a member does takes as long as its settings say."""
        known = self.plain.get(number)
        if known is None:
            known = self.plain[number] = is_plain(client)
        return known

    def hear(self, one: Reconciling, answer: Answer) -> None:
        """Let a member hear that nothing is new for it, as the next that it does. Cost: O(1)."""
        client, watch = one.client, self.watch
        if not (
            client.must_send
            or client.acknowledges
            or answer.response.assignment
            or client.target_number != client.confirmed_number
            or self.is_judged
        ):
            client.in_flight, client.epoch, one.pending = None, answer.response.epoch, None
            if watch is not None:
                watch.generations[one.number] = client.epoch
        else:
            self.go_on(one, NEVER)

    def give_up(self, one: Reconciling) -> None:
        """Let a member stop to consume what it is to give up. Cost: O(its partitions)."""
        now = self.heartbeats.queue.now
        if self._is_to_hear(one) and not self.is_judged:
            self._stop(one, now)
            self._see(one, POLLED, [Consume(one.client.owned, "revoked"), REVOKING])
        else:
            self.go_on(one, now + 1)

    def _stop(self, one: Reconciling, at: int) -> None:
        """Let a member hear of its target, and stop to consume what that takes from it, at `at`."""
        assert one.answer is not None, "it has set off"
        kept = give_up(one.client, one.answer.response)
        one.pending, one.stops_at = None, 0  # it is as it is then, whoever looks at it
        self.consume(one.number, at, Consume(kept, "revoked"))
        one.pending = (at + one.client.config.revoke_ms * MILLISECOND, REVOKED)

    def have_all(self, one: Reconciling) -> int:
        """Let a member have what it set out for, and report it; return when that arrives."""
        client, pending = one.client, one.pending
        has_revoked = pending is not None and pending[1] is REVOKED
        if (has_revoked or self._is_to_hear(one)) and not self.is_judged:
            number, now, network = one.number, self.heartbeats.queue.now, self.heartbeats.network
            if has_revoked:
                end_revocation(client)
            else:
                assert one.answer is not None, "it has set off"
                set_out_to_gain(client, one.answer.response)
            one.pending = None
            if has_revoked:
                self._see(one, REVOKED, [])
            if take(client):
                self._consume(one, now, ASSIGNED, [Consume(client.owned, "assigned")])
            network.count(self.heartbeats.plain.request, 1)
            arrives = network.arrives(number, now)
            one.due, one.report = now + one.every, (client.number, None, arrives)
        else:
            self.go_on(one, self.heartbeats.queue.now + 1)
        assert one.report is not None, "it reports what it has"
        return one.report[2]

    def _have_stopped(self, one: Reconciling) -> None:
        """Let a member have stopped to consume what it gives up, with nobody who looked at it.

        What it commits meanwhile is not kept: nothing was wrong then.
        """
        self._stop(one, one.stops_at)
        if self.watch is not None:
            self.watch.does[one.number] = consuming(one.client.owned)

    def is_alone(self, one: Reconciling) -> bool:
        """Return whether nobody looks at a member that keeps what it has, until it reports that."""
        pending = one.pending
        return not self.is_seen(one.number) and pending is not None and pending[1] is REVOKED

    def are_looked_at(self, number: int) -> bool:
        """Return whether monitors look at every step of a member, or at its next ones."""
        return self.is_judged or self.is_seen(number)

    def is_seen(self, number: int) -> bool:
        """Return whether monitors look at a member's next steps: a callback of it runs."""
        watch = self.watch
        return watch is not None and bool(watch.does[number].callbacks)

    def have_released(self, one: Reconciling, kept: Kept) -> None:
        """Let a member that nobody looked at have given up what it had to, and reported it.

        Cost: O(what it gives up).
        """
        client, number, owned = one.client, one.number, partitions_of(kept.assigned)
        give_up_and_report(client, owned)
        self.end(number, one.stops_at, kept.revoking, owned)
        if self.watch is not None:
            self.watch.does[number] = consuming(owned)
        heartbeats = self.heartbeats
        heartbeats.network.count(heartbeats.plain.request, 1)
        one.stops_at, one.pending, one.due = 0, None, one.reports_at + one.every
        one.report = (client.number, None, heartbeats.queue.now)

    def have_kept(self, one: Reconciling) -> None:
        """Let a member that was alone have reported what it keeps. Cost: O(its partitions)."""
        client, pending, watch, now = one.client, one.pending, self.watch, self.heartbeats.queue.now
        assert pending is not None, "it has not reported"
        if one.stops_at and pending[1] is None:
            self._have_stopped(one)
            pending = one.pending
            assert pending is not None, "it has stopped"
        if pending[1] is REVOKED:
            end_revocation(client)
            one.pending = None
            if self.is_seen(one.number):
                self._see(one, REVOKED, [])
        elif self._is_to_hear(one):
            assert one.answer is not None, "it has joined"
            set_out_to_gain(client, one.answer.response)
            if watch is not None:
                watch.generations[one.number] = client.epoch
        else:
            self.catch_up(one, now + 1)
            return
        take(client)
        self.heartbeats.network.count(self.heartbeats.plain.request, 1)
        one.pending, one.due = None, one.reports_at + one.every
        one.report = (client.number, None, now)

    @property
    def is_judged(self) -> bool:
        """Whether monitors look at every step of a member."""
        watch = self.watch
        return watch is not None and bool(watch.ledger.doubled or watch.lasting)

    def _is_to_hear(self, one: Reconciling) -> bool:
        """Return whether a member has still to hear of the target that it is to set out for."""
        pending, client = one.pending, one.client
        is_there = client.target_number == client.confirmed_number
        return is_there and pending is not None and pending[1] is None

    def _consume(self, one: Reconciling, at: int, event: Fired, effects: list[Effect]) -> None:
        """Let a member consume something else, as the first of the effects has it."""
        consume = effects[0]
        assert isinstance(consume, Consume)
        self.consume(one.number, at, consume)
        self._see(one, event, effects)

    def catch_up(self, one: Reconciling, before: int) -> None:
        """Let a member take all steps due before a moment, but for those that are events."""
        if one.stops_at and one.stops_at < before and one.pending is not None:
            if one.pending[1] is None:
                self._have_stopped(one)
            else:
                self.go_on(one, one.stops_at + 1)
                one.stops_at = 0
        self.go_on(one, before)

    def go_on(self, one: Reconciling, before: int) -> None:
        """Let a member take the steps due before a moment, up to one that changes what it has."""
        number, client = one.number, one.client
        has_other = False
        while one.pending is not None and one.pending[0] < before and not has_other:
            (at, what), one.pending = one.pending, None
            event = _heard(one) if what is None else what
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
                    self.consume(number, at, effect)
                elif isinstance(effect, Send):
                    self._report(one, at, effect)
            self._see(one, event, effects)

    def _see(self, one: Reconciling, event: MemberEvent, effects: list[Effect]) -> None:
        """Let monitors know what a member does; nobody else has to do with what it gives up.

        So that is not kept as what it commits, unless somebody commits something.
        """
        watch, number = self.watch, one.number
        if watch is None:
            return
        if self.is_judged or watch.committed_by or watch.does[number].callbacks:
            queue = self.heartbeats.queue
            saw_member(watch, (queue.count, queue.now), number, event, effects)
        elif any(type(each) is Consume for each in effects):
            watch.does[number] = consuming(one.client.owned)
        watch.generations[number] = one.client.epoch

    def _report(self, one: Reconciling, at: int, sent: Send) -> None:
        """Send what a member has come to."""
        assert isinstance(sent.request, ConsumerHeartbeat)
        network = self.heartbeats.network
        network.count(self.heartbeats.plain.request, 1)
        one.report = (sent.number, sent.request, network.arrives(one.number, at))


def _heard(one: Reconciling) -> Answered:
    """Return the event in which a member hears of the answer that set it off."""
    assert one.answer is not None, "it has set off"
    return Answered(one.answer.own_number, one.answer.response)
