"""NO_COLOR takes colours away, and nothing else (no-color.org): headers stay bold."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from assignors.cli.command import command

BOLD, DIM, RED = "1", "2", "31"


def styles(**environment: str) -> set[str]:
    """The numbers of all escape sequences in a table with findings."""
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm-256color", **environment}
    shown = CliRunner(env=terminal).invoke(command, ["replay", "--sample", "-o", "table"])
    sequences = re.findall(r"\x1b\[([0-9;]*)m", shown.stdout)
    return {number for sequence in sequences for number in sequence.split(";")}


@pytest.mark.parametrize("no_color", ["1", "0"])
def test_no_color_leaves_bold_and_no_colour(no_color: str) -> None:
    assert {BOLD, RED} <= styles(NO_COLOR="")
    assert styles(NO_COLOR=no_color) - {"", "0", DIM} == {BOLD}
