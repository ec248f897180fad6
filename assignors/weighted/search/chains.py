"""Chains: a partition goes to a member that has no room for it, and hands others on.

This is what it takes where subscriptions differ and the receivers of a member are full, and where
a heavy partition belongs to a faster member that has many light ones. Each try is played on the
state, and taken back if somebody is left with too much.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from heapq import nsmallest

from assignors.weighted.search.state import State
from assignors.weighted.search.steps import WORTH
from assignors.weighted.search.table import Move

DEPTH = 4
"""How many members one after the other hand something on."""

PARTITIONS = 4
"""So many of a member's partitions are tried,"""

RECEIVERS = 4
"""and so many receivers of each."""

SHED = 12
"""A receiver hands on at most so many partitions for the one that it gets."""


def chain_for(state: State, giver: int) -> list[Move] | None:
    """Return moves after which all members that they touch have less than the giver had.

    `None` where none are found. The state is as it was. Cost: at most PARTITIONS x RECEIVERS x
    DEPTH tries, each O(SHED x (kinds + partitions of a member)).
    """
    chain = _Chain(state=state, goal=state.fill(giver) * (1 - WORTH), largest=state.largest)
    found = chain.hand_on(giver, frozenset([giver]), DEPTH)
    moves = list(chain.done)
    chain.undo(0)
    return moves if found else None


@dataclass(slots=True, kw_only=True)
class _Chain:
    """One search for a chain."""

    state: State
    goal: float
    """The fill that nobody may be above in the end."""
    largest: float
    """The largest use there was, which nobody may be above either."""
    done: list[Move] = field(default_factory=list)
    tries: int = PARTITIONS * RECEIVERS * DEPTH

    def hand_on(self, giver: int, seen: frozenset[int], depth: int) -> bool:
        """Bring a member below the goal through members that hand something on; else undo."""
        for weight, partition in self._candidates(giver):
            for receiver in self._receivers(weight, partition, seen):
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
            self.state.move(Move(partition, receiver, giver))

    def _do(self, move: Move) -> None:
        self.state.move(move)
        self.done.append(move)

    def _passes_on(self, member: int, kept: int, seen: frozenset[int], depth: int) -> bool:
        """Bring a receiver below the goal: single partitions of it, else through others."""
        if self._shed(member, kept):
            return True
        return depth > 1 and self.hand_on(member, seen | {member}, depth - 1)

    def _is_below(self, member: int) -> bool:
        return self.state.fill(member) <= self.goal and self.state.use(member) <= self.largest

    def _needed(self, member: int) -> float:
        """Return how much a member has above the goal."""
        facts = self.state.facts
        return self.state.load[member] - self.goal * facts.wide[facts.kind_of[member]]

    def _candidates(self, giver: int) -> list[tuple[int, int]]:
        """Return (weight, number) of the lightest that are enough, and of the heaviest."""
        weights, partitions = self.state.held(giver)
        first = bisect_left(weights, self._needed(giver))
        enough = range(len(weights))[first : first + PARTITIONS // 2]
        heaviest = range(len(weights))[::-1][: PARTITIONS - len(enough)]
        return [(weights[one], partitions[one]) for one in dict.fromkeys([*enough, *heaviest])]

    def _receivers(self, weight: int, partition: int, seen: frozenset[int]) -> list[int]:
        """Return members that the partition alone leaves below the goal, emptiest with it first."""
        facts, count = self.state.facts, RECEIVERS + len(seen)
        near = (
            ((load + weight) / facts.wide[kind], member)
            for kind in facts.kinds_of_row(int(facts.row_of[partition]))
            if weight / facts.wide[kind] <= self.goal
            and weight / facts.capacity[kind] <= self.largest
            for load, member in self.state.ranked[kind][:count]
        )
        emptiest = [member for _, member in nsmallest(count, near)]
        return [one for one in emptiest if one not in seen][:RECEIVERS]

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
        weights, partitions = self.state.held(member)
        at = partitions.index(kept)
        weights = weights[:at] + weights[at + 1 :]
        partitions = partitions[:at] + partitions[at + 1 :]
        fits = self.state.fitting((weights, partitions), member)
        if not fits:
            return None
        enough = fits[bisect_left(fits, self._needed(member), key=weights.__getitem__) :]
        place = enough[0] if enough else fits[-1]
        partition = partitions[place]
        receiver = self.state.receiver_of(partition, weights[place], member)
        return Move(partition, member, receiver)
