"""Execution models of a coordinator: how many events a second are played, and points of a sweep.

    python -m tests.benchmarks.bench_coordinator [--requests N] [--runs N]

CPU seconds, the least of so many runs, for a load that every model keeps up with and one that those
with a worker in waiting do not.
"""

from __future__ import annotations

import argparse
import resource
import time

from assignors.simulation.timed.execution.load import Load
from assignors.simulation.timed.execution.measures import measure
from assignors.simulation.timed.execution.policy import POLICIES


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=30_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    loads = {
        "calm": Load(requests=options.requests, per_second=1000),
        "checked": Load(requests=options.requests, per_second=5000, check_us=2000),
    }
    print(f"{'load':<8} {'model':<10} {'seconds':>8} {'events':>9} {'events/s':>9} {'points/s':>9}")
    for what, load in loads.items():
        for name, policy in POLICIES.items():
            seconds = []
            for _ in range(options.runs):
                start = time.process_time_ns()
                measured = measure(policy, load)
                seconds.append((time.process_time_ns() - start) / 1e9)
            least = min(seconds)
            rate = measured.events / least
            # A point of a sweep plays 2,000 requests.
            points = load.requests / 2000 / least
            print(
                f"{what:<8} {name:<10} {least:>8.3f} {measured.events:>9} {rate:>9,.0f}"
                f" {points:>9.1f}",
                flush=True,
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak {peak:.0f} MB")


if __name__ == "__main__":
    main()
