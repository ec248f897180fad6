"""How members begin a round that they go through together, until the coordinator has them all.

Cooperative members that have revoked something join again by events. Once such a JoinGroup has
reached the coordinator its member is where the others are: it waits at the first barrier, and goes
on with them (`Entering`). Nothing of it changes: it has joined. Until the barrier opens it can be
put back as it was, and after that it is one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from assignors.simulation.timed.costs.meter import Meter
from assignors.simulation.timed.heartbeats import Heartbeats
from assignors.simulation.timed.ledger import Ledger
from assignors.simulation.timed.plain_heartbeats import Rest
from assignors.simulation.timed.protocols.classic.barriers import JOIN
from assignors.simulation.timed.protocols.classic.coordinator_state import COMPUTED
from assignors.simulation.timed.protocols.classic.group import ClassicGroup
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.protocols.classic.messages import JoinGroup, Protocol
from assignors.simulation.timed.protocols.classic.states import MemberState
from assignors.simulation.timed.protocols.effects import COORDINATOR, Arrived, CoordinatorEvent
from assignors.simulation.timed.stages.at_rest import Kept
from assignors.simulation.timed.stages.flight import Flight
from assignors.simulation.timed.stages.joins import Joins, is_free, joins_after
from assignors.simulation.timed.stages.plain import PlainMembers
from assignors.simulation.timed.stages.stage import Stage, Step
from assignors.simulation.timed.stages.stage_members import StageMembers
from assignors.simulation.timed.stages.subscriptions import Subscriptions, generation_bytes

JOIN_OVER = (COORDINATOR, JOIN)


@dataclass(slots=True, kw_only=True)
class Entering:
    """Those that wait at the first barrier since they have joined by events."""

    heartbeats: Heartbeats
    members: Sequence[ClassicMember]
    plain: PlainMembers
    waiting: dict[int, int] = field(default_factory=dict)
    """Member number -> the number of its JoinGroup."""
    _last: tuple[int, str] | None = None
    """The number of the JoinGroup that the coordinator handles now, and the id in it."""

    def saw(self, event: CoordinatorEvent) -> None:
        """Take note of what the coordinator is about to handle."""
        self._last = None
        if isinstance(event, Arrived) and isinstance(event.request, JoinGroup):
            self._last = event.number, event.request.member_id

    def enter(self, group: ClassicGroup) -> None:
        """Let the member wait with others whose JoinGroup has just been handled, if it may."""
        if self._last is None:
            return
        request, member_id = self._last
        known, waiting = (
            group.members.get(member_id),
            self.heartbeats.network.in_flight.get(request),
        )
        if waiting is None or known is None or known.waiting_join != request or known.is_new:
            return
        number, own_number, life, deadline, _ = waiting
        heartbeats, member = self.heartbeats, self.members[number]
        link = heartbeats.network.links[number]
        over = heartbeats.queue.due(JOIN_OVER)
        if (
            self.plain.are_plain[number]
            and member.is_cooperative
            and member.state is MemberState.JOINING
            and (member.awaited, link.life, link.unanswered) == (own_number, life, 1)
            and heartbeats.network.is_well(number)
            and link.trouble is None
            and is_free(member)
            and not (member.is_stopping or member.config.wake_ms)
            and over is not None
            and over < deadline
        ):
            self.waiting[number], known.waiting_join = request, COMPUTED
            _, every, timeout = heartbeats.plain.timing(number)
            heartbeats.put(number, Rest(over, every, over, timeout, member_id))

    def put_back(self, numbers: Sequence[int], group: ClassicGroup) -> None:
        """Let members wait by events again, as the barrier has not opened. Cost: O(those)."""
        for number in numbers:
            request, rest = self.waiting.pop(number), self.heartbeats.resting.pop(number)
            del self.heartbeats.by_id[rest.member_id]
            known = group.members.get(rest.member_id)
            if known is not None and known.waiting_join == COMPUTED:
                known.waiting_join = request

    def merge(self, stage: Stage, group: ClassicGroup, ledger: Ledger) -> None:
        """Let them be rows of a stage like others: the barrier has opened.

        Cost: O(members of the stage).
        """
        if not self.waiting:
            return
        network, queue, rows = self.heartbeats.network, self.heartbeats.queue, []
        for number, request in self.waiting.items():
            del network.in_flight[request]
            network.no_limit(request)
            link, rest = network.links[number], self.heartbeats.resting[number]
            link.unanswered = 0
            queue.stop((COORDINATOR, ("session", rest.member_id)))
            rows.append((number, rest.every, rest.session_timeout, link.arrives, link.returns))
        numbers, every, timeout, arrives, returned = np.array(rows, dtype=np.int64).T
        fresh = Joins(
            numbers=numbers,
            every=every,
            session_timeout=timeout,
            heartbeats=np.zeros_like(numbers),
            session_over=arrives,
            gives_up=arrives,
            sent=arrives,
            arrives=arrives,
            returned=returned,
        )
        listed = list(self.waiting)
        stage.rows.update(zip(listed, range(len(stage.joins.numbers), 1 << 30), strict=False))
        stage.joins = stage.joins.and_also(fresh)
        joined = StageMembers.of([self.members[n] for n in listed], group.members, ledger.consumed)
        stage.members = stage.members.and_also(joined)
        stage.gives_up = np.concatenate([stage.gives_up, np.zeros(len(listed), dtype=np.bool_)])
        stage.entered, self.waiting = frozenset(listed), {}


def answer_joins(
    stage: Stage, kept: Kept, entering: Entering, group: ClassicGroup, ledger: Ledger
) -> None:
    """Answer the JoinGroups, to which they send SyncGroups: the first barrier has opened.

    Cost: O(n log n) for n members.
    """
    network, queue = kept.heartbeats.network, kept.heartbeats.queue
    if len(stage.rows) < len(stage.joins.numbers):
        rows = np.fromiter(stage.rows.values(), np.int64, len(stage.rows))
        stage.joins, stage.gives_up = stage.joins.chosen(rows), stage.gives_up[rows]
        stage.members = stage.members.chosen(rows)
        stage.rows = dict(zip(stage.rows, range(len(rows)), strict=True))
    joins = stage.joins
    network.count("Heartbeat", int(joins.heartbeats.sum()))
    network.count("JoinGroup", len(stage.rows))
    for number in stage.led:
        if number in stage.rows:
            queue.stop((number, ("follow-up",)))
    kept.begin(joins.numbers)
    entering.merge(stage, group, ledger)
    joins, numbers = stage.joins, stage.joins.numbers
    done = np.full(len(numbers), max(queue.now, network.busy_until))
    stage.answered = np.maximum(network.delays.come_back(numbers, done), joins.returned)
    stage.synced = np.maximum(network.delays.arrive(numbers, stage.answered), joins.arrives)
    stage.step, stage.began = Step.SYNCING, queue.moment
    stage.flight = Flight.of(numbers, stage.synced, stage.answered, stage.flight.service_us)


def stage_of(kept: Kept, group: ClassicGroup, ledger: Ledger, least: int) -> Stage | None:
    """Return the plain members at rest, and when they join; `None` for fewer than `least`.

    Cost: O(members at rest).
    """
    resting, others = kept.resting()
    numbers, plain = resting.numbers, kept.plain
    if len(numbers) < least:
        return None
    members = kept.stage_members(others, group.members, ledger.consumed)
    are_eager = plain.are_eager[numbers]
    if ledger.deleted and are_eager.any():
        return None  # they own what they do not consume, and give that up as well
    gives_up = are_eager & members.consumes
    joins = joins_after(
        kept.heartbeats,
        resting,
        plain.states(numbers, kept.skipped),
        plain.poll_limits[numbers],
        plain.revoke_us[numbers] * gives_up,
    )
    regular = np.flatnonzero(joins.are_regular)
    if len(regular) < least:
        return None
    heartbeats = kept.heartbeats
    if len(regular) < len(numbers):
        joins, members = joins.chosen(regular), members.chosen(regular)
        gives_up = gives_up[regular]
    service_us = heartbeats.broker.service_us
    return Stage(
        step=Step.JOINING,
        began=heartbeats.queue.moment,
        rows=dict(zip(joins.numbers.tolist(), range(len(joins.numbers)), strict=True)),
        joins=joins,
        flight=Flight.of(joins.numbers, joins.arrives, joins.sent, service_us),
        members=members,
        gives_up=gives_up,
        led=[number for number in others if kept.members[number].is_leader],
    )


def let_join(
    stage: Stage, kept: Kept, subscriptions: Subscriptions, group: ClassicGroup, meter: Meter
) -> None:
    """Let the coordinator have everybody's JoinGroup. Cost: O(members of the stage)."""
    known, parts = stage.members.known, stage.members.parts
    # Those whose bytes are known have all been in the last round.
    newest = generation_bytes(-1 if kept.last is None else kept.last.round.generation)
    for number, row in stage.rows.items():
        own, each = parts[row], known[row]
        if own is None:
            member, last = kept.members[number], kept.rounds.get(number)
            generation = None if last is None else last.generation
            each.protocols = subscriptions.of(number, member, generation)
            parts[row] = subscriptions.only_parts(number, member)
        else:
            each.protocols = (Protocol(each.protocols[0].name, newest.join(own)),)
        each.waiting_join = COMPUTED
    group.joins_waiting += len(stage.rows)
    _touch(stage, kept, group, meter)


def _touch(stage: Stage, kept: Kept, group: ClassicGroup, meter: Meter) -> None:
    """Count those that have to join again while they consume something, or give it up for that."""
    ledger, joins = meter.ledger, stage.joins
    rows = np.fromiter(stage.rows.values(), np.int64, len(stage.rows))
    at = joins.sent
    if stage.gives_up.any():
        giving = rows[stage.gives_up[rows]]
        kept.consuming.give_up(joins.numbers[giving].tolist(), joins.gives_up[giving].tolist())
        at = np.where(stage.gives_up, joins.gives_up, at)
    rows = rows[at[rows] >= ledger.count_from]
    if not ledger.deleted:
        rows = rows[stage.members.consumes[rows]]
    touched = joins.numbers[rows].tolist()
    if ledger.deleted:
        names = [(number, kept.members[number].config.name) for number in touched]
        touched = [number for number, name in names if ledger.consumed.get(name)]
    meter.touch_all(touched, group.generation)
