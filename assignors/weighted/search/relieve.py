"""The sequence of steps: off whoever has most, until nobody is above its limit or nothing helps.

Each step lowers the list of all members' fill, sorted from the top, so the sequence ends. It looks
at no budget: a budget cuts it (`budget.best_within`). What a step is depends on the table alone, so
once a whole pass has found none, none is found when it is run again on its result. Chains are
looked for where the fullest member of all needs one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assignors.arrays import Bool
from assignors.weighted.search.chains import chain_for
from assignors.weighted.search.steps import WORTH, step_for
from assignors.weighted.search.table import Move, Table

IDLE_BELOW = 0.3
"""A member with less than this part of its fair weight is idle,"""

FILLED_TO = 0.5
"""and gets partitions up to this part of it at least."""

LEAST_GAIN = 1e-9
"""A move that gains less than this part of what its giver has gains nothing but by rounding."""

GIVERS = 16
"""So many of the fullest members are asked for something."""


def relief(table: Table, *, of_fullest: bool = False) -> Iterator[list[Move]]:
    """Yield steps off members above their limits, each done on the table.

    With `of_fullest` it ends where nothing helps the fullest one.

    Cost: for each step O(M + partitions of the members that it touches), more where subscriptions
    differ.
    """
    stuck: Bool = np.zeros(len(table.load), dtype=np.bool_)
    while True:
        above = np.flatnonzero((table.load > table.limit) & ~stuck)
        if not len(above):
            return
        giver = int(above[np.argmax(table.load[above] / table.wide[above])])
        step = step_for(table, giver)
        if step is None and giver == int(np.argmax(table.fill())):
            step = chain_for(table, giver)
        if step is None:
            if of_fullest:
                return
            stuck[giver] = True
            continue
        for move in step:
            table.move(move)
            stuck[[move.giver, move.receiver]] = False
        yield step


def idle(table: Table, part: float = IDLE_BELOW) -> Bool:
    """Return which members have less than a part of what is right for them. Cost: O(M)."""
    takes_any: Bool = np.any(table.takes, axis=0)
    below: Bool = takes_any[table.class_of] & (table.load < part * table.fair)
    return below


def filling(
    table: Table, begins: float = IDLE_BELOW, until: float = FILLED_TO
) -> Iterator[list[Move]]:
    """Yield steps that give idle members something, each done on the table.

    A partition comes from the fullest member that has one light enough to leave it no emptier than
    the receiver. Cost: as `relief`.
    """
    waiting = np.flatnonzero(idle(table, begins)).tolist()
    waiting.sort(key=lambda member: (table.load[member] / table.fair[member], member))
    for receiver in waiting:
        while table.load[receiver] < until * table.fair[receiver]:
            move = _to_idle(table, receiver, until)
            if move is None:
                break
            table.move(move)
            yield [move]


def _to_idle(table: Table, receiver: int, until: float) -> Move | None:
    """Return a move to an idle member: of the fullest givers the first that has enough for it.

    Else the one that has most, `None` where nobody has a partition that is worth the move.
    """
    fill = table.fill()
    rows = np.flatnonzero(table.takes[:, table.class_of[receiver]])
    shares: Bool = np.any(table.takes[rows], axis=0)
    givers = np.flatnonzero(shares[table.class_of] & (fill > fill[receiver]))
    if len(givers) > GIVERS:
        lowest = np.partition(fill[givers], len(givers) - GIVERS)[len(givers) - GIVERS]
        givers = givers[fill[givers] >= lowest]
    missing = until * float(table.fair[receiver]) - float(table.load[receiver])
    best, most = None, WORTH * float(table.fair[receiver])
    for giver in givers[np.argsort(-fill[givers], kind="stable")][:GIVERS].tolist():
        partition = _suited(table, giver, receiver)
        if partition is not None and table.weight[partition] > most:
            best, most = Move(partition, giver, receiver), float(table.weight[partition])
            if most >= missing:
                break
    return best


def _suited(table: Table, giver: int, receiver: int) -> int | None:
    """Return the partition of a giver that comes closest to what its receiver lacks."""
    held = table.held(giver)
    held = held[table.may_take(held, receiver)]
    load, fair = float(table.load[receiver]), float(table.fair[receiver])
    wide, given = float(table.wide[receiver]), float(table.load[giver])
    equal = (given * wide - load * table.wide[giver]) / (table.wide[giver] + wide)
    less_than = 2 * equal - LEAST_GAIN * given
    weights = table.weight[held]
    at = int(weights.searchsorted(min(equal, fair - load), side="right")) - 1
    room = int(table.room()[receiver])
    for place in (at, at + 1):
        if 0 <= place < len(held) and weights[place] < less_than and weights[place] <= room:
            return int(held[place])
    return None
