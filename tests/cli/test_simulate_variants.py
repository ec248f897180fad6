"""`simulate --scenario --assignor`: which assignor is played under which protocol."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from assignors.cli.command import command
from tests.cli.running import answers, called

TWICE = "tests.own_assignors.wrapped:TWICE"


def test_assignors_and_protocols_are_compared_side_by_side(tmp_path: Path) -> None:
    page = tmp_path / "restart.html"
    asked = (
        *("simulate", "--scenario", "rolling-restart", "--protocol", "classic,consumer"),
        *("--assignor", "range", "--assignor", "cooperative-sticky", "--report", str(page)),
    )
    rows, code = answers(*asked)
    assert code == 0
    names = [(row["protocol"], row["assignor"]) for row in rows]
    assert names == [
        ("classic", "java/range"),
        ("classic", "optimal/cooperative-sticky"),
        ("consumer", "server/uniform"),
    ]
    assert rows[0]["moves"] > rows[1]["moves"] == rows[2]["moves"]
    text = page.read_text()
    assert all(f">{protocol}, {assignor}</h3>" in text for protocol, assignor in names)
    eager, _ = answers("simulate", "--scenario", "rolling-restart-eager")
    assert rows[0]["moves"] == eager[0]["moves"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("--protocol", "consumer", "--assignor", "range"), "range is for the protocol classic"),
        (("--assignor", "server/uniform"), "it is for the protocols consumer and push"),
        (("--assignor", "range", "--show"), "--assignor has no effect beside --show"),
        (("--protocol", "consumer", "--assignor", TWICE), f"{TWICE} is for the protocol classic"),
        (("--own-assignor", "range"), "'range' is not package.module:object"),
        (("--own-assignor", "no.such:X"), "cannot import 'no.such:X': No module named 'no'"),
    ],
)
def test_an_assignor_that_no_run_can_have_is_refused(asked: tuple[str, ...], words: str) -> None:
    done = called("simulate", "--scenario", "crash", *asked)
    assert done.returncode == 2
    assert words in done.stderr.decode()


def test_a_brokers_assignor_is_played_where_the_broker_assigns() -> None:
    rows, code = answers(
        *("simulate", "--scenario", "crash", "--protocol", "classic,consumer"),
        *("--assignor", "server/range", "--assignor", "server/uniform"),
    )
    assert code == 0
    assert [(row["protocol"], row["assignor"]) for row in rows] == [
        ("classic", "java/cooperative-sticky"),
        ("consumer", "server/range"),
        ("consumer", "server/uniform"),
    ]


def test_own_assignors_are_compared_with_those_of_the_registry(tmp_path: Path) -> None:
    page = tmp_path / "own.html"
    asked = ("simulate", "--scenario", "crash", "--assignor", f"{TWICE},range")
    (twice, known), code = answers(*asked, "--report", str(page))
    assert code == 1
    assert (twice["assignor"], known["assignor"]) == (TWICE, "java/range")
    assert twice["double_partition_ms"] > 0 == known["violations"]
    assert f">classic, {TWICE}</h3>" in page.read_text()


def test_a_file_names_an_own_assignor_that_the_command_line_allows() -> None:
    member = {"name": "c", "topics": ["t"], "count": 2, "assignors": [TWICE]}
    scenario = {"version": 1, "until_ms": 9000, "topics": {"t": 4}, "members": [member]}
    asked, given = ("simulate", "--scenario", "-"), json.dumps(scenario)
    refused = called(*asked, given=given.encode())
    assert refused.returncode == 2
    assert f"'{TWICE}' is not imported, as scenarios are data" in refused.stderr.decode()
    assert refused.stderr.decode().strip().endswith("at members[0].assignors[0]")
    for leave in (("--own-assignor", TWICE), ("--own-assignor", TWICE, "--assignor", TWICE)):
        (row,), code = answers(*asked, *leave, given=given)
        assert (code, row["assignor"], row["error"]) == (1, TWICE, None)
    shown = CliRunner().invoke(command, [*asked, "--own-assignor", TWICE, "--show"], input=given)
    assert json.loads(shown.stdout)["members"][0]["assignors"] == [TWICE]
