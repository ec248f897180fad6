"""Traffic scenarios in a Spark session: their figures, as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assignors.simulation.spark import simulate_traffic
from tests.spark.timed_job import rows_of

SMALL = {
    "version": 1,
    "until_s": 300,
    "topics": {"t": 6},
    "members": [{"name": "a"}, {"name": "b"}],
}
ROWS = ((json.dumps(SMALL), 1), (json.dumps({**SMALL, "use": 0}), 2), (json.dumps(SMALL), None))
ASSIGNORS = ("range", "weighted/cooperative-weighted")


def main(session: Any, folder: Path) -> None:
    """Run the job and write its answers."""
    frame = session.createDataFrame(list(ROWS), "scenario string, seed bigint")
    answers = {"runs": rows_of(simulate_traffic(frame, assignors=ASSIGNORS))}
    (folder / "answers.json").write_text(json.dumps(answers))
