"""A sweep of 1,000 points: in this process, in two processes, and on a Spark with two cores.

    python -m tests.benchmarks.bench_sweep [--seeds N] [--engine python|processes|spark]

Prints CPU seconds of everything that was started, and those on the clock beside them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable

import psutil

from assignors.simulation.timed.sweeps.rows import measured_rows
from assignors.simulation.timed.sweeps.sweep import Sweep, sweep_from_document

SWEEP = {
    "version": 1,
    "models": ["wait-all", "blocking", "two-stage", "per-group", "inline"],
    "base": {"requests": 2000, "changes_share": 0.2},
    "over": {
        "check_us": [0, 100, 500, 2000, 10_000],
        "groups": [4, 32, 256, 2048],
        "per_second": [500, 2000, 8000, 20_000, 40_000],
    },
}
SEEDS = 2
"""So that there are 1,000 points."""


def python(sweep: Sweep) -> Iterable[object]:
    """Play in this process."""
    return measured_rows(sweep.points())


def processes(sweep: Sweep) -> Iterable[object]:
    """Play in two processes."""
    return measured_rows(sweep.points(), processes=2)


def spark(sweep: Sweep) -> Iterable[object]:
    """Play on a local Spark with two cores, its start included."""
    from assignors.simulation.spark import simulate_coordinators, sweep_points  # noqa: PLC0415 - an extra
    from assignors.spark import local_session  # noqa: PLC0415 - as above

    return (
        sweep_points(local_session("local[2]"), sweep)
        .transform(simulate_coordinators)
        .toLocalIterator()
    )


ENGINES: dict[str, Callable[[Sweep], Iterable[object]]] = {
    "python": python,
    "processes": processes,
    "spark": spark,
}


def main() -> None:
    """Print a line for the engine."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", choices=ENGINES, default="python")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    options = parser.parse_args()
    sweep = sweep_from_document({**SWEEP, "seeds": options.seeds})
    start_s, start_cpu_s = time.monotonic(), cpu_s()
    count = 0
    most_s = 0.0
    for count, _ in enumerate(ENGINES[options.engine](sweep), 1):
        if count % 50 == 0 or count == sweep.count:
            most_s = max(most_s, cpu_s())  # what has ended since is counted by its parent
    print(
        f"{options.engine}: {count:,} points, {most_s - start_cpu_s:.0f} CPU seconds,"
        f" {time.monotonic() - start_s:.0f} on the clock"
    )


def cpu_s() -> float:
    """CPU seconds of this process and of all that it has started."""
    own = psutil.Process()
    total = 0.0
    for each in (own, *own.children(recursive=True)):
        try:
            times = each.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


if __name__ == "__main__":
    main()
