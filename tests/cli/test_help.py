"""`--help`, as people read it: nothing cut off, no name cut in two."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from assignors.cli.command import SUMMARIES, command


def shown(*arguments: str, columns: int) -> str:
    """Return what `--help` prints on a terminal of that width."""
    asked = CliRunner().invoke(command, [*arguments, "--help"], env={"COLUMNS": str(columns)})
    assert asked.exit_code == 0, asked.output
    return asked.stdout


@pytest.mark.parametrize("columns", [50, 80, 200])
@pytest.mark.parametrize("name", ["", *SUMMARIES])
def test_no_line_of_help_is_cut_off(name: str, columns: int) -> None:
    lines = shown(*name.split(), columns=columns).splitlines()
    assert not [line for line in lines if line.endswith("...") and not line.endswith("]...")]


@pytest.mark.parametrize("columns", [50, 80])
@pytest.mark.parametrize("name", ["", *SUMMARIES])
def test_no_line_of_help_ends_within_a_name(name: str, columns: int) -> None:
    lines = shown(*name.split(), columns=columns).splitlines()
    assert not [line for line in lines if line.endswith("-") and not line.endswith(" -")]
    # The choices of an option have no spaces: click puts a long list of them on a line of its own.
    assert not [line for line in lines if len(line) > max(80, columns) and "|" not in line]


@pytest.mark.parametrize("name", ["", *SUMMARIES])
def test_a_help_fits_a_screen(name: str) -> None:
    assert len(shown(*name.split(), columns=80).splitlines()) <= 42
