"""How long the optimal solver takes, and how much memory, on groups of every kind.

    python -m tests.benchmarks.bench_optimal [part of a workload's name ...]

CPU milliseconds, the least of several runs; memory is the peak that numpy and Python
allocate during one more run, beyond the arguments.
"""

from __future__ import annotations

import sys
import time
import tracemalloc

from assignors.optimal.solve import Solved
from tests.optimal.groups import Arrays
from tests.optimal.workloads import EVENTS, LARGE, RACKED, SMALL, TINY, workload

NAMES = (*TINY, "U 20 x 200 / 10", *SMALL, *LARGE, *RACKED)


def cpu_ms(made: Arrays, *, run_min: int = 3, wall_seconds: float = 0.5) -> tuple[float, Solved]:
    """Return the least CPU time of a solution, and the solution."""
    best, runs, begin = float("inf"), 0, time.perf_counter()
    while runs < run_min or (time.perf_counter() - begin < wall_seconds and runs < 1000):
        start = time.process_time()
        solved = made.solve()
        best = min(best, time.process_time() - start)
        runs += 1
    return best * 1000, solved


def peak_mb(made: Arrays) -> float:
    """Return the peak of memory allocated while solving."""
    tracemalloc.start()
    made.solve()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def main(wanted: list[str]) -> None:
    """Print a table, a row for each workload and event."""
    print(f"{'members x partitions / topics':30} {'event':8} {'cpu ms':>9} {'peak MB':>8}", end="")
    print(f" {'kept':>8} {'levels':>6} {'phases':>6}")
    for name in NAMES:
        if wanted and not any(part in name for part in wanted):
            continue
        for event, made in workload(name):
            assert event in EVENTS
            spent, solved = cpu_ms(made)
            print(f"{name:30} {event:8} {spent:9.3f} {peak_mb(made):8.1f}", end="")
            print(f" {solved.kept:8} {solved.levels:6} {solved.phases:6}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
