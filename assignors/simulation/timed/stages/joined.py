"""The JoinGroups of members that go through a round together: the coordinator has them all."""

from __future__ import annotations

import numpy as np

from assignors.simulation.timed.costs.meter import Meter
from assignors.simulation.timed.protocols.classic.coordinator_state import COMPUTED
from assignors.simulation.timed.protocols.classic.group import ClassicGroup
from assignors.simulation.timed.protocols.classic.messages import Protocol
from assignors.simulation.timed.stages.at_rest import Kept
from assignors.simulation.timed.stages.stage import Stage
from assignors.simulation.timed.stages.subscriptions import Subscriptions, generation_bytes


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
    """Count those that have to join again while they consume something."""
    ledger = meter.ledger
    rows = np.fromiter(stage.rows.values(), np.int64, len(stage.rows))
    rows = rows[stage.joins.sent[rows] >= ledger.count_from]
    if not ledger.deleted:
        rows = rows[stage.members.consumes[rows]]
    touched = stage.joins.numbers[rows].tolist()
    if ledger.deleted:
        names = [(number, kept.members[number].config.name) for number in touched]
        touched = [number for number, name in names if ledger.consumed.get(name)]
    meter.touch_all(touched, group.generation)
