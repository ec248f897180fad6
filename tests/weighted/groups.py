"""Random groups with weights and capacities, and what an exact solver says of small ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from ortools.sat.python import cp_model

from assignors.arrays import Bool, Int32, Int64
from assignors.weighted.bounds import bounds
from assignors.weighted.solve import Search, Solved, solve
from assignors.weighting import Balance

EXACT = Balance(tolerance=Fraction(0), trigger=Fraction(0))
KINDS = ("uniform", "log-normal", "heavy-tailed", "one hot", "by topic", "mostly idle")


def weights(random: np.random.Generator, count: int, kind: str) -> Int64:
    """Return weights of a kind, with a mean of about a thousand."""
    if kind == "uniform":
        raw = random.uniform(1, 100, count)
    elif kind == "log-normal":
        raw = random.lognormal(0, 1, count)
    elif kind == "heavy-tailed":
        raw = random.lognormal(0, 2, count)
    elif kind == "one hot":
        raw = random.uniform(0.5, 1.5, count)
        raw[random.integers(count)] = 10 + count * 0.02
    elif kind == "by topic":
        topic = random.integers(0, max(1, count // 50), count)
        raw = random.lognormal(0, 1.5, max(1, count // 50))[topic]
        raw = raw * random.lognormal(0, 0.3, count)
    else:
        raw = random.lognormal(0, 1, count) * (random.random(count) < 0.2)
    return np.floor(raw * (1000 / max(float(raw.mean()), 1e-9))).astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """How a group is drawn."""

    members: tuple[int, int] = (2, 7)
    per_member: tuple[int, int] = (2, 8)
    is_mixed: bool = True
    has_capacities: bool = True
    has_budget: bool = True
    balance: Balance = EXACT


def drawn(seed: int, kind: Drawn = Drawn()) -> Search:
    """Return a random group: members, topics, weights, some without an owner, some badly owned."""
    random = np.random.default_rng(seed)
    members = int(random.integers(*kind.members))
    count = int(members * random.integers(*kind.per_member))
    topics, classes = 1, 1
    if kind.is_mixed:
        topics, classes = int(random.integers(2, 6)), int(random.integers(2, min(4, members) + 1))
    takes: Bool = random.random((classes, topics)) < 0.6
    takes[random.integers(0, classes, topics), np.arange(topics)] = True
    class_of = random.integers(0, classes, members).astype(np.int32)
    class_of[:classes] = np.arange(classes)
    topic = np.sort(random.integers(0, topics, count))
    owner = random.integers(0, members, count).astype(np.int32)
    owner[random.random(count) < random.choice([0, 0.1, 1])] = -1
    capacity = random.choice([1, 2, 4], members) if kind.has_capacities else np.ones(members)
    return Search(
        first=np.searchsorted(topic, np.arange(topics + 1)),
        takes=takes,
        class_of=class_of,
        owner=owner,
        weight=weights(random, count, str(random.choice(KINDS))),
        capacity=capacity.astype(np.int64),
        cost=random.integers(0, 4, count) if random.random() < 0.3 else None,
        budget=int(random.integers(0, 9)) if kind.has_budget and random.random() < 0.6 else None,
        balance=kind.balance,
    )


def lawful(search: Search) -> Search:
    """Return the group with nobody favoured that may not take a partition."""
    owner = search.owner.copy()
    held = np.flatnonzero(owner >= 0)
    owner[held[~may(search)[held, owner[held]]]] = -1
    return replace(search, owner=owner)


def may(search: Search) -> Bool:
    """Return who may take what, bool[P, M]."""
    topic = np.repeat(np.arange(len(search.first) - 1), np.diff(search.first))
    allowed: Bool = search.takes[search.class_of][:, topic].T
    return allowed


def loads(search: Search, owner: Int32) -> Int64:
    """Return the weight of each member, int64[M]."""
    load = np.zeros(len(search.capacity), dtype=np.int64)
    has = owner >= 0
    np.add.at(load, owner[has], search.weight[has])
    return load


def largest(search: Search, owner: Int32) -> Fraction:
    """Return the largest use."""
    pairs = zip(loads(search, owner).tolist(), search.capacity.tolist(), strict=True)
    return max(Fraction(load, capacity) for load, capacity in pairs)


def spent(search: Search, owner: Int32) -> int:
    """Return what an assignment's moves cost."""
    moved = (search.owner >= 0) & (owner != search.owner)
    return int((np.ones(len(owner)) if search.cost is None else search.cost)[moved].sum())


def bound(search: Search) -> Fraction:
    """Return what the code says that no assignment is below."""
    sizes = np.diff(search.first)
    return bounds(
        weight=search.weight,
        topic_of=np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
        takes=search.takes,
        class_of=search.class_of,
        capacity=search.capacity,
    ).use


def proved_best(search: Search, seconds: float) -> int | None:
    """Return the least largest use within the budget by CP-SAT, `None` if that takes longer.

    Times the least common multiple of the capacities. `seconds` are those of the solver's own
    clock, which counts its steps: about real ones, and the same on a busy machine.
    """
    model = cp_model.CpModel()
    allowed = may(search)
    chosen = {
        (int(p), int(m)): model.new_bool_var("") for p, m in zip(*np.nonzero(allowed), strict=True)
    }
    for partition in np.flatnonzero(allowed.any(axis=1)).tolist():
        takers = np.flatnonzero(allowed[partition]).tolist()
        model.add_exactly_one(chosen[partition, member] for member in takers)
    if search.budget is not None:
        cost = np.ones(len(search.owner)) if search.cost is None else search.cost
        stays = [
            int(cost[p]) * (1 - chosen[p, int(search.owner[p])])
            for p in np.flatnonzero(search.owner >= 0).tolist()
        ]
        model.add(sum(stays) <= search.budget)
    common = int(np.lcm.reduce(search.capacity))
    top = model.new_int_var(0, int(search.weight.sum()) * common, "top")
    for member, capacity in enumerate(search.capacity.tolist()):
        held = [int(search.weight[p]) * one for (p, m), one in chosen.items() if m == member]
        model.add(sum(held) * (common // capacity) <= top)
    model.minimize(top)
    solver = cp_model.CpSolver()
    solver.parameters.max_deterministic_time = seconds
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    assert status in (cp_model.OPTIMAL, cp_model.FEASIBLE), status
    return round(solver.objective_value) if status == cp_model.OPTIMAL else None


def answer(search: Search) -> Solved:
    """Return what the code under test says."""
    return solve(search)
