"""Rolling restarts of 20 members x 200 partitions, many of them: cost and memory as runs grow.

    python -m tests.benchmarks.bench_restarts [--runs 1000,4000] [--engine spark|processes]
                                              [--protocol cooperative|eager|KIP-848]

A run is one seed; 100,000 of them are the full measurement: `--runs 100000`. Each count is played
from anew, in one session of Spark with two cores or in two processes, and all results are looked
at. Printed are CPU seconds of everything that was started, start of Spark aside, seconds on the
clock, and the largest resident memory of the Java process and of one Python worker, looked at every
half second. Spark's runs get a row after each tenth as well, of what is done by then.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, NamedTuple

import psutil

from assignors.simulation.processes import in_processes
from assignors.simulation.timed.scenario_document import document_from_scenario
from assignors.simulation.timed.tables.rows import result
from tests.benchmarks.bench_sweep import cpu_s
from tests.benchmarks.bench_timed import PROTOCOLS, restarts_of

RUNS_A_TASK = 250
"""Rows of Spark carry the text of the scenario: a task has so many of them in memory."""
LOOK_S = 0.5


class Engine(NamedTuple):
    """What plays runs."""

    settled: Callable[[int], int]
    """Plays so many runs and returns how many of them came to rest, with nothing found."""
    done: Callable[[], int]
    """How many of them are done, as far as one can see from outside."""


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
    with engine(text) as playing:
        for runs in map(int, options.runs.split(",")):
            measure(options.engine, playing, runs)


def measure(name: str, engine: Engine, runs: int) -> None:
    """Play so many runs and print the rows."""
    memory, is_over = Memory(), Event()
    start_s, start_cpu_s = time.monotonic(), cpu_s()

    def row(done: int) -> None:
        seconds, used = time.monotonic() - start_s, cpu_s() - start_cpu_s
        print(
            f"{done:>8} {name:<10} {used:>8.1f} {1000 * used / done:>9.1f} {seconds:>8.1f}"
            f" {done / seconds:>7.1f} {memory.java:>8} {memory.worker:>9}",
            flush=True,
        )

    def watch() -> None:
        tenths = 0
        while not is_over.wait(LOOK_S):
            memory.look()
            done = engine.done()
            if tenths < 10 * done // runs < 10:
                tenths = 10 * done // runs
                row(done)

    watching = Thread(target=watch)
    watching.start()
    try:
        good = engine.settled(runs)
    finally:
        is_over.set()
        watching.join()
    assert good == runs, f"{runs - good} runs have not settled"
    row(runs)


@contextmanager
def on_spark(text: str) -> Iterator[Engine]:
    """Yield what plays runs on a local Spark with two cores."""
    from pyspark.sql.functions import lit  # noqa: PLC0415 - the extra `spark`

    from assignors.simulation.spark import simulate_timed  # noqa: PLC0415 - as above
    from assignors.spark import local_session  # noqa: PLC0415 - as above

    session = local_session("local[2]")

    def settled(runs: int) -> int:
        tasks = max(2, runs // RUNS_A_TASK)
        seeds = session.range(runs, numPartitions=tasks).selectExpr("id AS seed")
        played = seeds.withColumn("scenario", lit(text)).transform(simulate_timed)
        return played.where("is_settled AND violations = 0 AND error IS NULL").count()

    status = session.sparkContext.statusTracker()

    def done() -> int:
        stages = [status.getStageInfo(each) for each in status.getActiveStageIds()]
        return RUNS_A_TASK * sum(each.numCompletedTasks for each in stages if each)

    try:
        settled(4)  # Python workers are started, and have imported the package
        yield Engine(settled, done)
    finally:
        session.stop()


@contextmanager
def in_two_processes(text: str) -> Iterator[Engine]:
    """Yield what plays runs in two processes."""

    def settled(runs: int) -> int:
        rows = ({"scenario": text, "seed": seed} for seed in range(runs))
        return sum(map(is_good, in_processes(rows, result, 2, RUNS_A_TASK)))

    yield Engine(settled, lambda: 0)


def is_good(row: dict[str, Any]) -> bool:
    """Return whether a run came to rest, and no monitor found anything."""
    return row["error"] is None and row["is_settled"] and not row["violations"]


if __name__ == "__main__":
    main()
