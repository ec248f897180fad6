"""What members on their way do themselves: taken later than it happens, each with its own time.

Most take the two changes of their way at once (`way`). Where a monitor looks at more than these, or
something has happened meanwhile, a member takes its own steps one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from assignors.simulation.timed.heartbeats import HEARTBEAT, Heartbeats
from assignors.simulation.timed.monitors.moment import consuming
from assignors.simulation.timed.monitors.watch import Watch, saw_member
from assignors.simulation.timed.network import NEVER
from assignors.simulation.timed.protocols.consumer.member import step
from assignors.simulation.timed.protocols.consumer.messages import ConsumerHeartbeat
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
    set_out_to_gain,
    take,
)

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
    consume: Callable[[int, MemberEvent, Consume], None]
    """Lets a member consume other partitions."""

    def hear(self, one: Reconciling, answer: Answer) -> None:
        """Let a member hear that nothing is new for it. Cost: O(1)."""
        client, watch = one.client, self.watch
        is_silent = not (client.must_send or client.acknowledges or answer.response.assignment)
        if is_silent and self._is_to_hear(one) and not self.is_judged:
            client.in_flight, client.epoch, one.pending = None, answer.response.epoch, None
            if watch is not None:
                watch.generations[one.number] = client.epoch
        else:
            self.go_on(one, NEVER)

    def give_up(self, one: Reconciling) -> None:
        """Let a member stop to consume what it is to give up. Cost: O(its partitions)."""
        now, answer = self.heartbeats.queue.now, one.answer
        assert answer is not None, "it has set off"
        if self._is_to_hear(one) and not self.is_judged:
            kept = give_up(one.client, answer.response)
            self._consume(one, POLLED, [Consume(kept, "revoked"), REVOKING])
            one.pending = (now + one.client.config.revoke_ms * MILLISECOND, REVOKED)
        else:
            self.go_on(one, now + 1)

    def have_all(self, one: Reconciling) -> None:
        """Let a member have what it set out for, and report it."""
        client, pending = one.client, one.pending
        has_revoked = pending is not None and pending[1] is REVOKED
        if (has_revoked or self._is_to_hear(one)) and not self.is_judged:
            number, now, network = one.number, self.heartbeats.queue.now, self.heartbeats.network
            if has_revoked:
                end_revocation(client)
                self._see(one, REVOKED, [])
            else:
                assert one.answer is not None, "it has set off"
                set_out_to_gain(client, one.answer.response)
            if take(client):
                self._consume(one, ASSIGNED, [Consume(client.owned, "assigned")])
            network.count(self.heartbeats.plain.request, 1)
            one.pending, one.due = None, now + one.every
            one.report = (client.number, None, network.arrives(number, now))
        else:
            self.go_on(one, self.heartbeats.queue.now + 1)

    def is_alone(self, one: Reconciling) -> bool:
        """Return whether nobody looks at a member that keeps what it has, until it reports that."""
        watch, pending = self.watch, one.pending
        is_seen = watch is not None and bool(watch.does[one.number].callbacks)
        return not is_seen and pending is not None and pending[1] is REVOKED

    def have_kept(self, one: Reconciling) -> None:
        """Let a member that was alone have reported what it keeps. Cost: O(its partitions)."""
        client, pending, watch = one.client, one.pending, self.watch
        assert pending is not None, "it has not reported"
        if pending[1] is REVOKED:
            end_revocation(client)
        elif self._is_to_hear(one):
            assert one.answer is not None, "it has joined"
            set_out_to_gain(client, one.answer.response)
            if watch is not None:
                watch.generations[one.number] = client.epoch
        take(client)
        self.heartbeats.network.count(self.heartbeats.plain.request, 1)
        one.pending, one.due = None, one.reports_at + one.every
        one.report = (client.number, None, self.heartbeats.queue.now)

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

    def _consume(self, one: Reconciling, event: Fired, effects: list[Effect]) -> None:
        """Let a member consume something else, as the first of the effects has it."""
        consume = effects[0]
        assert isinstance(consume, Consume)
        self.consume(one.number, event, consume)
        self._see(one, event, effects)

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
                    self.consume(number, event, effect)
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
        if watch.ledger.doubled or watch.lasting or watch.committed_by:
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
