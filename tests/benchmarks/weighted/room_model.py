"""The fewest moves to a use, proved by a mixed-integer program that is easier than the problem.

`removal` counts what members have to give up, whoever receives. Where a partition is heavier than
the room of every member, its receiver has to give up others for it. The program knows this: a heavy
partition that leaves its owner arrives at one member. Where the light ones arrive is left out, so
its least number of moves is no more than that of any assignment. Of the light partitions a member
gives up the heaviest, as then nothing else counts but their weight.
"""

from __future__ import annotations

from math import ceil

import numpy as np
from ortools.linear_solver import pywraplp

from assignors.arrays import Int64
from tests.benchmarks.weighted.peers.task import Task
from tests.benchmarks.weighted.workloads import loads

SECONDS = 20.0
PIECES = 6
"""So many lines for each member bound how much its lightest further partitions weigh."""


def least_by_model(task: Task, use: int, seconds: float = SECONDS) -> int:
    """Return a number of moves that no assignment with this largest use is below.

    Members are equal, and take everything. What is proved when the time is over holds, too.
    """
    model = pywraplp.Solver.CreateSolver("SCIP")
    model.SetTimeLimit(int(seconds * 1000))
    room = use - loads(task, task.owner)
    heavy = np.flatnonzero(task.weight > room.max()).tolist()
    leaves = {one: model.BoolVar("") for one in heavy}
    arrives = {
        (one, member): model.BoolVar("")
        for one in heavy
        for member in range(task.member_count)
        if member != task.owner[one]
    }
    for one in heavy:
        model.Add(sum(var for (which, _), var in arrives.items() if which == one) == leaves[one])
    counts = []
    for member in range(task.member_count):
        own = {one: leaves[one] for one in heavy if task.owner[one] == member}
        new = {one: var for (one, where), var in arrives.items() if where == member}
        light = np.setdiff1d(np.flatnonzero(task.owner == member), heavy)
        given = np.append(0, np.cumsum(-np.sort(-task.weight[light])))
        counts.append(_count(model, task, (own, new), given, -int(room[member])))
    model.Minimize(sum(leaves.values()) + sum(counts))
    model.Solve()
    return ceil(float(model.Objective().BestBound()) - 1e-6)


def _fewest(given: Int64, excess: int) -> int:
    """Return how many of the heaviest light ones a member gives up; one more than all: too few."""
    return 0 if excess <= 0 else int(np.searchsorted(given, excess))


def _count(
    model: pywraplp.Solver,
    task: Task,
    moved: tuple[dict[int, pywraplp.Variable], dict[int, pywraplp.Variable]],
    given: Int64,
    excess: int,
) -> pywraplp.Variable:
    """Return how many light partitions a member gives up, as a variable.

    `moved` is the heavy ones that leave it, and those that arrive; `given` int64[n + 1], the weight
    of its 0, 1, 2, ... heaviest light ones; `excess` what it has above the use.
    """
    own, new = moved
    count = model.IntVar(0, len(given) - 1, "")
    relief = sum(int(task.weight[one]) for one in own)
    gone, stays = _fewest(given, excess - relief), _fewest(given, excess)
    model.Add(count >= gone)
    if own:
        model.Add(count >= stays - (stays - gone) * sum(own.values()))
    for one, var in new.items():
        needed = _fewest(given, excess - relief + int(task.weight[one]))
        model.Add(count >= gone + (needed - gone) * var)
    out = sum(int(task.weight[one]) * var for one, var in own.items())
    into = sum(int(task.weight[one]) * var for one, var in new.items())
    # Further light ones are no heavier than the next of the heaviest.
    for place in range(min(stays, len(given) - 1), min(stays + PIECES, len(given) - 1)):
        step = int(given[place + 1] - given[place])
        model.Add(int(given[place]) + step * (count - place) >= excess + into - out)
    return count
