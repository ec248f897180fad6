"""A budget: of a fixed list of searches, what the best of them reaches with it.

Which steps are best depends on how many can be paid: with one move, the heaviest partition that
fits somewhere; with many, the lightest that are enough. So several searches run: one to the limits
that hold without a budget, one that lowers the fullest member as far as it goes at each step, and
for some numbers of moves one down to the largest use that so many moves could reach at best. Each
is cut where the budget ends, and the best is taken. A larger budget cuts the same searches later
and adds others, so it never leads to a larger use.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from typing import Protocol

import numpy as np

from assignors.arrays import Int32, Int64
from assignors.weighted.ratios import floors
from assignors.weighted.removal import Removal, removal_of
from assignors.weighted.search.relieve import FILLED_TO
from assignors.weighted.search.table import Move, Table

ONE_BY_ONE = 8
"""Up to so many moves there is a search for each number, from then on for every half more."""

EVERYTHING = 1 << 62
"""A budget that pays for every move."""


class Steps(Protocol):
    """A search: all that there is to do on a table."""

    def __call__(self, table: Table, *, of_fullest: bool = False) -> Iterator[list[Move]]:
        """Yield steps, each done; with `of_fullest` only until nothing helps the fullest."""


def best_within(table: Table, favoured: Int32, budget: int, steps: Steps) -> Table:
    """Return the table after the best search that the budget pays for.

    `favoured` is int32[P], -1 for nobody: a partition costs if it ends with somebody else; one that
    had no owner costs nothing. The least largest use is best; all uses that some limit allows are
    equal. Of equal ones that with the least above the limits of members, then with the least that
    idle members lack, then the cheapest: so a budget that is too small to lower the largest use
    still brings the group nearer to its end. Cost: that of `steps`, for O(log budget) searches of
    at most so many moves.
    """
    best, known = table, (*_worth(table, table), 0)
    for tried, of_fullest in _searches(table, favoured, budget):
        search = steps(tried, of_fullest=of_fullest)
        if of_fullest:
            search = _until_allowed(tried, table, search)
        cost = _cut(tried, favoured, budget, search)
        worth = (*_worth(tried, table), cost)
        if worth < known:
            best, known = tried, worth
    best.limit = table.limit
    return best


def without_budget(table: Table, steps: Steps) -> Table:
    """Return the table after all that there is to do, where every move may be paid.

    Down to the limits; where they can not be kept, by the best of the searches of a budget, as long
    as one is better: so no budget leads to a lower use, and asked again with the result, nothing
    more is found. Cost: that of `steps`, as a rule once; the table given is used up.
    """
    allowed = _allowed(table)
    if table.largest_use() > allowed:
        found = table.copy(table.limit)
        deque(steps(found), maxlen=0)
        if found.largest_use() <= allowed:
            return found
    while table.largest_use() > allowed:
        best = best_within(table, table.owner.copy(), EVERYTHING, steps)
        if best is table:
            return table
        table = best
    deque(steps(table), maxlen=0)
    return table


def _allowed(table: Table) -> float:
    """Return the largest use that some member's limit allows."""
    return float((table.limit / table.capacity).max(initial=0))


def _worth(tried: Table, table: Table) -> tuple[float, float, float]:
    """Return how good a search is, the less the better, by the limits of where it began."""
    above = np.maximum(tried.load - table.limit, 0) / table.wide
    lacks = np.maximum(FILLED_TO * table.fair - tried.load, 0) / table.wide
    use = max(tried.largest_use(), _allowed(table))
    return use, float(above.sum()), float(lacks.sum())


def _until_allowed(tried: Table, table: Table, steps: Iterator[list[Move]]) -> Iterator[list[Move]]:
    """Yield steps until the largest use is allowed."""
    for step in steps:
        yield step
        if tried.largest_use() <= _allowed(table):
            return


def _searches(table: Table, favoured: Int32, budget: int) -> Iterator[tuple[Table, bool]]:
    """Yield tables with their limits, and whether to stop where the fullest cannot be helped."""
    yield table.copy(table.limit), False
    yield table.copy(np.zeros_like(table.limit)), True
    owned = np.where(favoured == table.owner, table.owner, np.int32(-1))
    removal = removal_of(table.weight, owned, table.capacity)
    last = table.limit
    # The more moves, the lower the limits, until they are those of the first search.
    for moves in reversed(list(_numbers(budget, len(removal.rest)))):
        limit = np.maximum(table.limit, _at_most(removal, moves, table))
        if (limit != last).any():
            yield table.copy(limit), False
        last = limit


def _numbers(budget: int, most: int) -> Iterator[int]:
    """Yield numbers of moves up to the budget; those for a larger one begin with them."""
    number = 1
    while number <= min(budget, most):
        yield number
        number += 1 if number < ONE_BY_ONE else number // 2


def _at_most(removal: Removal, moves: int, table: Table) -> Int64:
    """Return what each member has at the use that so many moves reach at best, int64[M]."""
    use: Fraction = removal.use_within(moves)
    different, place = np.unique(table.capacity, return_inverse=True)
    weights: Int64 = floors(use, different)[place]
    return weights


def _cut(table: Table, favoured: Int32, budget: int, steps: Iterator[list[Move]]) -> int:
    """Do the steps that can be paid, and return their cost."""
    spent = 0
    for step in steps:
        cost = spent + sum(_price(table, favoured, move) for move in step)
        if cost > budget:
            for move in reversed(step):
                table.move(Move(move.partition, move.receiver, move.giver))
            break
        spent = cost
    return spent


def _price(table: Table, favoured: Int32, move: Move) -> int:
    """Return what a move costs: nothing from nobody, less than nothing where it comes back."""
    home = int(favoured[move.partition])
    return int(table.cost[move.partition]) * (int(move.receiver != home) - int(move.giver != home))
