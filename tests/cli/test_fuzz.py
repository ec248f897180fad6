"""`fuzz`: exit codes, and the file with the smallest scenario."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.cli.test_options import run

WRONG = "tests.own_assignors.odd_ones:RAISES"


def test_no_violation_ends_with_0_and_says_what_was_played() -> None:
    done = run("fuzz", "3", "--seed", "1")
    assert done.exit_code == 0
    first, *_, last = done.stdout.splitlines()
    assert first.startswith("3 random scenarios, seeds 1 to 3, ")
    assert "  protocols: " in done.stdout
    assert "  faults: " in done.stdout
    assert last == "no monitor found a violation"


def test_a_wrong_assignor_is_found_and_its_smallest_scenario_plays_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = ("--protocol", "classic", "--assignor", WRONG)
    done = run("fuzz", "20", *wanted, "-o", "jsonl")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    file = tmp_path / f"violation-{found['seed']}.json"
    assert found["file"] == file.name
    assert json.loads(file.read_text("utf-8")) == found["scenario"]
    assert len(found["scenario"]["members"]) <= 2
    program, *again = shlex.split(found["again"])
    assert program == "kafka-assignors"
    played = run(*again)
    assert played.exit_code == 1
    assert played.stdout.splitlines()[-1] == found["first_violation"]


def test_the_file_can_be_named(tmp_path: Path) -> None:
    file = tmp_path / "small.json"
    done = run("fuzz", "20", "--assignor", WRONG, "--shrink", str(file))
    assert done.exit_code == 1
    assert str(file) in done.stdout
    assert file.is_file()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("0",), "0 is not in the range"),
        (("x",), "not a valid integer"),
        (("1", "--seed", "-1"), "seed -1: a natural number"),
        (("1", "--assignor", "server/uniform"), "assigns in the broker"),
        (("1", "--assignor", "range", "--protocol", "push"), "classic groups alone"),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[str, ...], words: str) -> None:
    done = run("fuzz", *arguments)
    assert done.exit_code == 2
    assert words in done.stderr
