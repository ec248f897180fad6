"""Rolling restarts of 20 members x 200 partitions, many of them: cost and memory as runs grow.

    python -m tests.benchmarks.bench_restarts [--runs 1000,4000] [--engine spark|processes]
                                              [--protocol cooperative|eager|KIP-848]

A run is one seed; 100,000 of them are the full measurement: `--runs 100000`. Each count is played
from anew, in one session of Spark with two cores or in two processes, and all results are looked
at. Printed are CPU seconds of everything that was started, start of Spark aside, seconds on the
clock, and the largest resident memory of the Java process and of one Python worker, looked at every
half second.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any

import psutil

from assignors.simulation.processes import in_processes
from assignors.simulation.timed.scenario_document import document_from_scenario
from assignors.simulation.timed.tables.rows import result_rows
from tests.benchmarks.bench_sweep import cpu_s
from tests.benchmarks.bench_timed import PROTOCOLS, restarts_of

RUNS_A_TASK = 250
"""Rows of Spark carry the text of the scenario: a task has so many of them in memory."""
LOOK_S = 0.5


@dataclass(slots=True)
class Memory:
    """The largest resident memory seen, in megabytes."""

    java: int = 0
    worker: int = 0

    def look(self) -> None:
        """Look at all processes that this one has started."""
        for each in psutil.Process().children(recursive=True):
            try:
                name, size = each.name(), each.memory_info().rss >> 20
            except psutil.NoSuchProcess:
                continue
            if name == "java":
                self.java = max(self.java, size)
            else:
                self.worker = max(self.worker, size)


def main() -> None:
    """Print a line for each number of runs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", default="250,1000")
    parser.add_argument("--engine", choices=["spark", "processes"], default="spark")
    parser.add_argument("--protocol", choices=PROTOCOLS, default="cooperative")
    options = parser.parse_args()
    text = json.dumps(document_from_scenario(restarts_of(options.protocol)))
    engine = on_spark if options.engine == "spark" else in_two_processes
    print(
        f"{'runs':>8} {'engine':<10} {'CPU s':>8} {'ms a run':>9} {'clock s':>8} {'runs/s':>7}"
        f" {'Java MB':>8} {'worker MB':>9}"
    )
    with engine(text) as settled:
        for runs in map(int, options.runs.split(",")):
            line(options.engine, runs, settled)


def line(engine: str, runs: int, settled: Callable[[int], int]) -> None:
    """Play so many runs and print one row."""
    memory, is_over = Memory(), Event()

    def watch() -> None:
        while not is_over.wait(LOOK_S):
            memory.look()

    watching = Thread(target=watch)
    watching.start()
    start_s, start_cpu_s = time.monotonic(), cpu_s()
    try:
        good = settled(runs)
    finally:
        is_over.set()
        watching.join()
    assert good == runs, f"{runs - good} runs have not settled"
    seconds, used = time.monotonic() - start_s, cpu_s() - start_cpu_s
    print(
        f"{runs:>8} {engine:<10} {used:>8.1f} {1000 * used / runs:>9.1f} {seconds:>8.1f}"
        f" {runs / seconds:>7.1f} {memory.java:>8} {memory.worker:>9}",
        flush=True,
    )


@contextmanager
def on_spark(text: str) -> Iterator[Callable[[int], int]]:
    """Yield what plays runs on a local Spark with two cores, and counts those that settled."""
    from pyspark.sql.functions import lit  # noqa: PLC0415 - the extra `spark`

    from assignors.simulation.timed.tables.spark import simulate  # noqa: PLC0415 - as above
    from assignors.spark import local_session  # noqa: PLC0415 - as above

    session = local_session("local[2]")

    def settled(runs: int) -> int:
        tasks = max(2, runs // RUNS_A_TASK)
        seeds = session.range(runs, numPartitions=tasks).selectExpr("id AS seed")
        played = seeds.withColumn("scenario", lit(text)).transform(simulate)
        return played.where("is_settled AND violations = 0 AND error IS NULL").count()

    try:
        settled(4)  # Python workers are started, and have imported the package
        yield settled
    finally:
        session.stop()


@contextmanager
def in_two_processes(text: str) -> Iterator[Callable[[int], int]]:
    """Yield what plays runs in two processes, and counts those that settled."""

    def settled(runs: int) -> int:
        rows = ({"scenario": text, "seed": seed} for seed in range(runs))
        return sum(map(is_good, in_processes(rows, play, 2, RUNS_A_TASK)))

    yield settled


def play(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the results of some runs."""
    return list(result_rows(rows))


def is_good(row: dict[str, Any]) -> bool:
    """Return whether a run came to rest, and no monitor found anything."""
    return row["error"] is None and row["is_settled"] and not row["violations"]


if __name__ == "__main__":
    main()
