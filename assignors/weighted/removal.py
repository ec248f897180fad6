"""The least largest use within reach of a number of moves, and the fewest moves to a use.

Whichever members receive, a member must give up enough to come down to a use T, and the fewest
partitions that suffice are its heaviest. So T costs every member a known number of moves, and
their sum is at most the moves of any assignment that has the use T: a move takes one partition
from one owner. Subscriptions do not matter, nor do partitions without an owner, because both
can only add weight to a member.

Let a member's partitions be sorted with the heaviest first, and let rest[k] be the weight that
is left without the first k. It must give up the (k + 1)-th if and only if rest[k] > T x
capacity. So the moves that T needs are the number of all pairs with rest[k] / capacity > T, and
the least T for B moves is the (B + 1)-th largest of these fractions: one selection, no search.
Source: the bound in Aggarwal, Motwani, Zhu, "The load rebalancing problem" (2006), there for
equal members.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from assignors.problem import Int32, Int64
from assignors.weighted.ratios import floors, nth_smallest, require_exact


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """Loads of members while they give up partitions, heaviest first. Q owned partitions."""

    rest: Int64
    """int64[Q]: weight of the owner's partitions without those given up before this one."""
    member: Int32
    """int32[Q]: the owner."""
    capacity: Int64
    """int64[M]."""

    def use_within(self, moves: int) -> Fraction:
        """Return a lower bound of the largest use of any assignment with at most `moves` moves.

        Partitions without an owner are no moves. `ValueError` for fewer than 0. Cost: O(Q).

        >>> owner = np.array([0, 0, 0, 1], dtype=np.int32)
        >>> removal = removal_of(np.array([4, 3, 2, 1]), owner, np.array([1, 1]))
        >>> [removal.use_within(moves) for moves in range(3)]
        [Fraction(9, 1), Fraction(5, 1), Fraction(2, 1)]
        """
        if moves < 0:
            raise ValueError(f"moves: {moves} is negative")
        if moves >= len(self.rest):
            return Fraction(0)
        return nth_smallest(self.rest, self.capacity[self.member], len(self.rest) - moves)

    def uses_within(self, moves: list[int]) -> list[Fraction]:
        """Return the same for several numbers of moves.

        Cost: O(Q) for all of them together where capacities are equal.

        >>> owner = np.array([0, 0, 0, 1], dtype=np.int32)
        >>> removal_of(np.array([4, 3, 2, 1]), owner, np.array([2, 2])).uses_within([0, 2, 9])
        [Fraction(9, 2), Fraction(1, 1), Fraction(0, 1)]
        """
        some = [one for one in moves if one < len(self.rest)]
        if len(some) < 2 or min(some) < 0 or (self.capacity != self.capacity[0]).any():
            return [self.use_within(one) for one in moves]
        places = [len(self.rest) - 1 - one for one in some]
        rest, capacity = np.partition(self.rest, places), int(self.capacity[0])
        known = dict(zip(some, rest[places].tolist(), strict=True))
        return [Fraction(known.get(one, 0), capacity) for one in moves]

    def moves_to(self, use: Fraction) -> int:
        """Return the fewest moves of any assignment whose largest use is at most `use`.

        A lower bound also where no such assignment exists. `ValueError` for a negative use.
        Cost: O(Q + M).

        >>> owner = np.array([0, 0, 0, 1], dtype=np.int32)
        >>> removal = removal_of(np.array([4, 3, 2, 1]), owner, np.array([1, 1]))
        >>> removal.moves_to(Fraction(9)), removal.moves_to(Fraction(17, 2))
        (0, 1)
        """
        if use < 0:
            raise ValueError(f"use: {use} is negative")
        return int(np.count_nonzero(self.rest > floors(use, self.capacity)[self.member]))


def removal_of(weight: Int64, owner: Int32, capacity: Int64) -> Removal:
    """Return what members carry while they give up partitions.

    `weight` is int64[P], at least 0; `owner` is int32[P], a member or -1, also -1 where the
    owner no longer takes the partition; `capacity` is int64[M], at least 1; sums are below
    2**53. Order of partitions and members does not matter. `ValueError` for other weights and
    capacities. Cost: O(P log P).
    """
    require_exact(weight, capacity)
    return removal_unchecked(weight, owner, capacity)


def removal_unchecked(weight: Int64, owner: Int32, capacity: Int64) -> Removal:
    """Return the same, for weights and capacities that are known to be in order."""
    owned = np.flatnonzero(owner >= 0)
    owned = owned[np.lexsort((-weight[owned], owner[owned]))]
    member, falling = owner[owned], weight[owned]
    load = np.zeros(len(capacity), dtype=np.int64)
    np.add.at(load, member, falling)
    return Removal(
        rest=np.cumsum(load)[member] - np.cumsum(falling) + falling,
        member=member,
        capacity=capacity,
    )
