"""Plays every cell on a broker of its own, then writes down what was predicted and what was not.

    python -m tests.lab.calibrate.run --groups 3 --repetitions 11    # half an hour of waiting

Every cell is played by several groups: the heartbeats of members that were once apart stay so, and
many repetitions in one group say less than as many in several. Groups of one wave, of different
cells, run side by side. The recordings stay in `--folder`, where
`tests.lab.calibrate.report` compares them again:

    python -m tests.lab.calibrate.run --groups 6 --seed 101 --side-by-side 2 \\
        --folder build/calibrate/b --only-record
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from assignors.simulation.timed.scenario import GroupProtocol
from tests.interop.broker import Broker
from tests.interop.install import ROOT
from tests.lab.calibrate.crowds import versions
from tests.lab.calibrate.plan import HEARTBEAT_MS, KINDS, Cell, cell, plan_of
from tests.lab.calibrate.real import play, settings
from tests.lab.calibrate.recordings import save
from tests.lab.calibrate.report import MACHINE, write_results

FOLDER = ROOT / "build" / "calibrate"
SIZES = (3, 10, 30)
LOOK_S = 10.0
STARTS_APART_S = 3.0
"""A group is founded by a process that is alone in starting."""


def main() -> None:
    """Play, save, compare."""
    chosen = _options()
    known: dict[int, list[float]] = {}
    seeds = range(chosen.seed, chosen.seed + chosen.groups)
    for some in _batches(seeds, chosen.side_by_side):
        for place, cells in enumerate(waves(chosen.kinds, chosen.sizes)):
            known.setdefault(place, []).extend(_wave(cells, chosen, some))
            _keep_machine(chosen, known)
    if not chosen.only_record:
        write_results(chosen.folder, fits=True)


def _batches(seeds: range, size: int) -> list[range]:
    return [seeds[at : at + size] for at in range(0, len(seeds), size)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=3, help="of each cell")
    parser.add_argument("--repetitions", type=int, default=11, help="the first is left out")
    parser.add_argument("--seed", type=int, default=1, help="of the first group")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--sizes", nargs="+", type=int, choices=SIZES, default=list(SIZES))
    parser.add_argument("--side-by-side", type=int, default=1, help="groups of each cell at a time")
    parser.add_argument("--only-record", action="store_true", help="compare later, by the report")
    return parser.parse_args()


def waves(kinds: Sequence[str], sizes: Sequence[int]) -> list[list[Cell]]:
    """Return the cells that run at the same time: those that keep a core busy by themselves last.

    Thirty kafka-python members in one process do; all others together need a third of a core.
    """
    cells = [cell(kind, size) for kind in kinds for size in sizes]
    busy = [each for each in cells if each.members == SIZES[-1] and "python" in each.kind]
    return [wave for wave in ([each for each in cells if each not in busy], busy) if wave]


def _wave(cells: Sequence[Cell], chosen: argparse.Namespace, seeds: Sequence[int]) -> list[float]:
    """Play some cells side by side; return the load averages meanwhile."""
    plans = [
        plan_of(each, repetitions=chosen.repetitions, seed=seed) for seed in seeds for each in cells
    ]
    minutes = max(plan.until for plan in plans) / 60_000
    print(f"{len(plans)} groups: {minutes:.0f} minutes", flush=True)
    own = settings(HEARTBEAT_MS[GroupProtocol.CONSUMER])
    with (
        tempfile.TemporaryDirectory(prefix="calibrate-") as folder,
        Broker(own) as broker,
        _load() as seen,
    ):
        recordings = play(broker, plans, mark="run", folder=Path(folder), apart_s=STARTS_APART_S)
    save(recordings, chosen.folder)
    return seen


def _keep_machine(chosen: argparse.Namespace, known: Mapping[int, Sequence[float]]) -> None:
    """Write down on what machine the recordings were made, and how busy it was meanwhile."""
    cells = waves(chosen.kinds, chosen.sizes)
    machine = {
        "date": f"{datetime.now(tz=UTC):%Y-%m-%d}",
        "processor": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "clients": versions(),
        "loads": [
            {
                "groups": chosen.side_by_side * len(cells[place]),
                "load_median": round(median(seen), 1),
                "load_max": round(max(seen), 1),
            }
            for place, seen in known.items()
        ],
    }
    (chosen.folder / MACHINE).write_text(json.dumps(machine, indent=2), "utf-8")


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
