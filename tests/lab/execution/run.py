"""Measures Kafka's broker and Java's clients, keeps what was measured, and writes the page.

    python -m tests.lab.execution.run                 # twelve minutes; alone on its machine
    python -m tests.lab.execution.run --parts traces  # one part

`tests.lab.execution.report` compares again what was kept.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from tests.interop.install import BROKER
from tests.lab.calibrate.run import processor
from tests.lab.execution import closings, commits, rebalances, recordings, traces
from tests.lab.execution.commits import RATES, SERVERS, Times
from tests.lab.execution.rebalances import Kind
from tests.lab.execution.report import write_results

REBALANCE_S = 270.0
REPETITIONS = 5
"""Of each way to close."""


def _commits(scratch: Path, folder: Path) -> None:
    rows = []
    for server in SERVERS:
        rows += commits.play(server, RATES, Times(), folder=scratch)
    recordings.save_commits(rows, folder)


def _rebalances(scratch: Path, folder: Path) -> None:
    played = rebalances.play(rebalances.CELLS, seconds=REBALANCE_S, folder=scratch)
    recordings.save_rebalances(played, folder)


def _traces(scratch: Path, folder: Path) -> None:
    recordings.save_traces(traces.play(tuple(Kind), folder=scratch), folder)


def _closings(scratch: Path, folder: Path) -> None:
    played = closings.play(closings.CELLS, repetitions=REPETITIONS, folder=scratch)
    recordings.save_closings(played, folder)


PARTS: dict[str, Callable[[Path, Path], None]] = {
    "commits": _commits,
    "rebalances": _rebalances,
    "traces": _traces,
    "closings": _closings,
}


def main() -> None:
    """Measure, keep, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--folder", type=Path, default=recordings.FOLDER)
    chosen = parser.parse_args()
    loads = recordings.loads(chosen.folder)
    for part in chosen.parts:
        began, before = time.monotonic(), os.getloadavg()[0]
        with tempfile.TemporaryDirectory(prefix="execution-") as scratch:
            PARTS[part](Path(scratch), chosen.folder)
        loads[part] = {
            "date": f"{datetime.now(tz=UTC):%Y-%m-%d}",
            "load_before": round(before, 2),
            "load_after": round(os.getloadavg()[0], 2),
            "seconds": round(time.monotonic() - began),
        }
        print(f"{part}: {loads[part]}", flush=True)
        machine = {
            "processor": processor(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "kafka": next(BROKER.made().glob("kafka-clients-*.jar")).stem.rpartition("-")[2],
            "parts": loads,
        }
        recordings.save_machine(machine, chosen.folder)
    if recordings.is_complete(chosen.folder):
        write_results(chosen.folder)


if __name__ == "__main__":
    main()
