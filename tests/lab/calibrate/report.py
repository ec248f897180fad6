"""Compares recordings with the simulator, and writes RESULTS.md and results.json.

    python -m tests.lab.calibrate.report --folders build/calibrate/a build/calibrate/b
    python -m tests.lab.calibrate.report --folders build/calibrate/a --fit build/calibrate/a

The groups of all folders are compared together; their plans have seeds of their own. Without
`--fit` the kept constants are used: so a change of the simulator is held against the last long run
without playing it again, and everything that was recorded after the constants were found is
predicted. `--fit-looks` finds one constant anew, which the load of the machine decides.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from math import ceil
from pathlib import Path

from tests.interop.install import ROOT
from tests.lab.calibrate import fit
from tests.lab.calibrate.compare import Comparison, Trial, as_row, compare
from tests.lab.calibrate.page import VERBS, Source, as_text, near_by_class, summary
from tests.lab.calibrate.plan import KINDS
from tests.lab.calibrate.predictions import predicts_one_by_one, trials_of
from tests.lab.calibrate.real import Recording
from tests.lab.calibrate.recordings import load
from tests.lab.calibrate.simulated import Constants

HERE = Path(__file__).resolve().parent
MACHINE = "machine.json"
RUNS = 15
RUNS_MIN = 2
"""Of a cell in all, and of each of its groups."""
COURSES = 40
COURSES_MIN = 5
"""The same of kinds of which a whole plan is one run: its figures depend on each other, and medians
of fifteen runs are tenths apart from those of another fifteen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A cell's joins or leaves: in all recordings, and in each by itself."""

    pooled: Comparison
    alone: Mapping[str, Comparison]
    """By the recording's name."""


def main() -> None:
    """Compare again what was recorded."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = [ROOT / "build" / "calibrate"]
    parser.add_argument("--folders", type=Path, nargs="+", default=default)
    parser.add_argument("--fit", type=Path, help="look for constants in this folder first")
    parser.add_argument("--fit-looks", type=Path, help="the same, for how late clients look")
    chosen = parser.parse_args()
    if chosen.fit is not None:
        keep_constants(chosen.fit)
    if chosen.fit_looks is not None:
        fit.keep(fit.fit_looks(load(chosen.fit_looks)))
        _mark_fitted(chosen.fit_looks, "`wake_late_us`")
    write_results(chosen.folders)


def keep_constants(folder: Path) -> None:
    """Find the constants with which a recording's groups of ten are predicted best.

    Cost: minutes.
    """
    fit.keep(fit.kept() | fit.fit(load(folder)))
    _mark_fitted(folder, "all")


def write_results(folders: Sequence[Path]) -> None:
    """Compare the recordings of some folders, and write the two files of results beside this one.

    Cost: minutes.
    """
    recordings = {folder.name: load(folder) for folder in folders}
    assert len(recordings) == len(folders), "folders have names of their own"
    constants = fit.kept()
    rows = compared(recordings, constants)
    sources = [_source(folder, rows) for folder in folders]
    document = {
        "recordings": [asdict(source) for source in sources],
        "constants": {kind: asdict(each) for kind, each in constants.items()},
        "rows": [as_row(row.pooled) for row in rows],
    }
    pooled = [row.pooled for row in rows]
    (HERE / "results.json").write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    (HERE / "RESULTS.md").write_text(as_text(pooled, constants, sources), "utf-8")
    print(summary(pooled))


def compared(
    recordings: Mapping[str, Sequence[Recording]], constants: Mapping[str, Constants]
) -> list[Compared]:
    """Return the comparison of each cell's joins and leaves, by kind and size."""
    named = [(each, name) for name, several in recordings.items() for each in several]
    cells = [list(several) for _, several in groupby(sorted(named, key=_place), key=_place)]
    with ProcessPoolExecutor() as processes:
        found = list(processes.map(partial(_of_cell, constants=constants), cells))
    return [row for rows in found for row in rows]


def _place(named: tuple[Recording, str]) -> tuple[int, int]:
    cell = named[0].plan.cell
    return list(KINDS).index(cell.kind), cell.members


def _of_cell(
    named: Sequence[tuple[Recording, str]], constants: Mapping[str, Constants]
) -> list[Compared]:
    kind = named[0][0].plan.cell.kind
    is_short = predicts_one_by_one(KINDS[kind])
    in_all, least = (RUNS, RUNS_MIN) if is_short else (COURSES, COURSES_MIN)
    seeds = range(max(ceil(in_all / len(named)), least))
    trials = trials_of((each for each, _ in named), constants[kind], seeds=seeds)
    by_name: dict[str, list[Trial]] = {}
    for trial, (_, name) in zip(trials, named, strict=True):
        by_name.setdefault(name, []).append(trial)
    return [
        Compared(
            pooled=compare(trials, verb),
            alone={name: compare(several, verb) for name, several in by_name.items()},
        )
        for verb in VERBS
    ]


def _source(folder: Path, rows: Iterable[Compared]) -> Source:
    """Return what a recording is, and how many of its medians are near by themselves."""
    machine = json.loads((folder / MACHINE).read_text("utf-8"))
    alone = [row.alone[folder.name] for row in rows if folder.name in row.alone]
    return Source(
        name=folder.name,
        machine=machine,
        fitted=machine.get("fitted", ""),
        groups=max(each.groups for each in alone),
        repetitions=sum(each.repetitions for each in alone),
        near=near_by_class(alone),
    )


def _mark_fitted(folder: Path, names: str) -> None:
    path = folder / MACHINE
    machine = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**machine, "fitted": names}, indent=2), "utf-8")


if __name__ == "__main__":
    main()
