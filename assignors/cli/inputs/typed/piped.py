"""Standard input where nobody named a file: whether lines come from it."""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Collection
from io import BufferedReader

import click
from click.core import ParameterSource

WAIT_SECONDS = 1.0
"""How long nothing comes through a pipe before that is said."""


def lines_are_piped(context: click.Context, others: Collection[str]) -> bool:
    """Return whether standard input is a pipe or a file that holds something.

    Where one of the parameters `others` was typed, which say that something else is wanted, it is
    not read, and a note on standard error says so.
    """
    kind = _kind()
    if not (stat.S_ISFIFO(kind) or stat.S_ISREG(kind)):
        return False
    typed = [
        option.opts[0]
        for option in context.command.params
        if option.name in others
        and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
    ]
    if typed:
        if "--start" not in typed and _is_ready(0) and _holds_something():
            click.echo(f"note: standard input is not read beside {typed[0]}", err=True)
        return False
    if not _is_ready(WAIT_SECONDS):
        words = "waiting for lines on standard input; --scenarios N draws histories instead"
        click.echo(words, err=True)
    return _holds_something()


def _kind() -> int:
    """Return the kind of file that standard input is; 0 where it is none."""
    try:
        return 0 if sys.stdin is None else os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return 0


def _holds_something() -> bool:
    stream = sys.stdin.buffer
    assert isinstance(stream, BufferedReader), "as Python opens it"
    return bool(stream.peek(1))


def _is_ready(seconds: float) -> bool:
    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    return bool(ready)
