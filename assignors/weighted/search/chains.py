"""Chains: a partition goes to a member that has no room for it, and hands others on.

This is what it takes where subscriptions differ and the receivers of a member are full, and where
a heavy partition belongs to a faster member that has many light ones. Each try is played on the
table, and taken back if somebody is left with too much.
"""

from __future__ import annotations

import numpy as np

from assignors.arrays import Int64
from assignors.weighted.search.steps import WORTH, receiver_of, room_for
from assignors.weighted.search.table import Move, Table

DEPTH = 4
"""How many members one after the other hand something on."""

PARTITIONS = 4
"""So many of a member's partitions are tried,"""

RECEIVERS = 4
"""and so many receivers of each."""

SHED = 12
"""A receiver hands on at most so many partitions for the one that it gets."""


def chain_for(table: Table, giver: int) -> list[Move] | None:
    """Return moves after which all members that they touch have less than the giver had.

    `None` where none are found. The table is as it was. Cost: at most
    (PARTITIONS x RECEIVERS) ** DEPTH tries, each O(SHED x M).
    """
    top = float(table.load[giver] / table.wide[giver])
    largest = table.largest_use()
    done: list[Move] = []
    tries = [PARTITIONS * RECEIVERS * DEPTH]
    goal = top * (1 - WORTH)
    found = _hand_on(table, giver, goal, largest, done, {giver}, tries, DEPTH)
    for partition, sender, receiver in reversed(done):
        table.move(Move(partition, receiver, sender))
    return done if found else None


def _hand_on(  # noqa: PLR0913 - the state of one search
    table: Table,
    giver: int,
    goal: float,
    largest: float,
    done: list[Move],
    seen: set[int],
    tries: list[int],
    depth: int,
) -> bool:
    """Bring a member below the goal through members that hand something on; else undo."""
    for partition in _candidates(table, giver, goal):
        for receiver in _receivers(table, partition, goal, largest, seen):
            if not tries[0]:
                return False
            tries[0] -= 1
            mark = len(done)
            _do(table, done, Move(partition, giver, receiver))
            if (
                _shed(table, receiver, goal, largest, done, partition)
                or (
                    depth > 1
                    and _hand_on(
                        table, receiver, goal, largest, done, seen | {receiver}, tries, depth - 1
                    )
                )
            ) and _is_below(table, giver, goal, largest):
                return True
            while len(done) > mark:
                undone, sender, taker = done.pop()
                table.move(Move(undone, taker, sender))
    return False


def _is_below(table: Table, member: int, goal: float, largest: float) -> bool:
    """Return whether a member is below the goal, and below the largest use there was."""
    load = table.load[member]
    return bool(load / table.wide[member] <= goal and load / table.capacity[member] <= largest)


def _candidates(table: Table, giver: int, goal: float) -> list[int]:
    """Return the lightest partitions without which a member is below the goal, else the heaviest."""
    held = table.held(giver)
    weights = table.weight[held]
    needed = float(table.load[giver]) - goal * table.wide[giver]
    first = int(np.searchsorted(weights, needed))
    enough = held[first : first + PARTITIONS // 2]
    heaviest = held[::-1][: PARTITIONS - len(enough)]
    return list(dict.fromkeys([*enough.tolist(), *heaviest.tolist()]))


def _receivers(
    table: Table, partition: int, goal: float, largest: float, seen: set[int]
) -> list[int]:
    """Return the members that a partition alone leaves below the goal, emptiest with it first."""
    weight = int(table.weight[partition])
    members = table.takers(int(table.row_of[partition]))
    alone = (weight / table.wide[members] <= goal) & (weight / table.capacity[members] <= largest)
    members = members[alone]
    fill = (table.load[members] + weight) / table.wide[members]
    order = members[np.argsort(fill, kind="stable")[: RECEIVERS + len(seen)]]
    return [one for one in order.tolist() if one not in seen][:RECEIVERS]


def _shed(
    table: Table, member: int, goal: float, largest: float, done: list[Move], kept: int
) -> bool:
    """Let a member hand on single partitions, but not `kept`, until it is below the goal."""
    for _ in range(SHED):
        if _is_below(table, member, goal, largest):
            return True
        move = _single_below(table, member, goal, kept)
        if move is None:
            return False
        _do(table, done, move)
    return _is_below(table, member, goal, largest)


def _single_below(table: Table, member: int, goal: float, kept: int) -> Move | None:
    """Return one partition and somebody who has room for it."""
    held: Int64 = table.held(member)
    held = held[held != kept]
    room = table.room()
    room[member] = -1
    weights = table.weight[held]
    fits = np.flatnonzero(weights <= room_for(table, held, room))
    if not len(fits):
        return None
    needed = float(table.load[member]) - goal * table.wide[member]
    enough = fits[weights[fits] >= needed]
    partition = int(held[enough[0] if len(enough) else fits[-1]])
    return Move(partition, member, receiver_of(table, partition, room))


def _do(table: Table, done: list[Move], move: Move) -> None:
    table.move(move)
    done.append(move)
