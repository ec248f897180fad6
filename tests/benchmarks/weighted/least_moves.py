"""Moves beside the fewest that are proved to be needed for the use that was reached.

`removal` counts what members have to give up, whoever receives (`assignors.weighted.removal`).
Where a member has few partitions that is far from what is possible, because the heaviest fit
nowhere; `room_model` knows that too.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from assignors.weighted.removal import removal_of
from assignors.weighted.solve import solve
from tests.benchmarks.weighted.peers.task import Task
from tests.benchmarks.weighted.room_model import least_by_model
from tests.benchmarks.weighted.workloads import (
    bound_of,
    drawn,
    loads,
    moves,
    search_of,
    without_giants,
)

TOLERANCE = Fraction(1, 20)
SIZES = (
    # members, partitions, groups
    (20, 200, 4),
    (20, 400, 4),
    (100, 1000, 4),
    (100, 2000, 4),
    (20, 2000, 4),
    (100, 10_000, 4),
    (100, 50_000, 4),
    (1000, 100_000, 2),
)


def least_by_removal(task: Task, use: int) -> int:
    """Return what members have to give up at least to come down to a use."""
    capacity = np.ones(task.member_count, dtype=np.int64)
    return removal_of(task.weight, task.owner, capacity).moves_to(Fraction(use))


def table() -> str:
    """Return the table: sums over the groups of a size."""
    lines = [
        "| members x partitions | use / bound | moves | by removal | ratio | by model | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for members, partitions, groups in SIZES:
        worst, done, removal, proved = 0.0, 0, 0, 0
        for seed in range(groups):
            task = without_giants(drawn(members, partitions, seed=seed))
            owner = solve(search_of(task, tolerance=TOLERANCE)).owner
            use = int(loads(task, owner).max())
            worst = max(worst, use / float(bound_of(task)))
            done += moves(task, owner)
            known = least_by_removal(task, use)
            removal += known
            proved += max(known, least_by_model(task, use))
        lines.append(
            f"| {members:,} x {partitions:,} | {worst:.4f} | {done:,} | {removal:,} "
            f"| {done / removal:.2f} | {proved:,} | {done / proved:.2f} |"
        )
    return "\n".join(lines)
