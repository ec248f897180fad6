"""`sweep`: a line for each point, and a sentence for what is no sweep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from assignors.cli.command import command
from assignors.simulation.timed.sweeps.rows import measured_rows
from assignors.simulation.timed.sweeps.sweep import sweep_from_document

SWEEP = {
    "version": 1,
    "models": ["blocking", "two-stage"],
    "base": {"requests": 200, "per_second": 4000},
    "over": {"check_us": [0, 4000], "linger_us": [None, 3000]},
}


def run(*arguments: str, given: str = "") -> Any:
    wide = {"COLUMNS": "150"}
    return CliRunner().invoke(command, ["sweep", *arguments], input=given, env=wide)


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "sweep.json"
    path.write_text(json.dumps(SWEEP))
    return str(path)


def test_a_line_for_each_point_has_its_load_and_its_figures(file: str) -> None:
    done = run(file, "-o", "jsonl")
    assert done.exit_code == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    points = measured_rows(sweep_from_document(SWEEP).points())
    assert lines == [{"schema": 2, **point} for point in points]
    assert {line["is_sustained"] for line in lines} == {True, False}
    assert run("-", "-o", "jsonl", given=json.dumps(SWEEP)).stdout == done.stdout


def test_processes_give_the_same_lines(file: str) -> None:
    alone = run(file, "-o", "jsonl").stdout
    assert run(file, "-o", "jsonl", "--processes", "2").stdout == alone


def test_a_terminal_shows_what_is_swept_beside_the_figures_that_say_most(file: str) -> None:
    shown = run(file, "-o", "table").stdout
    assert "check_us" in shown
    assert "linger_us" in shown
    assert shown.count("blocking") == shown.count("two-stage") == 4
    assert " no " in shown


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON: "),
        ('{"version": 1, "over": {"check_us": [0, -5]}}', "over.check_us[1]"),
        ('{"version": 1, "over": {"check_ms": [0]}}', "did you mean 'check_us'?"),
    ],
)
def test_what_is_no_sweep_is_one_sentence_with_its_place(text: str, words: str) -> None:
    done = run("-", given=text)
    assert done.exit_code == 2
    assert words in done.stderr
    assert "standard input:" in done.stderr
    assert done.stdout == ""


def test_a_file_that_is_not_there_is_refused() -> None:
    assert "no-such.json: No such file" in run("no-such.json").stderr
