"""A sweep in a Spark session: its points, and what was measured of them, as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assignors.simulation.spark import simulate_coordinators, sweep_points
from assignors.simulation.timed.sweeps.sweep import sweep_from_document
from tests.spark.timed_job import rows_of

SWEEP = {
    "version": 1,
    "models": ["blocking", "two-stage", "per-group"],
    "base": {"requests": 150, "groups": 5, "slow_group_check_us": 4000},
    "over": {"check_us": [0, 1000], "linger_us": [None, 2000]},
    "seeds": 2,
}
ROWS = (("a", "blocking", 1000), ("b", "fast", 0), ("c", "inline", -1), ("d", None, None))
DDL = "factor string, model string, check_us int"


def main(session: Any, folder: Path) -> None:
    """Run the job and write its answers."""
    frame = sweep_points(session, sweep_from_document(SWEEP))
    answers = {
        "swept": rows_of(frame.transform(simulate_coordinators)),
        "rows": rows_of(session.createDataFrame(list(ROWS), DDL).transform(simulate_coordinators)),
    }
    (folder / "answers.json").write_text(json.dumps(answers))
