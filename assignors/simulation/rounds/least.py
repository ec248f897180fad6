"""The least that was possible: the best balance, and the fewest moves of an assignment that has it.

Two bounds cost no search. Nothing is more equal than the mean load, rounded up or down, for every
member that may take something; and of assignments with those loads none keeps more than the sum
of min(owned, load), the larger loads given to those that own more. Where every member may take
everything both bounds are reached. Elsewhere an assignment that reaches them is its own proof, as
a good assignor's is after most events. Only where it does not is the optimum computed.
"""

from __future__ import annotations

from dataclasses import dataclass

from assignors.simulation.rounds.counts import Counts
from wire.constructors import unchecked


@dataclass(frozen=True, slots=True, kw_only=True)
class Least:
    """What no assignment of a group can do better."""

    load_square_sum: int
    """The smallest sum of squared partition counts."""
    moves_min: int
    """The fewest partitions that leave a member that may keep them, among assignments with it."""


_least = unchecked(Least)


def proven_least(counts: Counts) -> Least | None:
    """Return the least that is possible for who consumes what at the start of a settlement.

    `None` where only a search can say it (`optimal.bounds.optimum`). Cost: O(M).

    >>> from assignors.simulation.rounds.counts import Asked
    >>> asked = Asked(partition_count=4, member_count=2, is_equal=True)
    >>> proven_least(Counts(asked=asked, before={"a": 4, "b": 0}, after={"a": 4, "b": 0}, moved=0))
    Least(load_square_sum=8, moves_min=2)
    """
    asked = counts.asked
    if not asked.member_count:
        return Least(load_square_sum=0, moves_min=0)
    floor, spare = divmod(asked.partition_count, asked.member_count)
    held = counts.before.values()
    # As `min` of each load and the floor, without a call for each member.
    above = [load for load in held if load > floor]
    kept_max = sum(held) - sum(above) + floor * len(above) + min(spare, len(above))
    bound = _least(
        load_square_sum=asked.member_count * floor * floor + spare * (2 * floor + 1),
        moves_min=sum(held) - kept_max,
    )
    is_reached = asked.is_equal or (
        counts.unassigned == 0
        and counts.load_square_sum == bound.load_square_sum
        and counts.moved == bound.moves_min
    )
    return bound if is_reached else None
