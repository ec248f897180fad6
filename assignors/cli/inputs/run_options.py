"""The options of commands that simulate, and the checks that they share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from assignors.cli.inputs.assignor_names import ASSIGNOR_HELP, PORTABLE
from assignors.cli.inputs.option_types import SeveralOf

INT64_MAX = 2**63 - 1

CHUNKS_EACH = 4
"""Chunks that each process gets at least, if there are so many rows."""

F = TypeVar("F", bound=Callable[..., Any])

assignors_option = click.option(
    "--assignor",
    "assignors",
    type=PORTABLE,
    multiple=True,
    help=f"Assignors to compare, with commas between or one an option: {ASSIGNOR_HELP}",
)


def protocols_option(known: Iterable[str], help_text: str) -> Callable[[F], F]:
    """Return the option `--protocol`, which takes several of the known ones."""
    return click.option(
        "--protocol",
        "protocols",
        type=SeveralOf(list(map(str, known))),
        multiple=True,
        help=help_text,
    )


seed_option = click.option("--seed", type=int, default=0, show_default=True, help="The first seed.")

processes_option = click.option(
    "--processes",
    type=click.IntRange(1, 1024),
    help="Number of processes. Default: one, and from 3 s on one for each processor.",
)


def seeds_option(default: int) -> Callable[[F], F]:
    """Return the option `--seeds` with this default."""
    return click.option(
        "--seeds",
        type=click.IntRange(1, 1_000_000),
        default=default,
        show_default=True,
        help="How many to play; seeds count up from --seed.",
    )


def seed_range(first: int, count: int) -> range:
    """Return the seeds from `first` on; `click.UsageError` where not all fit into 64 bits."""
    if not -INT64_MAX <= first <= INT64_MAX - count:
        raise click.UsageError(f"--seed: seeds are within {-INT64_MAX}..{INT64_MAX}")
    return range(first, first + count)


def rows_at_a_time(count: int, processes: int | None, most: int) -> int:
    """Return how many of `count` rows a process gets at a time, so that all of them are busy."""
    return most if processes is None else max(1, min(most, count // (CHUNKS_EACH * processes)))


def refuse(context: click.Context, refused: Collection[str], why: str) -> None:
    """Raise `click.UsageError` if one of these parameters was typed; `why` follows its name."""
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.name in refused and source is ParameterSource.COMMANDLINE:
            is_option = isinstance(option, click.Option)
            name = option.opts[0] if is_option else (option.metavar or "").strip("[]")
            raise click.UsageError(f"{name} {why}", context)
