"""Moves beside the fewest that are proved to be needed for the use that was reached.

`removal` counts what members have to give up, whoever receives (`assignors.weighted.removal`).
Where a member has few partitions that is far from what is possible, because the heaviest fit
nowhere; for groups of 20 members CP-SAT then proves more, within `SECONDS`.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from ortools.sat.python import cp_model

from assignors.weighted.removal import removal_of
from assignors.weighted.solve import solve
from tests.benchmarks.weighted.peers.task import Task
from tests.benchmarks.weighted.workloads import (
    bound_of,
    drawn,
    loads,
    moves,
    search_of,
    without_giants,
)

SECONDS = 30.0
SEEDS = range(4)
TOLERANCE = Fraction(1, 20)
SIZES = ((20, 200, True), (20, 400, True), (100, 1000, False), (100, 2000, False))
LARGE = ((20, 2000, False), (100, 10_000, False), (100, 50_000, False))


def least_by_removal(task: Task, use: int) -> int:
    """Return what members have to give up at least to come down to a use."""
    capacity = np.ones(task.member_count, dtype=np.int64)
    return removal_of(task.weight, task.owner, capacity).moves_to(Fraction(use))


def least_by_solver(task: Task, use: int) -> int:
    """Return a number of moves that CP-SAT proves to be needed for a use."""
    model = cp_model.CpModel()
    count, members = len(task.weight), task.member_count
    has = [[model.new_bool_var("") for _ in range(members)] for _ in range(count)]
    for row, owner in zip(has, task.owner.tolist(), strict=True):
        model.add_exactly_one(row)
        model.add_hint(row[owner], 1)
    for member in range(members):
        held = [int(task.weight[one]) * has[one][member] for one in range(count)]
        model.add(sum(held) <= use)
    model.minimize(sum(1 - has[one][int(task.owner[one])] for one in range(count)))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = SECONDS
    solver.parameters.num_workers = 1
    solver.solve(model)
    return int(np.ceil(solver.best_objective_bound - 1e-6))


def table() -> str:
    """Return the table: sums over the groups of a size."""
    lines = [
        "| members x partitions | use / bound | moves | by removal | ratio | by CP-SAT | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for members, partitions, is_solved in (*SIZES, *LARGE):
        worst, done, removal, proved = 0.0, 0, 0, 0
        for seed in SEEDS:
            task = without_giants(drawn(members, partitions, seed=seed))
            owner = solve(search_of(task, tolerance=TOLERANCE)).owner
            use = int(loads(task, owner).max())
            worst = max(worst, use / float(bound_of(task)))
            done += moves(task, owner)
            known = least_by_removal(task, use)
            removal += known
            proved += max(known, least_by_solver(task, use)) if is_solved else 0
        best = f"{proved:,} | {done / proved:.2f}" if proved else "- | -"
        lines.append(
            f"| {members} x {partitions:,} | {worst:.4f} | {done:,} | {removal:,} "
            f"| {done / removal:.2f} | {best} |"
        )
    return "\n".join(lines)
