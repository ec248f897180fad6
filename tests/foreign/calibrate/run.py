"""Plays every cell on a broker of its own, then writes down what was predicted and what was not.

    python -m tests.foreign.calibrate.run --groups 3 --repetitions 11    # half an hour of waiting

Every cell is played by several groups, one after the other: the heartbeats of members that were
once apart stay so, and many repetitions in one group say less than as many in several. Groups of
one wave, of different cells, run side by side. The recordings stay in `--folder`, from where
`tests.foreign.calibrate.report` compares them again.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from assignors.simulation.timed.scenario import GroupProtocol
from tests.foreign.calibrate.crowds import versions
from tests.foreign.calibrate.plan import HEARTBEAT_MS, KINDS, Cell, cell, plan_of
from tests.foreign.calibrate.real import play, settings
from tests.foreign.calibrate.recordings import save
from tests.foreign.calibrate.report import write_results
from tests.interop.broker import Broker
from tests.interop.install import ROOT

FOLDER = ROOT / "build" / "calibrate"
SIZES = (3, 10, 30)
MACHINE = "machine.json"
LOOK_S = 10.0
STARTS_APART_S = 3.0
"""A group is founded by a process that is alone in starting."""


def main() -> None:
    """Play, save, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=3, help="of each cell")
    parser.add_argument("--repetitions", type=int, default=11, help="the first is left out")
    parser.add_argument("--seed", type=int, default=1, help="of the first group")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    loads = []
    for cells in waves():
        seen = [
            load
            for seed in range(chosen.seed, chosen.seed + chosen.groups)
            for load in _wave(cells, chosen, seed)
        ]
        loads.append(
            {
                "groups": len(cells),
                "load_median": round(median(seen), 1),
                "load_max": round(max(seen), 1),
            }
        )
    machine = {
        "date": f"{datetime.now(tz=UTC):%Y-%m-%d}",
        "processor": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "clients": versions(),
        "loads": loads,
    }
    (chosen.folder / MACHINE).write_text(json.dumps(machine, indent=2), "utf-8")
    write_results(chosen.folder, is_fitted=True)


def waves() -> list[list[Cell]]:
    """Return the cells that run at the same time: those that keep a core busy by themselves last.

    Thirty kafka-python members in one process do; all others together need a third of a core.
    """
    cells = [cell(kind, size) for kind in KINDS for size in SIZES]
    busy = [each for each in cells if each.members == SIZES[-1] and "python" in each.kind]
    return [[each for each in cells if each not in busy], busy]


def _wave(cells: Sequence[Cell], chosen: argparse.Namespace, seed: int) -> list[float]:
    """Play some cells side by side; return the load averages meanwhile."""
    plans = [plan_of(each, repetitions=chosen.repetitions, seed=seed) for each in cells]
    minutes = max(plan.until for plan in plans) / 60_000
    print(f"{len(plans)} groups: {minutes:.0f} minutes", flush=True)
    own = settings(HEARTBEAT_MS[GroupProtocol.CONSUMER])
    with (
        tempfile.TemporaryDirectory(prefix="calibrate-") as folder,
        Broker(own) as broker,
        _load() as seen,
    ):
        recordings = play(broker, plans, mark="run", folder=Path(folder), apart_s=STARTS_APART_S)
    save(recordings, chosen.folder, repetitions=chosen.repetitions, seed=seed)
    return seen


@contextmanager
def _load() -> Iterator[list[float]]:
    """Look at the load average of the machine every few seconds."""
    seen = [os.getloadavg()[0]]
    over = threading.Event()

    def look() -> None:
        while not over.wait(LOOK_S):
            seen.append(os.getloadavg()[0])

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def processor() -> str:
    """Return the name of the processor, where the system has it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


if __name__ == "__main__":
    main()
