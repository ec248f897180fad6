"""Compares a recording with the simulator, and adds it to results.json.

    python -m tests.lab.calibrate.report --folder build/calibrate/a [--fit]

`--fit` finds the constants first, with which the recording's groups of ten are predicted best.
Without it everything is predicted with the kept ones: a change of the simulator is compared with
the last long run this way, without playing that again. A part with the folder's name is replaced.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from itertools import groupby
from math import ceil
from pathlib import Path
from typing import Any

from assignors.simulation.timed.scenario import Verb
from tests.interop.install import ROOT
from tests.lab.calibrate import fit
from tests.lab.calibrate.compare import compare
from tests.lab.calibrate.page import PAGE, RESULTS, page
from tests.lab.calibrate.plan import KINDS
from tests.lab.calibrate.predictions import predicts_one_by_one, trials_of
from tests.lab.calibrate.real import Recording
from tests.lab.calibrate.recordings import load
from tests.lab.calibrate.simulated import Constants

MACHINE = "machine.json"
RUNS, RUNS_MIN = 15, 2
"""Runs of a cell in all, and of each of its groups."""
COURSES, COURSES_MIN = 40, 5
"""The same of kinds of which a whole plan is one run: its figures depend on each other, and medians
of fifteen runs are tenths apart from those of another fifteen."""


def main() -> None:
    """Compare what was recorded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "calibrate")
    parser.add_argument("--fit", action="store_true")
    chosen = parser.parse_args()
    write_results(chosen.folder, fits=chosen.fit)


def write_results(folder: Path, *, fits: bool) -> None:
    """Compare the recordings of a folder, and write the results and the page. Cost: minutes."""
    recordings = load(folder)
    if fits:
        fit.keep(fit.kept() | fit.fit(recordings))
    constants = fit.kept()
    machine = json.loads((folder / MACHINE).read_text("utf-8"))
    rows = compared(recordings, constants)
    source = {
        "name": folder.name,
        **machine,
        "fitted": "all" if fits else "",
        "groups": max(row["groups"] for row in rows),
    }
    document = json.loads(RESULTS.read_text("utf-8"))
    others = [
        part
        for part in document["parts"]
        if folder.name not in {each["name"] for each in part["recordings"]}
    ]
    document = {
        "constants": {kind: asdict(each) for kind, each in constants.items()},
        "parts": [*others, {"recordings": [source], "rows": rows}],
    }
    RESULTS.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    PAGE.write_text(page(), "utf-8")


def compared(
    recordings: Sequence[Recording], constants: Mapping[str, Constants]
) -> list[dict[str, Any]]:
    """Return the comparison of each cell's joins and leaves, by kind and size."""
    cells = [list(each) for _, each in groupby(sorted(recordings, key=_place), key=_place)]
    with ProcessPoolExecutor() as processes:
        found = list(processes.map(partial(_of_cell, constants=constants), cells))
    return [row for rows in found for row in rows]


def _place(recording: Recording) -> tuple[int, int]:
    cell = recording.plan.cell
    return list(KINDS).index(cell.kind), cell.members


def _of_cell(
    several: Sequence[Recording], constants: Mapping[str, Constants]
) -> list[dict[str, Any]]:
    kind = several[0].plan.cell.kind
    is_short = predicts_one_by_one(KINDS[kind])
    in_all, least = (RUNS, RUNS_MIN) if is_short else (COURSES, COURSES_MIN)
    seeds = range(max(ceil(in_all / len(several)), least))
    trials = trials_of(several, constants[kind], seeds=seeds)
    return [compare(trials, verb) for verb in (Verb.START, Verb.STOP)]


if __name__ == "__main__":
    main()
