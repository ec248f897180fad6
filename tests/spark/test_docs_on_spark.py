"""Every example of docs/spark.md does what it shows, over Connect, where least is possible."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.examples import blocks
from tests.spark.conftest import SparkAnswers


@pytest.mark.spark
@pytest.mark.usefixtures("java")
@pytest.mark.parametrize("kind", ["connect"])
def test_the_page_about_spark_is_right(
    kind: str, tmp_path: Path, spark_answers: SparkAnswers
) -> None:
    assert len(blocks("docs/spark.md", "python spark")) >= 3
    assert spark_answers("docs_job", kind, tmp_path) == ""
