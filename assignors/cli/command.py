"""The command itself: its subcommands, its version, and how it ends."""

from __future__ import annotations

import sys

import click

from assignors import __version__
from assignors.cli.commands.assign import assign, assignors
from assignors.cli.commands.check import check
from assignors.cli.commands.conform import conform
from assignors.cli.commands.decode import decode
from assignors.cli.commands.explain import explain
from assignors.cli.commands.replay import replay
from assignors.cli.commands.simulate import simulate
from assignors.cli.outputs.output import UNREADABLE

INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kafka-assignors")
def command() -> None:
    """Decode, compute, check, simulate and replay Kafka consumer-group assignments.

    Lines in, one JSON object a line out (schema 1); tables on a terminal. Exit code 0 when
    all is well, 1 when violations were found, 2 for bad usage or lines that cannot be read.
    """


for subcommand in (decode, assign, check, simulate, explain, replay, conform, assignors):
    command.add_command(subcommand)


def run(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code. Errors of users are a sentence, not a traceback."""
    try:
        code = command.main(arguments, prog_name="kafka-assignors", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return UNREADABLE
    except click.Abort:
        return INTERRUPTED
    except OSError as error:
        sys.stderr.write(f"kafka-assignors: {error}\n")
        return UNREADABLE
    return int(code or 0)
