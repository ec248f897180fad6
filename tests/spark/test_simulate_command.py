"""The command `simulate` writes the same rows of runs on a clock on both engines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import answers
from tests.spark.conftest import SparkAnswers


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("java")
def test_spark_writes_what_python_writes(tmp_path: Path, spark_answers: SparkAnswers) -> None:
    both = ("--protocol", "consumer", "--protocol", "classic", "--seeds", "3", "--seed", "5")
    models = ("--client", "in_poll", "--client", "background_thread")
    asked = ("simulate", "--scenario", "crash", *both, *models)
    (tmp_path / "asked.json").write_text(json.dumps([[*asked, "--engine", "spark"]]))
    ((code, written, said),) = spark_answers("command_job", "classic", tmp_path)
    assert code == 0, said
    assert [json.loads(line) for line in written.splitlines()] == answers(*asked)[0]
