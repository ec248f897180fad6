"""The command `simulate` writes the same rows on both engines, of lines and of runs on a clock."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import GROUP, answers
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


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("java")
def test_spark_gives_the_same_lines(tmp_path: Path, spark_answers: SparkAnswers) -> None:
    lines = [
        '{"seed": 1, "events": 1, "id": "me"}',
        "x",
        json.dumps({**GROUP, "seed": 3, "events": 1}),
        '{"seed": 4, "subscription": "zz"}',
        '{"seed": 5, "members": 10000000}',
    ]
    given = "\n".join(lines)
    asked = ("simulate", "-", "--assignor", "cooperative-sticky")
    (tmp_path / "given").write_text(given)
    (tmp_path / "asked.json").write_text(json.dumps([[*asked, "--engine", "spark"]]))
    ((code, written, said),) = spark_answers("command_job", "classic", tmp_path)
    expected, expected_code = answers(*asked, given=given)
    assert code == expected_code == 2, said
    found = [json.loads(line) for line in written.splitlines()]
    # It differs from run to run.
    for each in (*found, *expected):
        each.pop("cpu_ms", None)
    assert found == expected
