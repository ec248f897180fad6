"""What is best in a tiny group, by trying every assignment, beside bounds and answers of the code.

Uses are counted in halves, so that they are whole numbers: capacities are 1 and 2. All assignments
of a number of partitions to a number of members are one table, made once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np

from assignors.arrays import Int32, Int64
from assignors.weighted.bounds import bounds
from assignors.weighted.removal import Removal, removal_of
from assignors.weighted.solve import Search, solve
from assignors.weighting import Balance
from tests.weighted.tiny.groups import Tiny

HALVES = 2
EXACT = Balance(tolerance=Fraction(0), trigger=Fraction(0))


@cache
def every_assignment(partitions: int, members: int) -> Int32:
    """Return all assignments, int32[members**partitions, partitions]."""
    given = list(product(range(members), repeat=partitions))
    return np.array(given, dtype=np.int32).reshape(-1, partitions)


def best_uses(group: Tiny) -> list[int]:
    """Return the least largest use, in halves, of all assignments of at most 0, 1, 2, ... moves."""
    given = every_assignment(len(group.weight), len(group.capacity))
    owner = np.array(group.owner)
    moves = ((given != owner) & (owner >= 0)).sum(axis=1)
    uses = _largest_uses(group.weight, group.capacity)
    best = np.full(int((owner >= 0).sum()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(best, moves, uses)
    found: list[int] = np.minimum.accumulate(best).tolist()
    return found


@cache
def _largest_uses(weight: tuple[int, ...], capacity: tuple[int, ...]) -> Int64:
    """Return the largest use of every assignment, in halves, int64[A]."""
    given = every_assignment(len(weight), len(capacity))
    loads = [((given == member) * np.array(weight)).sum(axis=1) for member in range(len(capacity))]
    uses = [load * (HALVES // one) for load, one in zip(loads, capacity, strict=True)]
    largest: Int64 = np.max(uses, axis=0)
    return largest


def use_of(search: Search, owner: Int32) -> int:
    """Return the largest use of an assignment, in halves."""
    load = np.zeros(len(search.capacity), dtype=np.int64)
    np.add.at(load, owner, search.weight)
    return int((load * HALVES // search.capacity).max())


@dataclass(slots=True)
class Tally:
    """How far from the best the answers and the bounds are, over many groups."""

    groups: int = 0
    answers: Counter[Fraction] = field(default_factory=Counter)
    """Largest use of an answer / the optimum under the same budget -> how often."""
    bounds: Counter[Fraction] = field(default_factory=Counter)
    """The optimum / the best bound -> how often."""

    def add(self, other: Tally) -> None:
        """Count another tally in."""
        self.groups += other.groups
        self.answers += other.answers
        self.bounds += other.bounds


def judged(groups: Iterator[Tiny]) -> Tally:
    """Return how close answers and bounds come; `AssertionError` for one that cannot be.

    For every budget: bound <= optimum <= answer, no more moves than the budget, never a larger use
    with a larger budget; nothing lost with a budget of 0; and what is found without a budget is no
    worse than with any, and is kept when asked again.
    """
    tally = Tally()
    for group in groups:
        tally.groups += 1
        _judge(group, tally)
    return tally


def _judge(group: Tiny, tally: Tally) -> None:
    best = best_uses(group)
    search = group.search(None, EXACT)
    known = _bound(group.weight, group.capacity)
    removal = removal_of(search.weight, search.owner, search.capacity)
    before = None
    for budget, optimum in enumerate(best):
        found = _answer(group, replace(search, budget=budget), optimum)
        assert before is None or found <= before, (group, budget, "a larger budget is worse")
        before = found
        bound = HALVES * max(known, removal.use_within(budget))
        assert bound <= optimum, (group, budget, bound, optimum)
        _count(tally, Fraction(found), Fraction(optimum), bound)
        _check_moves(group, removal, budget, best)
    assert before is not None
    free = _answer(group, search, best[-1])
    assert free <= before, (group, "no budget is worse than one for all partitions")
    _count(tally, Fraction(free), Fraction(best[-1]), HALVES * known)


def _count(tally: Tally, found: Fraction, optimum: Fraction, bound: Fraction) -> None:
    tally.answers[found / optimum if optimum else Fraction(1)] += 1
    tally.bounds[optimum / bound if optimum else Fraction(1)] += 1


def _check_moves(group: Tiny, removal: Removal, budget: int, best: list[int]) -> None:
    """The fewest moves to what a budget reaches at best are no more than the budget."""
    least = removal.moves_to(Fraction(best[budget], HALVES))
    assert least <= best.index(best[budget]), (group, budget, least)


def _answer(group: Tiny, search: Search, optimum: int) -> int:
    """Return the largest use that the code under test reaches, in halves."""
    owner = solve(search).owner
    had = search.owner >= 0
    moves = int((owner != search.owner)[had].sum())
    assert (owner >= 0).all(), (group, search.budget)
    assert search.budget is None or moves <= search.budget, (group, search.budget, moves)
    found = use_of(search, owner)
    assert optimum <= found, (group, search.budget, found, optimum)
    if search.budget is None:
        again = solve(replace(search, owner=owner))
        assert (again.owner == owner).all(), (group, "asked again, it moves something")
    return found


@cache
def _bound(weight: tuple[int, ...], capacity: tuple[int, ...]) -> Fraction:
    """Return what no assignment is below, whatever it moves."""
    return bounds(
        weight=np.array(weight, dtype=np.int64),
        topic_of=np.zeros(len(weight), dtype=np.int32),
        takes=np.array([[True]]),
        class_of=np.zeros(len(capacity), dtype=np.int32),
        capacity=np.array(capacity, dtype=np.int64),
    ).use
