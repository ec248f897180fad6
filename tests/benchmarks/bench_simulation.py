"""Group histories: rate by engine, cost in the number of scenarios, and one huge group.

    python -m tests.benchmarks.bench_simulation [--scenarios N] [--spark] [--no-huge]

Small groups are 20 members x 200 partitions with 5 events under cooperative-sticky; N of them
are played (100,000 is the full run), half of them first, so that linear cost can be seen. The
huge group has 10,000 members and 1,000,000 partitions; one member leaves. Wall seconds, which other
programs on the machine make longer, and CPU seconds of all processes (none for Spark, whose workers
are not ours); memory is the peak of the largest process.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from assignors.simulation.rounds.scenario_rows import simulate_rows

ASSIGNORS = ["cooperative-sticky"]
EVENTS = 5
PROCESSES = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--scenarios", type=int, default=400)
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--no-huge", action="store_true")
    options = parser.parse_args()
    before = os.getloadavg()[1]
    print(f"{'groups':<30} {'engine':<14} {'seconds':>8} {'events/s':>9}", end="")
    print(f" {'CPU s':>7} {'events/CPU s':>13} {'peak MB':>8}")
    count = options.scenarios
    for engine, processes in (("1 process", 1), ("2 processes", 2)):
        for number in (count // 2, count):
            line(f"{number} x 20 x 200", engine, number, partial(small, number, processes))
    if options.spark:
        line(f"{count} x 20 x 200", "Spark local[2]", count, partial(on_spark, count))
    if not options.no_huge:
        line("1 x 10,000 x 1,000,000", "1 process", 1 / 3, huge)
    print(f"load average of the machine: {before:.1f} before, {os.getloadavg()[1]:.1f} after")


def line(what: str, engine: str, scenarios: float, run: Callable[[], float]) -> None:
    """Print one row; `run` returns its wall seconds."""
    begin = cpu_s()
    seconds = run()
    spent, events = cpu_s() - begin, scenarios * (EVENTS + 1)
    cpu = f"{'':>21}" if "Spark" in engine else f"{spent:>7.1f} {events / spent:>13.1f}"
    peak = max(own_peak_kb(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024
    print(f"{what:<30} {engine:<14} {seconds:>8.1f} {events / seconds:>9.1f}", end="")
    print(f" {cpu} {peak:>8.0f}", flush=True)


def cpu_s() -> float:
    """Return the CPU seconds of this process and of those that it started and that have ended."""
    return sum(sum(resource.getrusage(one)[:2]) for one in PROCESSES)


def own_peak_kb() -> int:
    """Return the peak of this program alone; `ru_maxrss` may be that of what started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0])


def scenarios(count: int) -> Iterator[dict[str, Any]]:
    """Yield rows of small groups."""
    for seed in range(count):
        yield {"seed": seed, "members": 20, "topics": 10, "partitions": 200, "events": EVENTS}


def scenario_columns() -> list[str]:
    """Return the same rows as columns of Spark, in SQL; `id` is the seed."""
    (row,) = scenarios(1)
    return ["id AS seed", *(f"{value} AS {name}" for name, value in row.items() if name != "seed")]


def small(count: int, processes: int) -> float:
    """Return the seconds that playing `count` small groups takes."""
    start = time.perf_counter()
    played = sum(
        row["error"] is None and row["violations"] == 0
        for row in simulate_rows(scenarios(count), assignors=ASSIGNORS, processes=processes)
    )
    assert played == count * (EVENTS + 1), "every event of every scenario, and no law broken"
    return time.perf_counter() - start


def on_spark(count: int) -> float:
    """Return the seconds on Spark, session and warm-up aside."""
    from assignors.simulation.spark import simulate_rounds as on  # noqa: PLC0415 - the extra `spark`
    from assignors.spark import local_session  # noqa: PLC0415 - the extra `spark`

    session = local_session()
    try:
        on(
            session.range(2, numPartitions=2).selectExpr(*scenario_columns()), assignors=ASSIGNORS
        ).count()
        frame = session.range(count, numPartitions=16).selectExpr(*scenario_columns())
        start = time.perf_counter()
        good = on(frame, assignors=ASSIGNORS).where("violations = 0 AND error IS NULL").count()
        assert good == count * (EVENTS + 1)
        return time.perf_counter() - start
    finally:
        session.stop()


def huge() -> float:
    """Return the seconds for the start of a huge group and one event."""
    row = {
        "seed": 1,
        "members": 10_000,
        "topics": 1_000,
        "partitions": 1_000_000,
        "events": 1,
        "faults": False,
    }
    start = time.perf_counter()
    rows = list(simulate_rows([row], assignors=ASSIGNORS))
    assert [r["violations"] for r in rows] == [0, 0], rows
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
