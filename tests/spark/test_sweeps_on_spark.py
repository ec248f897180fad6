"""A sweep on three kinds of Spark gives the rows of plain Python, in their order."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignors.simulation.arrow import COORDINATORS
from assignors.simulation.timed.sweeps.rows import measured_rows
from assignors.simulation.timed.sweeps.sweep import sweep_from_document
from tests.spark.conftest import EVERY_KIND, SparkAnswers
from tests.spark.sweep_job import ROWS, SWEEP


@pytest.mark.spark
@pytest.mark.usefixtures("java")
@EVERY_KIND
def test_spark_gives_the_points_of_plain_python(
    kind: str, tmp_path: Path, spark_answers: SparkAnswers
) -> None:
    answers = spark_answers("sweep_job", kind, tmp_path)
    swept = [COORDINATORS.row(row) for row in answers["swept"]]
    assert swept == list(measured_rows(sweep_from_document(SWEEP).points()))
    given = [{"model": model, "check_us": check} for _, model, check in ROWS]
    assert [COORDINATORS.row(row) for row in answers["rows"]] == [
        {"factor": factor, **row}
        for (factor, *_), row in zip(ROWS, measured_rows(given), strict=True)
    ]
    assert [bool(row["error"]) for row in answers["rows"]] == [False, True, True, True]
