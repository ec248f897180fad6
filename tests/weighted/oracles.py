"""Second opinions on the largest use: every assignment tried, and OR-tools' LP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
from ortools.linear_solver import pywraplp

from assignors.arrays import Bool, Int32, Int64
from assignors.weighted.bounds import Bounds, bounds

SCALE = 2
"""Uses times this are whole numbers, as capacities of tiny groups are 1 or 2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted:
    """A group in which each partition is a topic, and each member a class."""

    weight: tuple[int, ...]
    capacity: tuple[int, ...]
    may: tuple[tuple[bool, ...], ...]
    """One row a partition: which members take it."""

    def bounds(self) -> Bounds:
        """What the code under test says."""
        return bounds(
            weight=np.array(self.weight, dtype=np.int64),
            topic_of=np.arange(len(self.weight), dtype=np.int32),
            takes=np.array(self.may, dtype=np.bool_).T,
            class_of=np.arange(len(self.capacity), dtype=np.int32),
            capacity=np.array(self.capacity, dtype=np.int64),
        )


def tiny_equal(partitions: int, members: int) -> Iterator[Weighted]:
    """Every group whose members take everything: weights 0 to 3, capacities 1 and 2, sorted."""
    for weight, capacity in product(
        combinations_with_replacement(range(4), partitions),
        combinations_with_replacement((1, 2), members),
    ):
        yield Weighted(weight=weight, capacity=capacity, may=((True,) * members,) * partitions)


def tiny_mixed(partitions: int, members: int) -> Iterator[Weighted]:
    """Every group of that size with any subscriptions, where everybody of a partition differs.

    Partitions are sorted by weight and takers, because their order means nothing.
    """
    takers = [each for each in product((False, True), repeat=members) if any(each)]
    rows = list(product(range(4), takers))
    for capacity in product((1, 2), repeat=members):
        for chosen in combinations_with_replacement(rows, partitions):
            yield Weighted(
                weight=tuple(weight for weight, _ in chosen),
                capacity=capacity,
                may=tuple(may for _, may in chosen),
            )


def random_tiny(seed: int) -> Weighted:
    """Return a group of up to 5 partitions and 3 members, with any subscriptions."""
    random = np.random.default_rng(seed)
    partitions, members = int(random.integers(2, 6)), int(random.integers(2, 4))
    takers = [each for each in product((False, True), repeat=members) if any(each)]
    return Weighted(
        weight=tuple(random.integers(0, 4, partitions).tolist()),
        capacity=tuple(random.integers(1, 3, members).tolist()),
        may=tuple(takers[chosen] for chosen in random.integers(0, len(takers), partitions)),
    )


def assignments(group: Weighted) -> Int32:
    """Return all assignments, int32[A, P]."""
    choices = [np.flatnonzero(row).tolist() for row in group.may]
    return np.array(list(product(*choices)), dtype=np.int32).reshape(-1, len(group.weight))


def largest_uses(group: Weighted, given: Int32) -> Int64:
    """Return the largest use of each assignment times `SCALE`, int64[A]."""
    weight = np.array(group.weight, dtype=np.int64)
    uses = [
        ((given == member) * weight).sum(axis=1) * (SCALE // capacity)
        for member, capacity in enumerate(group.capacity)
    ]
    highest: Int64 = np.array(uses, dtype=np.int64).max(axis=0)
    return highest


def best_by_trial(group: Weighted) -> Fraction:
    """Return the least largest use of all assignments."""
    return Fraction(int(largest_uses(group, assignments(group)).min()), SCALE)


def level_by_lp(size: Int64, takes: Bool, capacity: Int64) -> float:
    """Return the least largest use with divisible rows, by GLOP, in shares of the whole."""
    whole = max(int(size.sum()), 1)
    solver = pywraplp.Solver.CreateSolver("GLOP")
    use = solver.NumVar(0, solver.infinity(), "use")
    load: list[list[pywraplp.Variable]] = [[] for _ in capacity]
    for row, weight in enumerate(size.tolist()):
        parts = []
        for place in np.flatnonzero(takes[row]).tolist():
            part = solver.NumVar(0, solver.infinity(), "")
            parts.append(part)
            load[place].append(part)
        solver.Add(solver.Sum(parts) == weight / whole)
    for place, room in enumerate(capacity.tolist()):
        if load[place]:
            solver.Add(solver.Sum(load[place]) <= use * (room / int(capacity.sum())))
    solver.Minimize(use)
    assert solver.Solve() == pywraplp.Solver.OPTIMAL
    return float(use.solution_value()) * whole / int(capacity.sum())
