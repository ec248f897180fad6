"""One step of the search: what takes weight off a member that carries too much.

In this order: one partition that brings the member below its limit, the lightest that does; two
that change places; a part of what is too much; then whatever lowers the higher of two members;
then a partition to a member that hands something on itself. Receivers stay below their limits,
or at least below what the member had, so each step lowers the sorted list of all members' fill.
"""

from __future__ import annotations

import numpy as np

from assignors.arrays import Bool, Int64
from assignors.weighted.search.table import Float64, Move, Table

SPREAD = 6
"""Among so many of the emptiest receivers two partitions are looked for that change places."""

WORTH = 1e-4
"""A step that lowers a member's fill by a smaller part than this is not worth it."""


def step_for(table: Table, giver: int) -> list[Move] | None:
    """Return moves that belong together and relieve a member, `None` where there are none.

    Cost: O(M x rows of its partitions + SPREAD x partitions of a member), where a single move is
    enough.
    """
    held = table.held(giver)
    if not len(held):
        return None
    return _to_limit(table, giver, held) or _lower(table, giver, held)


def receiver_of(table: Table, partition: int, room: Int64) -> int:
    """Return who should get a partition among those with room: in its rack first, then emptiest."""
    weight = int(table.weight[partition])
    members = table.takers(int(table.row_of[partition]))
    members = members[room[members] >= weight]
    if table.places is not None:
        near = members[table.places.local(partition, members)]
        members = near if len(near) else members
    return int(members[np.argmin((table.load[members] + weight) / table.wide[members])])


def room_for(table: Table, partitions: Int64, room: Int64) -> Int64:
    """Return the largest room that any taker of each partition has. Cost: O(M) a row."""
    if len(table.takes) == 1:
        most = int(room[table.takers(0)].max(initial=-1))
        return np.full(len(partitions), most, dtype=np.int64)
    rows, place = np.unique(table.row_of[partitions], return_inverse=True)
    most_of = [int(room[table.takers(row)].max(initial=-1)) for row in rows.tolist()]
    return np.array(most_of, dtype=np.int64)[place]


def _to_limit(table: Table, giver: int, held: Int64) -> list[Move] | None:
    """Return moves to members that stay below their limits."""
    excess = int(table.load[giver] - table.limit[giver])
    weights = table.weight[held]
    room = table.room()
    room[giver] = -1
    fits = np.flatnonzero(weights <= room_for(table, held, room))
    enough = fits[weights[fits] >= excess]
    if len(enough):
        cheapest = enough[np.argmin(table.cost[held[enough]])]
        return [_single(table, giver, int(held[cheapest]), room)]
    heaviest = int(fits[-1]) if len(fits) else None
    if heaviest is not None and 2 * int(weights[heaviest]) >= excess:
        return [_single(table, giver, int(held[heaviest]), room)]
    exchange = _exchange_to_limit(table, giver, held, room)
    if exchange is not None:
        return exchange
    if heaviest is not None and weights[heaviest] >= WORTH * float(table.load[giver]):
        return [_single(table, giver, int(held[heaviest]), room)]
    return None


def _single(table: Table, giver: int, partition: int, room: Int64) -> Move:
    return Move(partition, giver, receiver_of(table, partition, room))


def _emptiest(table: Table, giver: int, held: Int64) -> Int64:
    """Return the emptiest members that may take something of what a member has."""
    rows = np.unique(table.row_of[held])
    shared: Bool = np.any(table.takes[rows], axis=0)
    may = shared[table.class_of]
    may[giver] = False
    members = np.flatnonzero(may)
    if len(members) <= SPREAD:
        return members
    fill = table.load[members] / table.wide[members]
    nearest = np.argpartition(fill, SPREAD)
    highest = fill[nearest[SPREAD]]
    few = np.flatnonzero(fill <= highest)
    return members[few[np.argsort(fill[few], kind="stable")][:SPREAD]]


def _exchange_to_limit(table: Table, giver: int, held: Int64, room: Int64) -> list[Move] | None:
    """Return two partitions that change places, after which both members are below their limits.

    Of those with the least difference that is enough.
    """
    excess = int(table.load[giver] - table.limit[giver])
    for receiver in _emptiest(table, giver, held).tolist():
        if room[receiver] < excess:
            continue
        mine = held[table.may_take(held, receiver)]
        theirs = _theirs(table, giver, receiver)
        if not len(theirs) or not len(mine):
            continue
        ours, others = table.weight[mine], table.weight[theirs]
        at = others.searchsorted(ours - excess, side="right") - 1
        difference = np.where(at >= 0, ours - others[at], np.iinfo(np.int64).max)
        best = int(np.argmin(difference))
        if difference[best] <= room[receiver]:
            return [
                Move(int(mine[best]), giver, receiver),
                Move(int(theirs[at[best]]), receiver, giver),
            ]
    return None


def _theirs(table: Table, giver: int, receiver: int) -> Int64:
    """Return what a receiver could give back."""
    theirs = table.held(receiver)
    return theirs[table.may_take(theirs, giver)]


# Where no limit can be kept: the higher of two members becomes lower


def _lower(table: Table, giver: int, held: Int64) -> list[Move] | None:
    """Return one or two moves after which the higher of two members is lower than it was."""
    top = float(table.load[giver] / table.wide[giver])
    goal = top * (1 - WORTH)
    largest = table.largest_use()
    best: tuple[float, list[Move]] | None = None
    for receiver in _emptiest(table, giver, held).tolist():
        mine = held[table.may_take(held, receiver)]
        if not len(mine):
            continue
        found = [_one(table, mine, giver, receiver, largest)]
        theirs = _theirs(table, giver, receiver)
        if len(theirs):
            found.append(_two(table, mine, theirs, (giver, receiver), largest))
        for level, moves in filter(None, found):
            # Two moves have to gain twice as much as one.
            gain = (top - level) / len(moves)
            if level <= goal and (best is None or gain > (top - best[0]) / len(best[1])):
                best = level, moves
    return None if best is None else best[1]


def _higher(table: Table, giver: int, receiver: int, shifted: Int64, largest: float) -> Float64:
    """Return the fill of the higher of both after weight has been shifted, infinite if too high."""
    left = (table.load[giver] - shifted) / table.wide[giver]
    taken = table.load[receiver] + shifted
    higher: Float64 = np.maximum(left, taken / table.wide[receiver])
    refused: Bool = (shifted <= 0) | (taken / table.capacity[receiver] > largest)
    higher[refused] = np.inf
    return higher


def _one(
    table: Table, mine: Int64, giver: int, receiver: int, largest: float
) -> tuple[float, list[Move]] | None:
    higher = _higher(table, giver, receiver, table.weight[mine], largest)
    best = int(np.argmin(higher))
    return float(higher[best]), [Move(int(mine[best]), giver, receiver)]


def _two(
    table: Table, mine: Int64, theirs: Int64, pair: tuple[int, int], largest: float
) -> tuple[float, list[Move]] | None:
    giver, receiver = pair
    wide = table.wide[giver] + table.wide[receiver]
    wanted = (
        float(table.load[giver]) * table.wide[receiver]
        - float(table.load[receiver]) * table.wide[giver]
    ) / wide
    ours, others = table.weight[mine], table.weight[theirs]
    at = others.searchsorted(ours - wanted)
    best: tuple[float, list[Move]] | None = None
    for near in (at - 1, at):
        place = np.clip(near, 0, len(others) - 1)
        higher = _higher(table, giver, receiver, ours - others[place], largest)
        one = int(np.argmin(higher))
        if best is None or higher[one] < best[0]:
            back = Move(int(theirs[place[one]]), receiver, giver)
            best = float(higher[one]), [Move(int(mine[one]), giver, receiver), back]
    return best
