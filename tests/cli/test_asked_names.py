"""Tables name assignors as they were asked for; one assignor is not named twice."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from assignors.cli.command import command
from tests.cli.running import GROUP

SMALL = ("--seeds", "1", "--events", "0", "--members", "2", "--topics", "1")
KAFKAS = "org.apache.kafka.clients.consumer."
SETTING = (
    f"partition.assignment.strategy=[class {KAFKAS}RangeAssignor, class "
    f"{KAFKAS}CooperativeStickyAssignor]"
)


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("assign", "--compare", "optimal/sticky,uniform"), ("optimal/sticky", "uniform")),
        (("assign", "--compare", "sticky,java/range"), ("sticky", "java/range")),
        (("assign", "--compare", SETTING), ("RangeAssignor", "CooperativeStickyAssignor")),
        (("histories", *SMALL, "--assignor", "optimal/sticky"), ("optimal/sticky",)),
        (("histories", *SMALL, "--assignor", "uniform"), ("uniform",)),
        (
            ("what-if", "-", "--assignor", KAFKAS + "StickyAssignor"),
            ("StickyAssignor",),
        ),
        (("replay", "--sample", "--table", "outcomes", "--what-if", "sticky"), ("sticky",)),
    ],
)
def test_a_table_has_the_names_that_were_typed(
    arguments: tuple[str, ...], names: tuple[str, ...]
) -> None:
    given = json.dumps(GROUP) if {"what-if", "--compare"} & {*arguments} else ""
    done = CliRunner(env={"COLUMNS": "140"}).invoke(
        command, [*arguments, "-o", "table"], input=given
    )
    words = done.stdout.split()
    assert done.exit_code in {0, 1}, done.stderr
    assert set(names) <= set(words)
    assert not {"server/uniform", "java/sticky", "java/cooperative-sticky"} & set(words)


def test_what_is_no_table_has_the_full_name() -> None:
    asked = ["histories", *SMALL, "--assignor", "uniform", "-o", "jsonl"]
    assert json.loads(CliRunner().invoke(command, asked).stdout)["assignor"] == "server/uniform"


@pytest.mark.parametrize(
    "arguments",
    [
        ("histories", "--assignor", "sticky", "--assignor", "sticky"),
        ("histories", "--assignor", "sticky", "--assignor", "optimal/sticky"),
        ("assign", "--compare", "sticky,optimal/sticky"),
        ("replay", "--sample", "--what-if", "java/range", "--what-if", "range"),
    ],
)
def test_one_assignor_named_twice_is_refused(arguments: tuple[str, ...]) -> None:
    done = CliRunner().invoke(command, arguments)
    assert "one assignor" in done.stderr
    assert "named twice" in done.stderr
    assert done.exit_code == 2
