"""Figures of an assignment by weight, and bounds that no assignment can be below.

Assignments of any assignor are measured in the same way.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from assignors.arrays import Int32, Int64
from assignors.problem import NOBODY, Problem
from assignors.weighted.bounds import bounds
from assignors.weighted.inputs import Loads, loads_of
from assignors.weighted.ratios import floors, largest
from assignors.weighted.removal import removal_of
from assignors.weighting import Weighting

Figures = dict[str, int | float | bool]


def weight_figures(
    problem: Problem, weighting: Weighting, *, favoured: Int32, target: Int32
) -> Figures:
    """Return the figures by weight of an assignment. `favoured` and `target` are int32[P].

    `use_max` and `use_min`: the largest and the least use of a member, weight divided by capacity;
    `use_bound`: no assignment has a largest use below it; `use_bound_budget`: nor has one whose
    moves cost no more than the budget, if there is one; `weight_moved`; `moves_least`: no
    assignment with such a `use_max` moves fewer partitions. Cost: that of `bounds`, O(P log P).
    """
    loads = loads_of(problem, weighting)
    load = weight_of_members(loads, target)
    use = largest(load, loads.capacity)
    moves = _moves_within(weighting)
    # Members within this use give up nothing: most members need no sort.
    giving = favoured if moves is not None else _above(loads, favoured, use)
    removal = removal_of(loads.weight, giving, loads.capacity)
    found = bounds(
        weight=loads.weight,
        topic_of=problem.topic_of,
        takes=problem.takes,
        class_of=problem.class_of,
        capacity=loads.capacity,
    ).use
    figures: Figures = {
        "use_max": float(use),
        "use_min": float((load / loads.capacity).min(initial=float(use))),
        "use_bound": float(found),
        "weight_moved": weight_moved(problem, weighting, favoured, target),
        "moves_least": removal.moves_to(use),
    }
    if moves is not None:
        figures["use_bound_budget"] = float(max(found, removal.use_within(moves)))
    return figures


def weight_moved(problem: Problem, weighting: Weighting, favoured: Int32, given: Int32) -> int:
    """Return the weight of the partitions that `metrics.moved_count` counts. Cost: O(P)."""
    moved = (favoured != NOBODY) & (given != favoured)
    return int(loads_of(problem, weighting).weight[moved].sum())


def _above(loads: Loads, owner: Int32, use: Fraction) -> Int32:
    """Return the owner of each partition, int32[P], with nobody for members up to a use."""
    is_above = weight_of_members(loads, owner) > floors(use, loads.capacity)
    # One place more, so that an owner of -1 finds False there.
    above: Int32 = np.where(np.append(is_above, False)[owner], owner, np.int32(NOBODY))
    return above


def _moves_within(weighting: Weighting) -> int | None:
    """Return how many partitions a budget can move at most, `None` where nothing is known."""
    if weighting.budget is None:
        return None
    costs = [one for values in weighting.move_costs.values() for one in values]
    cheapest = min([1, *costs])
    return weighting.budget // cheapest if cheapest else None


def weight_of_members(loads: Loads, owner: Int32) -> Int64:
    """Return the weight that each member has, int64[M]. `owner` is int32[P]. Cost: O(P + M)."""
    load = np.zeros(len(loads.capacity), dtype=np.int64)
    given = owner != NOBODY
    np.add.at(load, owner[given], loads.weight[given])
    return load
