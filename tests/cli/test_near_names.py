"""A typing error in a name, wherever it stands, gets the nearest name that there is."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from assignors.cli.command import command

CLOCK = ("simulate", "rolling-restart")


def run(*arguments: str, given: str = "") -> Any:
    return CliRunner().invoke(command, arguments, input=given)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("asign",), "assign"),
        (("decode", "subsciption"), "subscription"),
        (("replay", "--sample", "--table", "gruops"), "groups"),
        (("replay", "--sample", "--kind", "rebalance-strom"), "rebalance-storm"),
        (("replay", "--sample", "--what-if", "stiky"), "sticky"),
        (("histories", "--assignor", "cooperative_sticky"), "cooperative-sticky"),
        (("simulate", "roling-restart"), "rolling-restart"),
        ((*CLOCK, "--protocol", "clasic"), "classic"),
    ],
)
def test_a_typing_error_in_a_name_gets_the_nearest_one(
    arguments: tuple[str, ...], meant: str
) -> None:
    done = run(*arguments)
    assert f"did you mean '{meant}'?" in done.stderr
    assert done.exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("decode", "subscription", "000100000001"), "| kafka-assignors decode subscription"),
        (("decode", "assignment", "AAEAAAAB"), "| kafka-assignors decode assignment"),
        (("check", '{"topics": {}}'), "| kafka-assignors check"),
        (("check", "groups.jsonl"), None),
    ],
)
def test_text_in_place_of_a_file_is_told_how_to_be_piped(
    arguments: tuple[str, ...], hint: str | None
) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert "does not exist" in done.stderr
    assert (hint is None) == ("Text is read from standard input" not in done.stderr)
    assert (hint or "") in " ".join(done.stderr.split())


def test_a_record_in_place_of_a_group_is_told_who_reads_it() -> None:
    done = run("check", "-o", "jsonl", given='{"key": null, "value": null}')
    assert "'key' is no key here; replay reads records" in done.stdout
