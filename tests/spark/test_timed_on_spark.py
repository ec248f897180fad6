"""Timed runs on three kinds of Spark give the rows of plain Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assignors.simulation.arrow import INTERVALS, TIMED
from assignors.simulation.timed.tables.rows import interval_rows, result_rows
from assignors.simulation.timed.tables.summary import summary_rows
from tests.spark.conftest import EVERY_KIND, SparkAnswers
from tests.spark.timed_scenarios import scenario_rows


def in_any_order(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


@pytest.mark.spark
@pytest.mark.usefixtures("java")
@EVERY_KIND
def test_spark_gives_the_timed_rows_of_plain_python(
    kind: str, tmp_path: Path, spark_answers: SparkAnswers
) -> None:
    answers = spark_answers("timed_job", kind, tmp_path)
    rows = scenario_rows()
    plain = [
        {"factor": row["factor"], **made} for row, made in zip(rows, result_rows(rows), strict=True)
    ]
    assert in_any_order([TIMED.row(row) for row in answers["results"]]) == in_any_order(plain)
    assert in_any_order([INTERVALS.row(row) for row in answers["intervals"]]) == in_any_order(
        [{"factor": row["factor"], **made} for row in rows[:2] for made in interval_rows([row])]
    )
    summary = summary_rows(plain, by=("scenario", "factor"))
    assert in_any_order(answers["summary"]) == in_any_order([*summary])
    assert answers["refused"].startswith("no column error, ")  # of scenarios that were not run
