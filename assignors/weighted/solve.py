"""Assign by weight: move nothing while uses are in band, else move just enough.

The aims, in this order: every partition that a member takes has an owner; the cost of moves stays
within the budget; nothing moves while no member is above the trigger or idle; the largest use comes
down to the tolerance above the fair use; no member is idle; few partitions move; racks, among
receivers below their limits. The problem is NP-hard, so the answer is not always the best. The
largest use is never above that of moving nothing, and `weighted.bounds` bounds the distance from
the best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property, partial
from math import gcd

import numpy as np

from assignors.arrays import Bool, Int32, Int64
from assignors.optimal.rows import subscribed_owner, topic_rows
from assignors.optimal.solve import solve as optimal_solve
from assignors.weighted.ratios import floor_at, require_exact
from assignors.weighted.search.aims import Aims, aims
from assignors.weighted.search.budget import Steps, best_within, without_budget
from assignors.weighted.search.place import place
from assignors.weighted.search.relieve import (
    FILLED_TO,
    IDLE_BELOW,
    above,
    filling,
    idle,
    relief,
)
from assignors.weighted.search.state import State, state_of
from assignors.weighted.search.table import Float64, Move, Places, Table
from assignors.weighting import Balance

TURNS = 32
"""Most alternations of the two kinds of steps; seven is the most ever seen."""

CHUNK = 10_000
"""Weights whose common divisor is computed at a time."""


class Hold(StrEnum):
    """Why nothing moves."""

    IN_BAND = "in-band"
    """No member is above the trigger, and none is idle."""
    NOTHING_HELPS = "nothing-helps"
    """A member is, and no step was found that helps."""
    BUDGET = "budget"
    """The first step costs more than the budget."""


@dataclass(frozen=True, kw_only=True)
class Solved:
    """An assignment by weight."""

    owner: Int32
    """int32[P]: the new owner of each partition, -1 if no member takes it."""
    placed: Int32
    """int32[P]: `owner` without moves, with partitions without an owner placed."""
    fill: Float64 | None = None
    """float64[M]: use of each member in `placed` divided by its fair use; `None` if all weights are
    equal and members are balanced by count."""
    is_settled: bool = True
    """Whether no member was above the trigger or idle."""
    rest: Callable[[], Iterator[int]] | None = None
    """Computes `deferred`; `None` without a budget."""

    @cached_property
    def deferred(self) -> Int64:
        """int64[N]: partitions that move next if the budget allows, the next one first.

        Computed when it is first read, at the cost of an answer without a budget.
        """
        left = () if self.rest is None else self.rest()
        return np.fromiter(left, dtype=np.int64)

    @cached_property
    def hold(self) -> Hold | None:
        """Why nothing moved; `None` if a partition moved."""
        if (self.owner != self.placed).any():
            return None
        if self.is_settled:
            return Hold.IN_BAND
        return Hold.BUDGET if len(self.deferred) else Hold.NOTHING_HELPS


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The input of `solve`. P partitions, T topics, K classes, M members."""

    first: Int64
    """int64[T + 1]: topic t holds partitions first[t]:first[t + 1]."""
    takes: Bool
    """bool[K, T]."""
    class_of: Int32
    """int32[M]."""
    owner: Int32
    """int32[P]: the member that stickiness favours, -1 for none."""
    weight: Int64
    """int64[P], at least 0."""
    capacity: Int64
    """int64[M], at least 1."""
    cost: Int64 | None = None
    """int64[P], at least 0: cost of moving each partition; `None` is 1 each."""
    budget: int | None = None
    """Highest cost of all moves; `None` is no limit."""
    balance: Balance = field(default_factory=Balance)
    places: Places | None = None


def solve(search: Search) -> Solved:
    """Return an assignment by weight.

    Members and partitions are numbered in the order that breaks ties. The answer is the same if all
    weights are multiplied by one number. `ValueError` for negative weights or budgets, capacities
    below 1, and sums of 2**53 and more.
    Cost: O(P log P) at most, that of `aims`, and that of `relieve` for each step.

    >>> search = Search(
    ...     first=np.array([0, 4]),
    ...     takes=np.array([[True]]),
    ...     class_of=np.array([0, 0], dtype=np.int32),
    ...     owner=np.array([0, 0, 1, 1], dtype=np.int32),
    ...     weight=np.array([50, 30, 10, 10]),
    ...     capacity=np.array([1, 1]),
    ... )
    >>> found = solve(search)
    >>> found.owner.tolist(), found.hold
    ([0, 1, 1, 1], None)
    """
    require_exact(search.weight, search.capacity)
    cost = np.ones(len(search.owner), dtype=np.int64) if search.cost is None else search.cost
    if (cost < 0).any():
        raise ValueError(f"cost[{int(np.argmax(cost < 0))}]: {int(cost.min())} is negative")
    if search.budget is not None and search.budget < 0:
        raise ValueError(f"budget: {search.budget} is negative")
    if _counts_alone(search):
        return _by_count(search)
    table, right = _table_of(search, cost)
    favoured = table.owner.copy()
    place(table)
    state = state_of(table, has_costs=search.cost is not None)
    state.set_limit(_limits(search.balance.tolerance, right, state))
    balance = search.balance
    begins = balance.tolerance if balance.is_unfinished else balance.trigger
    trigger = _limits(begins, right, state)
    steps = partial(_steps, search.balance, trigger)
    is_settled = not above(state, trigger) and not _wants_filling(state, search.balance)
    if search.budget is None:
        owner, rest = without_budget(state, steps).owners(), None
    else:
        after = best_within(state, favoured, search.budget, steps)
        owner, rest = after.owners(), partial(_rest, after, steps)
    return Solved(
        owner=owner,
        placed=table.owner,
        fill=table.fill(),
        is_settled=is_settled,
        rest=rest,
    )


def _rest(after: State, steps: Steps) -> Iterator[int]:
    """Return the partitions that move after a state, in the order in which they move first."""
    last = after.copy(after.limit)
    moved = dict.fromkeys(move.partition for step in steps(last) for move in step)
    return (one for one in moved if last.owner(one) != after.owner(one))


def _counts_alone(search: Search) -> bool:
    """Return whether this is the problem of `optimal/sticky`, which has an exact answer."""
    weight, capacity, cost = search.weight, search.capacity, search.cost
    return bool(
        search.budget is None
        and not search.balance.trigger
        and len(weight)
        and len(capacity)
        and weight[0] > 0
        and (weight == weight[0]).all()
        and (capacity == capacity[0]).all()
        and (cost is None or (cost == cost[0]).all())
    )


def _by_count(search: Search) -> Solved:
    """Return the best balance by count, and of all with that the fewest moves."""
    places = search.places
    best = optimal_solve(
        first=search.first,
        takes=search.takes,
        class_of=search.class_of,
        owner=search.owner,
        rack=None if places is None else places.rack,
        replica_set=None if places is None else places.replica_set,
        replica_racks=None if places is None else places.replica_racks,
    )
    return Solved(owner=best.owner, placed=np.where(search.owner >= 0, search.owner, best.owner))


def _wants_filling(state: State, balance: Balance) -> bool:
    """Return whether a member is idle, or all members are to have a fair share."""
    return balance.is_fair or bool(idle(state, _idle_below(balance)))


def _idle_below(balance: Balance) -> float:
    """Return the share of its fair weight below which a member is idle."""
    return FILLED_TO if balance.is_unfinished else IDLE_BELOW


def _steps(
    balance: Balance,
    trigger: list[int],
    state: State,
    *,
    of_fullest: bool = False,
    plain: bool = False,
) -> Iterator[list[Move]]:
    """Yield all useful steps, each done on the state, until none is left.

    What is done for one member may be the end of another's rest, so both kinds of steps take turns.
    Each kind ends by itself, and two or three turns are the rule.
    """
    for _ in range(TURNS):
        has_changed = False
        if above(state, trigger):
            for step in relief(state, of_fullest=of_fullest, chains=not plain):
                has_changed = True
                yield step
        if not plain and _wants_filling(state, balance):
            part = float(1 - balance.tolerance)
            for step in (
                filling(state, part, part)
                if balance.is_fair
                else filling(state, _idle_below(balance))
            ):
                has_changed = True
                yield step
        if not has_changed:
            return


def _table_of(search: Search, cost: Int64) -> tuple[Table, Aims]:
    """Return the table of the search, and the fair uses of each class."""
    sizes = np.diff(search.first)
    row_of_topic, takes = topic_rows(search.first, search.takes, search.class_of)
    row_of = np.repeat(row_of_topic, sizes)
    weight = np.where(row_of >= 0, search.weight, 0)
    weight //= max(1, _common_divisor(weight))
    owner = subscribed_owner(search.owner, row_of, takes[:, search.class_of]).astype(np.int32)
    right = aims(
        weight=weight,
        row_of=row_of,
        takes=takes,
        class_of=search.class_of,
        capacity=search.capacity,
    )
    wide = _of_members(right.most, search)
    load = np.zeros(len(search.capacity), dtype=np.int64)
    has = owner >= 0
    np.add.at(load, owner[has], weight[has])
    table = Table(
        weight=weight,
        cost=cost,
        row_of=row_of,
        takes=takes,
        class_of=search.class_of,
        capacity=search.capacity,
        wide=np.where(wide > 0, wide, 1.0),
        fair=_of_members(right.fair, search),
        owner=owner,
        load=load,
        places=search.places,
    )
    return table, right


def _common_divisor(weight: Int64) -> int:
    """Return the greatest common divisor of the weights; usually the first few give it."""
    divisor = 0
    for begin in range(0, len(weight), CHUNK):
        divisor = gcd(divisor, int(np.gcd.reduce(weight[begin : begin + CHUNK])))
        if divisor == 1:
            break
    return divisor


def _of_members(uses: list[Fraction], search: Search) -> Float64:
    """Return the weight of each member at the use of its class, float64[M]."""
    of_class = np.array([float(one) for one in uses])
    weight: Float64 = of_class[search.class_of] * search.capacity
    return weight


def _limits(tolerance: Fraction, right: Aims, state: State) -> list[int]:
    """Return the highest load of members of each kind."""
    pairs = zip(state.facts.class_of, state.facts.capacity, strict=True)
    return [floor_at(right.most[number] * (1 + tolerance), one) for number, one in pairs]
