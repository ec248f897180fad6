"""One decision of each peer and of `weighted`, from owners balanced by count: uses and moves."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from assignors.arrays import Int32
from assignors.weighted.solve import solve
from tests.benchmarks.weighted.peers.all_peers import PEERS, kcl_runs
from tests.benchmarks.weighted.peers.task import Peer, Task
from tests.benchmarks.weighted.workloads import (
    KINDS,
    bound_of,
    drawn,
    loads,
    moves,
    search_of,
    without_giants,
)

OURS = {"weighted, 10 %": Fraction(1, 10), "weighted, 5 %": Fraction(1, 20)}
PER_OURS = "weighted, 5 %"
SIZE = (100, 2000)
SEEDS = range(3)


def _drawn(kind: str, seed: int) -> Task:
    return drawn(*SIZE, kind, seed)


WORKLOADS: dict[str, Callable[[int], Task]] = {
    "log-normal, none above the mean": lambda seed: without_giants(drawn(*SIZE, seed=seed)),
    **{kind: partial(_drawn, kind) for kind in KINDS},
}


def ours(tolerance: Fraction) -> Peer:
    """Return `weighted` with a tolerance, as a peer."""

    def decide(task: Task) -> Int32:
        return solve(search_of(task, tolerance=tolerance)).owner

    return decide


CONTENDERS: dict[str, Peer] = {
    **PEERS,
    "KCL 3, ten runs": kcl_runs,
    **{name: ours(tolerance) for name, tolerance in OURS.items()},
}


def decided(peer: Callable[[Task], Int32], task: Task) -> tuple[float, int, float, float]:
    """Return the largest use over the bound, moves, the part of the weight moved, and seconds."""
    begun = time.process_time()
    owner = peer(task)
    seconds = time.process_time() - begun
    moved = int(task.weight[owner != task.owner].sum()) / int(task.weight.sum())
    return int(loads(task, owner).max()) / float(bound_of(task)), moves(task, owner), moved, seconds


def table() -> str:
    """Return the table, means over the seeds; the last column is moves over those of `weighted`."""
    lines = [
        "| weights | contender | use / bound | moves | weight moved | CPU ms | of ours at 5 % |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind, task_of in WORKLOADS.items():
        tasks = [task_of(seed) for seed in SEEDS]
        found = {
            name: [sum(column) / len(tasks) for column in zip(*rows, strict=True)]
            for name, rows in (
                (name, [decided(peer, task) for task in tasks]) for name, peer in CONTENDERS.items()
            )
        }
        least = max(found[PER_OURS][1], 1)
        for name, (use, count, moved, seconds) in found.items():
            lines.append(
                f"| {kind} | {name} | {use:.3f} | {count:,.0f} | {moved:.1%} "
                f"| {seconds * 1e3:,.1f} | {count / least:.1f} |"
            )
    return "\n".join(lines)
