"""A budget: of a fixed list of searches, what the best of them reaches with it.

Which steps are best depends on how many can be paid: with one move, the heaviest partition that
fits somewhere; with many, the lightest that are enough. So several searches run: those to the
limits that hold without a budget, one that lowers the fullest member as far as it goes, and
for some numbers of moves one down to the largest use that so many moves could reach at best. Each
is cut where the budget ends, and the best is taken. A larger budget cuts the same searches later
and adds others, so it never leads to a larger use. Once a use is reached that the budget cannot
lower, whatever moves, no other search is tried.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from assignors.arrays import Int32
from assignors.weighted.ratios import floor_at
from assignors.weighted.removal import Removal, removal_unchecked
from assignors.weighted.search.relieve import FILLED_TO, above
from assignors.weighted.search.state import State, Way
from assignors.weighted.search.table import Move

ONE_BY_ONE = 8
"""Up to so many moves there is a search for each number, from then on for every half more."""

EVERYTHING = 1 << 62
"""A budget that pays for every move."""


WAYS = (Way(relays=True), Way(packs=True, relays=True), Way(packs=True))
"""How steps down to the limits are chosen; of equal answers the first is taken.

Where members take different things only the first is tried: there all of them cost more, and the
others rarely save a move.
"""


SAVES = 2
"""A later way has to save so much to be taken: the first leaves members lower, and so for longer
below what makes the next moves necessary."""


class Steps(Protocol):
    """A search: all that there is to do on a state."""

    def __call__(
        self, state: State, *, of_fullest: bool = False, plain: bool = False
    ) -> Iterator[list[Move]]:
        """Yield steps, each done; with `of_fullest` only until nothing helps the fullest.

        With `plain` only those after which nobody has less but who was above its limit.
        """


def best_within(state: State, favoured: Int32, budget: int, steps: Steps) -> State:
    """Return the state after the best search that the budget pays for.

    `favoured` is int32[P], -1 for nobody: a partition costs if it ends with somebody else; one that
    had no owner costs nothing. The least largest use is best; all uses that some limit allows are
    equal. Of equal ones that with the least above the limits of members, then with the least that
    idle members lack, then the cheapest: so a budget that is too small to lower the largest use
    still brings the group nearer to its end. Cost: that of `steps`, for O(log budget) searches of
    at most so many moves.
    """
    best, known, is_cut = _to_limits(state, favoured, budget, steps)
    if not is_cut and not known[1]:
        return best
    removal = _removal(state, favoured)
    least = _least_within(state, removal, budget)
    for tried, of_fullest in _searches(state, removal, budget):
        if known[0] <= least:
            break
        if of_fullest:
            search = _until_allowed(tried, state, steps(tried, of_fullest=True))
        elif len(state.limit) > 1:
            search = steps(tried)
        else:
            search = _while_better(tried, known[0], steps(tried, plain=True))
        cost, _ = _cut(tried, favoured, budget, search)
        worth = (*_worth(tried, state), cost)
        if worth < known:
            best, known = tried, worth
    best.set_limit(state.limit)
    return best


def without_budget(state: State, steps: Steps) -> State:
    """Return the state after all that there is to do, where every move may be paid.

    Down to the limits; where they can not be kept, by the best of the searches of a budget, as long
    as one is better: so no budget leads to a lower use, and asked again with the result, nothing
    more is found. Cost: that of `steps`, as a rule once; the state given is used up.
    """
    while state.largest > state.allowed:
        best = best_within(state, state.owners(), EVERYTHING, steps)
        if best is state:
            return state
        state = best
    deque(steps(state), maxlen=0)
    return state


def _to_limits(
    state: State, favoured: Int32, budget: int, steps: Steps
) -> tuple[State, tuple[float, float, float, int], bool]:
    """Return the best of what the budget pays for on each of `WAYS` down to the limits.

    With how good it is, its cost last, and whether it was cut. The later ones are left out where no
    fewer moves can be as good, where there are no steps (then the ways do not differ), and where
    the budget ends before the first one does.
    """
    before, first = _worth(state, state), state.copy(state.limit, WAYS[0])
    cost, is_cut = _cut(first, favoured, budget, steps(first))
    worth = _worth(first, state)
    best, known = (first, (*worth, cost)) if worth < before else (state, (*before, 0))
    if is_cut or first.moved == state.moved:
        return best, known, is_cut
    fewest = _fewest(state)
    for way in WAYS[1:] if len(state.facts.takes) == 1 else ():
        if not known[1] and known[3] < fewest + SAVES:
            break
        tried = state.copy(state.limit, way)
        cost, _ = _cut(tried, favoured, budget, steps(tried))
        worth = _worth(tried, state)
        saves = worth[2] <= known[2] and cost <= known[3] - SAVES
        if worth[:2] < known[:2] or (worth[:2] == known[:2] and saves):
            best, known = tried, (*worth, cost)
        if not tried.has_relayed:
            break  # without relays it would be the same
    return best, known, is_cut


def _fewest(state: State) -> int:
    """Return how many moves it takes at least to bring everybody below the limits, each of cost 1.

    See `weighted.removal`. 0 where moves differ in their cost.
    """
    count = 0
    if state.facts.cost is None:
        for member in above(state, state.limit):
            excess = state.excess(member)
            for weight in reversed(state.held(member)[0]):
                if excess <= 0:
                    break
                excess -= weight
                count += 1
    return count


def _worth(tried: State, state: State) -> tuple[float, float, float]:
    """Return how good a search is, the less the better, by the limits of where it began."""
    above, lacks = 0.0, 0.0
    for members, limit, wide, fair in zip(
        tried.ranked, state.limit, state.facts.wide, state.facts.fair, strict=True
    ):
        for load, _ in reversed(members):
            if load <= limit:
                break
            above += (load - limit) / wide
        for load, _ in members:
            if load >= FILLED_TO * fair:
                break
            lacks += (FILLED_TO * fair - load) / wide
    return max(tried.largest, state.allowed), above, lacks


def _until_allowed(tried: State, state: State, steps: Iterator[list[Move]]) -> Iterator[list[Move]]:
    """Yield steps until the largest use is allowed."""
    for step in steps:
        yield step
        if tried.largest <= state.allowed:
            return


def _while_better(tried: State, use: float, steps: Iterator[list[Move]]) -> Iterator[list[Move]]:
    """Yield plain steps while they can still lead below a use.

    Who is not above its limit does not give, so the largest use in the end is no less than its.
    """
    least = 0.0
    for members, limit, capacity in zip(
        tried.ranked, tried.limit, tried.facts.capacity, strict=True
    ):
        place = bisect_left(members, (limit + 1,))
        if place:
            least = max(least, members[place - 1][0] / capacity)
    while least < use:
        step = next(steps, None)
        if step is None:
            return
        yield step
        for member in {one for move in step for one in (move.giver, move.receiver)}:
            if tried.excess(member) <= 0:
                least = max(least, tried.use(member))


def _removal(state: State, favoured: Int32) -> Removal:
    """Return what members have while they give up partitions that they had before the round."""
    facts, owner = state.facts, state.owners()
    owned = np.where(favoured == owner, owner, np.int32(-1))
    capacity = np.array([facts.capacity[kind] for kind in facts.kind_of], dtype=np.int64)
    return removal_unchecked(facts.weight, owned, capacity)


def _least_within(state: State, removal: Removal, budget: int) -> float:
    """Return a use that no assignment within the budget is below, or that the limits allow."""
    cost = state.facts.cost
    cheapest = 1 if cost is None else int(cost.min(initial=1))
    least = float(removal.use_within(budget // cheapest)) if cheapest else 0.0
    return max(state.allowed, least)


def _searches(state: State, removal: Removal, budget: int) -> Iterator[tuple[State, bool]]:
    """Yield states with their limits, and whether to stop where the fullest cannot be helped."""
    yield state.copy([0] * len(state.limit)), True
    last = state.limit
    # The more moves, the lower the limits, until they are those of the first search.
    numbers = list(_numbers(budget, len(removal.rest)))
    for use in removal.uses_within(numbers[::-1]):
        limit = [
            max(limit, floor_at(use, capacity))
            for limit, capacity in zip(state.limit, state.facts.capacity, strict=True)
        ]
        if limit != last:
            yield state.copy(limit), False
        last = limit


def _numbers(budget: int, most: int) -> Iterator[int]:
    """Yield numbers of moves up to the budget; those for a larger one begin with them."""
    number = 1
    while number <= min(budget, most):
        yield number
        number += 1 if number < ONE_BY_ONE else number // 2


def _cut(
    state: State, favoured: Int32, budget: int, steps: Iterator[list[Move]]
) -> tuple[int, bool]:
    """Do the steps that can be paid, and return their cost, and whether one was left undone."""
    spent = 0
    for step in steps:
        cost = spent + sum([_price(state, favoured, move) for move in step])
        if cost > budget:
            for move in reversed(step):
                state.move(Move(move.partition, move.receiver, move.giver))
            return spent, True
        spent = cost
    return spent, False


def _price(state: State, favoured: Int32, move: Move) -> int:
    """Return what a move costs: nothing from nobody, less than nothing where it comes back."""
    home, cost = favoured.item(move.partition), state.facts.cost
    away = (move.receiver != home) - (move.giver != home)
    return away if cost is None else cost.item(move.partition) * away
