"""How members begin a round that they go through together, until the coordinator has them all."""

from __future__ import annotations

import numpy as np

from assignors.simulation.timed.costs.meter import Meter
from assignors.simulation.timed.ledger import Ledger
from assignors.simulation.timed.protocols.classic.coordinator_state import COMPUTED
from assignors.simulation.timed.protocols.classic.group import ClassicGroup
from assignors.simulation.timed.protocols.classic.messages import Protocol
from assignors.simulation.timed.stages.at_rest import Kept
from assignors.simulation.timed.stages.flight import Flight
from assignors.simulation.timed.stages.joins import joins_after
from assignors.simulation.timed.stages.stage import Stage, Step
from assignors.simulation.timed.stages.subscriptions import Subscriptions, generation_bytes


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
    joins, heartbeats = joins.chosen(regular), kept.heartbeats
    service_us = heartbeats.broker.service_us
    return Stage(
        step=Step.JOINING,
        began=heartbeats.queue.moment,
        rows=dict(zip(joins.numbers.tolist(), range(len(joins.numbers)), strict=True)),
        joins=joins,
        flight=Flight.of(joins.numbers, joins.arrives, joins.sent, service_us),
        members=members.chosen(regular),
        gives_up=gives_up[regular],
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
    giving = rows[stage.gives_up[rows]]
    kept.consuming.give_up(joins.numbers[giving].tolist(), joins.gives_up[giving].tolist())
    at = np.where(stage.gives_up, joins.gives_up, joins.sent)
    rows = rows[at[rows] >= ledger.count_from]
    if not ledger.deleted:
        rows = rows[stage.members.consumes[rows]]
    touched = joins.numbers[rows].tolist()
    if ledger.deleted:
        names = [(number, kept.members[number].config.name) for number in touched]
        touched = [number for number, name in names if ledger.consumed.get(name)]
    meter.touch_all(touched, group.generation)
