"""`--help`, as people read it: nothing cut off, no name cut in two."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from assignors.cli.command import SUMMARIES, command


def subcommands() -> Iterator[click.Command]:
    """Yield every subcommand, imported."""
    context = click.Context(command)
    for name in SUMMARIES:
        found = command.get_command(context, name)
        assert found is not None
        yield found


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
    assert len(shown(*name.split(), columns=80).splitlines()) <= 50


def test_a_summary_is_whole_wherever_click_shows_one() -> None:
    """click shows the first 45 characters of a summary and "..." behind them."""
    for found in subcommands():
        assert found.get_short_help_str() == SUMMARIES[str(found.name)]
        assert found.get_short_help_str().endswith(".")


def test_each_option_has_a_whole_sentence() -> None:
    for found in subcommands():
        context = click.Context(found)
        for option in found.get_params(context):
            record = option.get_help_record(context)
            if isinstance(option, click.Option):
                assert record is not None, option.name
                assert not record[1].endswith("..."), option.name
                assert (option.help or "").endswith("."), option.name
