"""Options that are typed twice, that have no effect beside others, and that have moved."""

from __future__ import annotations

import json
from typing import Any

import click
import pytest
from click.testing import CliRunner

from assignors.cli.command import SUMMARIES, command
from assignors.cli.inputs.refused import MOVED
from assignors.cli.inputs.run_options import rows_at_a_time
from tests.cli.running import GROUP

CONTEXT = click.Context(command)
COMMANDS = {name: found for name in SUMMARIES if (found := command.get_command(CONTEXT, name))}

VALUES = {
    "assignor": "sticky",
    "compared": "sticky,range",
    "mode": "strict",
    "engine": "python",
    "group": "g",
    "assumed": "equal",
    "prefer": "spread",
    "min_severity": "low",
    "form": "jsonl",
    "since_ms": "1h",
    "until_ms": "1h",
    "weights": "docs/recipes/weights.json",
}
"""Parameter -> a value of it; of others 1."""


def run(*arguments: str, given: str = "") -> Any:
    return CliRunner().invoke(command, arguments, input=given)


def options_of(name: str) -> list[click.Option]:
    return [each for each in COMMANDS[name].params if isinstance(each, click.Option)]


@pytest.mark.parametrize("name", COMMANDS)
def test_an_option_that_is_typed_twice_is_refused_unless_both_count(name: str) -> None:
    for option in options_of(name):
        if option.multiple or (option.is_flag and not option.secondary_opts):
            continue
        value = [] if option.is_flag else [VALUES.get(option.name or "", "1")]
        done = run(name, option.opts[0], *value, option.opts[0], *value)
        assert done.exit_code == 2
        assert f"{option.opts[0]} is given 2 times" in done.stderr, option.name


def test_a_flag_and_its_opposite_are_refused() -> None:
    assert "given 2 times" in run("dump", "--read-committed", "--read-uncommitted").stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("decode", "offsets-record", "--mode", "strict"), "--mode is not for offsets-record"),
        (("decode", "subscription", "--members"), "--members is for offsets-record"),
        (("assign", "--assignor", "range", "--limit", "1"), "--limit is for optimal/*"),
        (("assign", "--compare", "range,java/sticky", "--prefer", "moves"), "--prefer is for"),
        (("assign", "--assignor", "range", "--reasons"), "--reasons is for --compare"),
        (("assign", "--compare", "range,sticky", "--with-group"), "--with-group is for --assignor"),
        (
            ("assign", "--assignor", "sticky", "--weights", "docs/recipes/weights.json"),
            "--weights is for weighted/*",
        ),
        (
            ("explain", "--partition", "t:0", "--weights", "docs/recipes/weights.json"),
            "--weights is for weighted/*",
        ),
        (("histories", "-", "--seed", "3"), "--seed is not for FILE"),
        (("replay", "--sample", "--table", "groups", "--what-if", "range"), "without its table"),
    ],
)
def test_an_option_without_effect_is_refused(arguments: tuple[str, ...], words: str) -> None:
    done = run(*arguments, given=json.dumps(GROUP))
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr


@pytest.mark.parametrize(
    ("name", "option"), [(name, option) for name, known in MOVED.items() for option in known]
)
def test_an_old_spelling_says_the_new_one(name: str, option: str) -> None:
    assert option not in {each for one in options_of(name) for each in one.opts}
    for typed in ([option, "7"], [f"{option}=7"]):
        done = run(name, *typed)
        assert (done.exit_code, done.stdout) == (2, "")
        assert f"Error: {option} is gone: " in done.stderr


@pytest.mark.parametrize(
    ("count", "processes", "rows"), [(100, None, 20), (8, 8, 1), (80, 2, 10), (1000, 2, 20)]
)
def test_every_process_has_rows_to_play(count: int, processes: int | None, rows: int) -> None:
    assert rows_at_a_time(count, processes, 20) == rows
