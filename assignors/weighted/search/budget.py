"""The best of a fixed list of searches within a budget.

The best steps depend on the budget: with one move, the heaviest partition that fits; with many, the
lightest that suffice. So several searches run: to the limits that hold without a budget, to the
lowest use of the fullest member, and for some numbers of moves to the lowest use that so many moves
can reach. Each is cut where the budget ends, and the best is taken. A larger budget cuts the same
searches later and adds others, so it never leads to a larger use. Once no budget of this size can
lower the use further, no other search runs.
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
from assignors.weighted.search.state import SearchPolicy, State
from assignors.weighted.search.table import Move

ONE_BY_ONE = 8
"""Numbers of moves that are searched one by one; larger numbers grow by half."""

EVERYTHING = 1 << 62
"""A budget that pays for any moves."""


POLICIES = (
    SearchPolicy(relays=True),
    SearchPolicy(packs=True, relays=True),
    SearchPolicy(packs=True),
)
"""Policies for steps down to the limits; of equal answers the first is taken.

If members take different topics, only the first is tried: the others cost more there and rarely
save a move.
"""


SAVES = 2
"""Cost that a later policy must save: the first leaves members lower, so the next moves become
necessary later."""


class Steps(Protocol):
    """A search: all useful steps on a state."""

    def __call__(
        self, state: State, *, of_fullest: bool = False, plain: bool = False
    ) -> Iterator[list[Move]]:
        """Yield steps, each done; with `of_fullest` until no step helps the fullest member.

        With `plain` only steps after which only members above their limits have lost weight.
        """


def best_within(state: State, favoured: Int32, budget: int, steps: Steps) -> State:
    """Return the state after the best search that the budget pays for.

    `favoured` is int32[P], -1 for no owner: a partition costs if it ends with another member; one
    without an owner costs nothing. The smallest largest use is best; all uses that some limit
    allows are equal. Ties go to the least weight above the limits, then to the least that idle
    members lack, then to the lowest cost: a budget too small to lower the largest use still brings
    the group nearer to its end. Cost: that of `steps`, for O(log budget) searches.
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
    """Return the state after all useful steps, without a limit on their cost.

    Loads go down to the limits. If these cannot be kept, the best search within a budget is
    repeated while it improves: no budget leads to a lower use, and a second call on the result
    finds nothing. Cost: that of `steps`, usually once. The given state is used up.
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
    """Return the best state on the `POLICIES` down to the limits that the budget pays for.

    With its quality, cost last, and whether the budget cut it. Later policies are skipped if fewer
    moves cannot be as good, if there are no steps, and if the budget ends before the first policy.
    """
    before, first = _worth(state, state), state.copy(state.limit, POLICIES[0])
    cost, is_cut = _cut(first, favoured, budget, steps(first))
    worth = _worth(first, state)
    best, known = (first, (*worth, cost)) if worth < before else (state, (*before, 0))
    if is_cut or first.moved == state.moved:
        return best, known, is_cut
    fewest = _fewest(state)
    for policy in POLICIES[1:] if len(state.facts.takes) == 1 else ():
        if not known[1] and known[3] < fewest + SAVES:
            break
        tried = state.copy(state.limit, policy)
        cost, _ = _cut(tried, favoured, budget, steps(tried))
        worth = _worth(tried, state)
        saves = worth[2] <= known[2] and cost <= known[3] - SAVES
        if worth[:2] < known[:2] or (worth[:2] == known[:2] and saves):
            best, known = tried, (*worth, cost)
        if not tried.has_relayed:
            break  # without relays it would be the same
    return best, known, is_cut


def _fewest(state: State) -> int:
    """Return the fewest moves, each of cost 1, that bring all members below their limits.

    See `weighted.removal`. 0 if moves differ in cost.
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
    """Return the quality of a search by the limits at its start; less is better."""
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

    A member within its limit gives nothing, so the largest use at the end is at least its use.
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
    """Return the removal of partitions that members had before the round."""
    facts, owner = state.facts, state.owners()
    owned = np.where(favoured == owner, owner, np.int32(-1))
    capacity = np.array([facts.capacity[kind] for kind in facts.kind_of], dtype=np.int64)
    return removal_unchecked(facts.weight, owned, capacity)


def _least_within(state: State, removal: Removal, budget: int) -> float:
    """Return a lower bound of the largest use within the budget, or the use that is allowed."""
    cost = state.facts.cost
    cheapest = 1 if cost is None else int(cost.min(initial=1))
    least = float(removal.use_within(budget // cheapest)) if cheapest else 0.0
    return max(state.allowed, least)


def _searches(state: State, removal: Removal, budget: int) -> Iterator[tuple[State, bool]]:
    """Yield states with their limits, and whether to stop at the fullest member."""
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
    """Yield numbers of moves up to the budget; a larger budget yields the same and more."""
    number = 1
    while number <= min(budget, most):
        yield number
        number += 1 if number < ONE_BY_ONE else number // 2


def _cut(
    state: State, favoured: Int32, budget: int, steps: Iterator[list[Move]]
) -> tuple[int, bool]:
    """Do the steps within the budget; return their cost, and whether a step was left."""
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
    """Return the cost of a move: 0 without an owner, negative if the partition comes back."""
    home, cost = favoured.item(move.partition), state.facts.cost
    away = (move.receiver != home) - (move.giver != home)
    return away if cost is None else cost.item(move.partition) * away
