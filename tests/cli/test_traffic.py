"""`traffic`: a line for each run, and a sentence for what is no scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from assignors.cli.command import command
from assignors.simulation.traffic.rows import traffic_rows
from assignors.simulation.traffic.scenario import traffic_from_document
from assignors.simulation.traffic.worlds import WORLDS, world

SMALL = {
    "version": 1,
    "name": "mine",
    "until_s": 1200,
    "topics": {"t": 12},
    "members": [{"name": "m", "count": 3}],
    "rates": {"distribution": "hot", "spread": 8, "bursts_a_day": 0},
}
OURS = "weighted/cooperative-weighted"


def run(*arguments: str, given: str = "") -> Any:
    wide = {"COLUMNS": "190"}
    return CliRunner().invoke(command, ["traffic", *arguments], input=given, env=wide)


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "traffic.json"
    path.write_text(json.dumps(SMALL))
    return str(path)


@pytest.mark.parametrize("name", WORLDS)
def test_show_prints_what_is_read_as_the_same_scenario(name: str) -> None:
    done = run(name, "--show")
    assert done.exit_code == 0, done.stderr
    assert traffic_from_document(json.loads(done.stdout)) == world(name)


def test_show_prints_every_key_of_a_file(file: str) -> None:
    shown = json.loads(run(file, "--show").stdout)
    assert traffic_from_document(shown) == traffic_from_document(SMALL)
    assert shown["leader"]["decides_every_s"] == 60


def test_a_line_for_each_seed_and_assignor_has_its_figures(file: str) -> None:
    chosen = ("--assignor", "range", "--assignor", OURS, "--seed", "4", "--seeds", "2")
    done = run(file, *chosen, "-o", "jsonl")
    assert done.exit_code == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    runs = [{"scenario": SMALL, "seed": seed} for seed in (4, 5)]
    rows = traffic_rows(runs, assignors=["range", OURS])
    assert lines == [{"schema": 2, **row} for row in rows]
    # Members of `range` that have the heavy partition stay as they are; ours give others away.
    by_name = {line["assignor"]: line for line in lines}
    assert by_name["java/range"]["moves"] == 0
    assert by_name[OURS]["moves"] > 0
    assert by_name[OURS]["use_over_bound_mean"] < by_name["java/range"]["use_over_bound_mean"]
    again = run("-", *chosen, "-o", "jsonl", given=json.dumps(SMALL))
    assert again.stdout == done.stdout


def test_processes_give_the_same_lines(file: str) -> None:
    asked = (file, "--assignor", "sticky", "--seeds", "2", "-o", "jsonl")
    assert run(*asked, "--processes", "2").stdout == run(*asked).stdout


def test_a_terminal_shows_a_row_a_run_of_the_usual_assignors(file: str) -> None:
    shown = run(file, "-o", "table").stdout
    for name in ("java/range", "java/roundrobin", "optimal/sticky", "optimal/cooperative-sticky"):
        assert name in shown
    assert OURS in shown
    assert "use/bound" in shown


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON: "),
        ('{"version": 1, "members": [{"name": "a", "capacity": -5}]}', "members[0].capacity"),
        ('{"version": 1, "rates": {"spred": 1}}', "did you mean 'spread'?"),
    ],
)
def test_what_is_no_scenario_is_one_sentence_with_its_place(text: str, words: str) -> None:
    done = run("-", given=text)
    assert done.exit_code == 2
    assert words in done.stderr
    assert "standard input:" in done.stderr
    assert done.stdout == ""


def test_a_name_that_there_is_not_is_refused() -> None:
    assert "did you mean 'noisy'?" in run("nosy").stderr
    assert "known: noisy, catch-up, steady, day" in run("xyz").stderr
    assert "--seed is not for --show" in run("noisy", "--show", "--seed", "3").stderr
