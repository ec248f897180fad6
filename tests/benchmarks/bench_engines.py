"""Spark with two cores and two processes beside one process: what the second processor gains.

    python -m tests.benchmarks.bench_engines [--seconds N] [--repeats N]
                                             [--only rounds,timed,command]

* rounds: histories of 20 members x 200 partitions with 5 events, event by event
* timed: rolling restarts of 20 members x 200 partitions on a clock
* command: `simulate rolling-restart --seeds N --processes 1` against `--processes 2`,
  the start of Python included

Each engine plays the same, in turns; counts are such that one process takes about `--seconds`.
Given are the least seconds on the clock of all repeats, the least CPU seconds of all that was
started (Java included), and how many times as fast as one process that is. Spark's start and first
tasks are left out, as a session plays many tables; the start of two processes is not. Two and a
half minutes, on a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from assignors.simulation.processes import in_processes
from assignors.simulation.rounds.scenario_rows import simulate_rows
from assignors.simulation.timed.scenario_document import document_from_scenario
from assignors.simulation.timed.tables.rows import result
from tests.benchmarks.bench_restarts import is_good
from tests.benchmarks.bench_simulation import ASSIGNORS, EVENTS, scenario_columns, scenarios
from tests.benchmarks.bench_sweep import cpu_s
from tests.benchmarks.bench_timed import restarts_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RESTARTS = json.dumps(document_from_scenario(restarts_of("cooperative")))
TASKS = 16
RUNS_A_CHUNK = 25
FEW = {"rounds": 100, "timed": 20, "command": 20}
"""Histories or runs that are played first, to see how many take `--seconds`."""

Play = Callable[[int], None]
"""Plays so many histories or runs, and fails where one does not end well."""


@dataclass(slots=True)
class Least:
    """The least of all repeats."""

    clock_s: float = float("inf")
    cpu_s: float = float("inf")

    def measure(self, play: Play, count: int) -> None:
        """Play once more."""
        clock, cpu = time.perf_counter(), cpu_s()
        play(count)
        self.cpu_s = min(self.cpu_s, cpu_s() - cpu)
        self.clock_s = min(self.clock_s, time.perf_counter() - clock)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--only", default=",".join(FEW))
    options = parser.parse_args()
    before = os.getloadavg()[0]
    print(
        f"{'what':<9} {'engine':<16} {'count':>6} {'seconds':>8} {'CPU s':>7} {'a second':>9} times"
    )
    kinds = options.only.split(",")
    with_spark = {"rounds", "timed"}.intersection(kinds)
    session = spark_session() if with_spark else None
    try:
        for kind in kinds:
            compare(kind, engines_of(kind, session), options.seconds, options.repeats)
    finally:
        if session is not None:
            session.stop()
    print(f"load average of the machine: {before:.1f} before, {os.getloadavg()[0]:.1f} after")


def compare(kind: str, engines: Mapping[str, Play], seconds: float, repeats: int) -> None:
    """Measure the engines in turns and print a row for each; the first is the measure."""
    first = next(iter(engines.values()))
    first(2)  # imports
    few = Least()
    few.measure(first, FEW[kind])
    count = max(2, round(FEW[kind] * seconds / few.clock_s))
    for name, one in engines.items():
        if name.startswith("Spark"):
            one(2 * TASKS)  # its workers have imported the package then
    found = {name: Least() for name in engines}
    for _ in range(repeats):
        for name, one in engines.items():
            found[name].measure(one, count)
    alone = found[next(iter(engines))].clock_s
    for name, least in found.items():
        print(
            f"{kind:<9} {name:<16} {count:>6} {least.clock_s:>8.2f} {least.cpu_s:>7.2f}"
            f" {count / least.clock_s:>9.1f} {alone / least.clock_s:>5.2f}",
            flush=True,
        )


def spark_session() -> SparkSession:
    """Start a local Spark with two cores."""
    from assignors.spark import local_session  # noqa: PLC0415 - the extra `spark`

    return local_session("local[2]")


def engines_of(kind: str, session: SparkSession | None) -> dict[str, Play]:
    """Return what is compared: one process first."""
    if kind == "command":
        return {f"--processes {count}": partial(by_command, count) for count in (1, 2)}
    rows, spark = {"rounds": (rounds, rounds_on_spark), "timed": (timed, timed_on_spark)}[kind]
    assert session is not None, "both are compared with Spark"
    return {
        "1 process": partial(rows, 1),
        "2 processes": partial(rows, 2),
        "Spark local[2]": partial(spark, session),
    }


def rounds(processes: int, count: int) -> None:
    """Play histories event by event."""
    played = simulate_rows(scenarios(count), assignors=ASSIGNORS, processes=processes)
    good = sum(row["error"] is None and not row["violations"] for row in played)
    assert good == count * (EVENTS + 1)


def rounds_on_spark(session: SparkSession, count: int) -> None:
    """Play the same on Spark."""
    from assignors.simulation.spark import simulate_rounds  # noqa: PLC0415 - the extra `spark`

    frame = session.range(count, numPartitions=TASKS).selectExpr(*scenario_columns())
    played = simulate_rounds(frame, assignors=ASSIGNORS)
    assert played.where("violations = 0 AND error IS NULL").count() == count * (EVENTS + 1)


def timed(processes: int, count: int) -> None:
    """Play rolling restarts."""
    rows = ({"scenario": RESTARTS, "seed": seed} for seed in range(count))
    assert sum(map(is_good, in_processes(rows, result, processes, RUNS_A_CHUNK))) == count


def timed_on_spark(session: SparkSession, count: int) -> None:
    """Play the same on Spark."""
    from pyspark.sql.functions import lit  # noqa: PLC0415 - the extra `spark`

    from assignors.simulation.spark import simulate_timed  # noqa: PLC0415 - as above

    seeds = session.range(count, numPartitions=TASKS).selectExpr("id AS seed")
    played = seeds.withColumn("scenario", lit(RESTARTS)).transform(simulate_timed)
    assert played.where("is_settled AND violations = 0 AND error IS NULL").count() == count


def by_command(processes: int, count: int) -> None:
    """Run the command, and see that it has written a line for each run."""
    words = ["simulate", "rolling-restart", "-o", "jsonl", "--seeds", str(count)]
    asked = [sys.executable, "-m", "assignors", *words, "--processes", str(processes)]
    done = subprocess.run(asked, stdout=subprocess.PIPE, check=True)
    assert done.stdout.count(b"\n") == count


if __name__ == "__main__":
    main()
