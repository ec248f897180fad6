"""Compares what was measured with the models, and writes results.json and the page.

    python -m tests.lab.execution.report

A change of a model is held against the last long run this way, without playing that again.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.lab.execution import (
    closings,
    predicted_commits,
    predicted_rebalances,
    predicted_traces,
)
from tests.lab.execution.predicted_commits import REQUESTS
from tests.lab.execution.rebalances import Cell, Kind, Took
from tests.lab.execution.recordings import FOLDER, Recording, load
from tests.lab.execution.traces import Traces

RESULTS = Path(__file__).resolve().parent / "results.json"
VERBS = ("join", "leave")
PERCENTILES = (5, 50, 95)
NEAR = 0.1
NEAR_MS = 100.0
"""A median is near within 10 % or a tenth of a second: so long do new connections take."""


def main() -> None:
    """Compare again what is kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    write_results(parser.parse_args().folder)


def write_results(folder: Path) -> None:
    """Compare a recording, and write the results and the page."""
    found = results(load(folder))
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def results(recording: Recording, *, requests: int = REQUESTS) -> dict[str, Any]:
    """Return every comparison as a document. Cost: about a minute."""
    constants = predicted_commits.fit(recording.commits)
    return {
        "constants": constants._asdict(),
        "commits": [
            {**each._asdict(), "server": each.server._asdict()}
            for each in predicted_commits.compare(recording.commits, constants, requests=requests)
        ],
        "rebalances": [
            row for cell, took in recording.rebalances.items() for row in rebalance(cell, took)
        ],
        "traces": list(traces(recording.traces)),
        "closings": [closing(cell, closed) for cell, closed in recording.closings.items()],
    }


def rebalance(cell: Cell, took: Sequence[Took]) -> Iterable[dict[str, Any]]:
    """Yield the comparison of a group's joins, and of its leaves."""
    predicted = predicted_rebalances.by_timed_engine(cell)
    for verb in VERBS:
        real = _percentiles(took, verb)
        said = _percentiles(predicted, verb)
        yield {
            **cell._asdict(),
            "verb": verb,
            "count": sum(each.verb == verb for each in took),
            "real_ms": real,
            "predicted_ms": said,
            "is_near": _is_near(real[1], said[1]),
        }


def cell_of(row: Mapping[str, Any]) -> Cell:
    """Return the group of a row of the results."""
    return Cell(*(row[name] for name in Cell._fields))


def _percentiles(took: Iterable[Took], verb: str) -> list[float]:
    times = [each.took_ms for each in took if each.verb == verb]
    return [round(float(each), 1) for each in np.percentile(times, PERCENTILES)]


def _is_near(real: float, predicted: float) -> bool:
    return abs(real - predicted) <= max(NEAR * real, NEAR_MS)


def traces(played: Mapping[Kind, Traces]) -> Iterable[dict[str, Any]]:
    """Yield the comparison of each member's callbacks."""
    for kind, found in played.items():
        for name, members in found.items():
            for member, called in members.items():
                said = predicted_traces.predicted(kind, name, member)
                yield {
                    "kind": kind,
                    "scenario": name,
                    "member": member,
                    "is_hit": predicted_traces.real(called) in said,
                }


def closing(cell: closings.Cell, closed: Sequence[closings.Closed]) -> dict[str, Any]:
    """Return the comparison of a way to close."""
    allowed = closings.predicted(cell)
    left = [each.left for each in closed]
    return {
        **cell._asdict(),
        "left": _counts(left),
        "allowed": sorted(allowed),
        "is_hit": set(left) <= allowed,
        "answers": _counts(each.answer for each in closed),
        "close": _counts(each.close for each in closed),
    }


def _counts(found: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(found).items()))


if __name__ == "__main__":
    main()
