"""Traffic scenarios on a cluster that has this package as a zip: the rows of plain Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignors.simulation.arrow import TRAFFIC
from assignors.simulation.traffic.rows import traffic_rows
from tests.spark.conftest import SparkAnswers
from tests.spark.traffic_job import ASSIGNORS, ROWS


@pytest.mark.spark
@pytest.mark.usefixtures("java")
def test_spark_gives_the_figures_of_plain_python(
    tmp_path: Path, spark_answers: SparkAnswers
) -> None:
    given = [{"scenario": text, "seed": seed} for text, seed in ROWS]
    expected = list(traffic_rows(given, assignors=ASSIGNORS))
    assert [row["error"] is None for row in expected] == [True, True, False, True, True]
    found = spark_answers("traffic_job", "cluster", tmp_path)["runs"]
    assert [TRAFFIC.row(row) for row in found] == expected
