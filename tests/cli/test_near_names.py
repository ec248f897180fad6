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
