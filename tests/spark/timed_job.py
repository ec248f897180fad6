"""Timed runs in a Spark session: results, intervals and the summary, as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assignors.simulation.spark import simulate_timed, summary, timed_intervals
from tests.spark.timed_scenarios import DDL, scenario_rows


def main(session: Any, folder: Path) -> None:
    """Run the job and write its answers."""
    rows = [tuple(row.values()) for row in scenario_rows()]
    frame = session.createDataFrame(rows, DDL)
    results = frame.repartition(5).transform(simulate_timed)
    results.write.parquet(str(folder / "results"))
    written = session.read.parquet(str(folder / "results"))
    answers: dict[str, Any] = {
        "results": rows_of(written),
        "intervals": rows_of(session.createDataFrame(rows[:2], DDL).transform(timed_intervals)),
        "summary": rows_of(written.transform(summary, by=("scenario", "factor"))),
        "refused": "",
    }
    try:
        frame.transform(summary, by=("SCENARIO",))
    except ValueError as error:
        answers["refused"] = str(error)
    (folder / "answers.json").write_text(json.dumps(answers))


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """The rows as plain data."""
    return [row.asDict(recursive=True) for row in frame.collect()]
