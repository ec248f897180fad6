"""Chains: a partition goes to a member that has no room for it, and hands others on.

This is what it takes where subscriptions differ and the receivers of a member are full, and where
a heavy partition belongs to a faster member that has many light ones. Each try is played on the
table, and taken back if somebody is left with too much.
"""

from __future__ import annotations

from dataclasses import dataclass, field

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

    `None` where none are found. The table is as it was. Cost: at most PARTITIONS x RECEIVERS x
    DEPTH tries, each O(SHED x M).
    """
    chain = _Chain(
        table=table,
        goal=float(table.load[giver] / table.wide[giver]) * (1 - WORTH),
        largest=table.largest_use(),
    )
    found = chain.hand_on(giver, frozenset([giver]), DEPTH)
    moves = list(chain.done)
    chain.undo(0)
    return moves if found else None


@dataclass(slots=True, kw_only=True)
class _Chain:
    """One search for a chain."""

    table: Table
    goal: float
    """The fill that nobody may be above in the end."""
    largest: float
    """The largest use there was, which nobody may be above either."""
    done: list[Move] = field(default_factory=list)
    tries: int = PARTITIONS * RECEIVERS * DEPTH

    def hand_on(self, giver: int, seen: frozenset[int], depth: int) -> bool:
        """Bring a member below the goal through members that hand something on; else undo."""
        for partition in self._candidates(giver):
            for receiver in self._receivers(partition, seen):
                if not self.tries:
                    return False
                self.tries -= 1
                mark = len(self.done)
                self._do(Move(partition, giver, receiver))
                if self._passes_on(receiver, partition, seen, depth) and self._is_below(giver):
                    return True
                self.undo(mark)
        return False

    def undo(self, mark: int) -> None:
        """Take back all moves but the first few."""
        while len(self.done) > mark:
            partition, giver, receiver = self.done.pop()
            self.table.move(Move(partition, receiver, giver))

    def _do(self, move: Move) -> None:
        self.table.move(move)
        self.done.append(move)

    def _passes_on(self, member: int, kept: int, seen: frozenset[int], depth: int) -> bool:
        """Bring a receiver below the goal: single partitions of it, else through others."""
        if self._shed(member, kept):
            return True
        return depth > 1 and self.hand_on(member, seen | {member}, depth - 1)

    def _is_below(self, member: int) -> bool:
        load, table = self.table.load[member], self.table
        fill, use = load / table.wide[member], load / table.capacity[member]
        return bool(fill <= self.goal and use <= self.largest)

    def _candidates(self, giver: int) -> list[int]:
        """Return the lightest partitions that are enough for the goal, and the heaviest."""
        table = self.table
        held = table.held(giver)
        needed = float(table.load[giver]) - self.goal * table.wide[giver]
        first = int(table.weight[held].searchsorted(needed))
        enough = held[first : first + PARTITIONS // 2]
        heaviest = held[::-1][: PARTITIONS - len(enough)]
        return list(dict.fromkeys([*enough.tolist(), *heaviest.tolist()]))

    def _receivers(self, partition: int, seen: frozenset[int]) -> list[int]:
        """Return members that the partition alone leaves below the goal, emptiest with it first."""
        table = self.table
        weight = int(table.weight[partition])
        members = table.takers(int(table.row_of[partition]))
        wide, capacity = table.wide[members], table.capacity[members]
        members = members[(weight / wide <= self.goal) & (weight / capacity <= self.largest)]
        fill = (table.load[members] + weight) / table.wide[members]
        order = members[np.argsort(fill, kind="stable")[: RECEIVERS + len(seen)]]
        return [one for one in order.tolist() if one not in seen][:RECEIVERS]

    def _shed(self, member: int, kept: int) -> bool:
        """Let a member hand on single partitions, but not `kept`, until it is below the goal."""
        for _ in range(SHED):
            if self._is_below(member):
                return True
            move = self._single(member, kept)
            if move is None:
                return False
            self._do(move)
        return self._is_below(member)

    def _single(self, member: int, kept: int) -> Move | None:
        """Return one partition and somebody who has room for it."""
        table = self.table
        held: Int64 = table.held(member)
        held = held[held != kept]
        room = table.room()
        room[member] = -1
        weights = table.weight[held]
        fits = np.flatnonzero(weights <= room_for(table, held, room))
        if not len(fits):
            return None
        needed = float(table.load[member]) - self.goal * table.wide[member]
        enough = fits[weights[fits] >= needed]
        partition = int(held[enough[0] if len(enough) else fits[-1]])
        return Move(partition, member, receiver_of(table, partition, room))
