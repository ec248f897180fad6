"""Chains: a partition goes to a member without room for it, which hands on other partitions.

Chains are needed where subscriptions differ and all receivers of a member are full, and where a
heavy partition belongs to a faster member that has many light ones. Each try is played on the state
and undone if it leaves a member above the goal.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from heapq import nsmallest

from assignors.weighted.search.state import State
from assignors.weighted.search.steps import WORTH
from assignors.weighted.search.table import Move

DEPTH = 4
"""Longest chain of members that hand on partitions."""

PARTITIONS = 4
"""Partitions of a member that are tried."""

RECEIVERS = 4
"""Receivers that are tried for each partition."""

SHED = 12
"""Most partitions that a receiver hands on for the one that it gets."""


def chain_for(state: State, giver: int) -> list[Move] | None:
    """Return moves after which every member that they touch has less than the giver had.

    `None` if none are found. The state is as it was. Cost: at most PARTITIONS x RECEIVERS x
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
    """Highest fill of any member at the end."""
    largest: float
    """Largest use before the chain; no member may be above it at the end."""
    done: list[Move] = field(default_factory=list)
    tries: int = PARTITIONS * RECEIVERS * DEPTH

    def hand_on(self, giver: int, seen: frozenset[int], depth: int) -> bool:
        """Bring a member below the goal through members that hand on partitions, or undo."""
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
        """Undo all moves after the first `mark`."""
        while len(self.done) > mark:
            partition, giver, receiver = self.done.pop()
            self.state.move(Move(partition, receiver, giver))

    def _do(self, move: Move) -> None:
        self.state.move(move)
        self.done.append(move)

    def _passes_on(self, member: int, kept: int, seen: frozenset[int], depth: int) -> bool:
        """Bring a receiver below the goal, by single partitions or through other members."""
        if self._shed(member, kept):
            return True
        return depth > 1 and self.hand_on(member, seen | {member}, depth - 1)

    def _is_below(self, member: int) -> bool:
        return self.state.fill(member) <= self.goal and self.state.use(member) <= self.largest

    def _needed(self, member: int) -> float:
        """Return the weight of a member above the goal."""
        facts = self.state.facts
        return self.state.load[member] - self.goal * facts.wide[facts.kind_of[member]]

    def _candidates(self, giver: int) -> list[tuple[int, int]]:
        """Return (weight, number) of the lightest partitions that suffice, and of the heaviest."""
        weights, partitions = self.state.held(giver)
        first = bisect_left(weights, self._needed(giver))
        enough = range(len(weights))[first : first + PARTITIONS // 2]
        heaviest = range(len(weights))[::-1][: PARTITIONS - len(enough)]
        return [(weights[one], partitions[one]) for one in dict.fromkeys([*enough, *heaviest])]

    def _receivers(self, weight: int, partition: int, seen: frozenset[int]) -> list[int]:
        """Return members that stay below the goal with the partition alone, emptiest first."""
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
        """Move single partitions but `kept` off a member until it is below the goal."""
        for _ in range(SHED):
            if self._is_below(member):
                return True
            move = self._single(member, kept)
            if move is None:
                return False
            self._do(move)
        return self._is_below(member)

    def _single(self, member: int, kept: int) -> Move | None:
        """Return a move of one partition to a member with room for it."""
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
