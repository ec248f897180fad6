"""The command `kafka-assignors`: its subcommands, its version and its exit code.

A subcommand's module is imported when it is called, so `--help` and each subcommand load only
what they need. `SUMMARIES` has what `--help` shows of each.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from assignors import __version__
from assignors.cli.inputs.option_types import with_near_choices
from assignors.cli.inputs.refused import refuse_moved, refuse_repeated
from assignors.cli.outputs.forms import UNREADABLE
from assignors.cli.outputs.help import HelpContext
from assignors.names.nearest import suggestion

INTERRUPTED = 130

LOSING = {"strict", "surrogateescape"}
"""Error handlers that raise `UnicodeEncodeError`; any other was chosen by the user."""

SUMMARIES = {
    "decode": "Decode bytes of members, leaders and brokers, given as hex.",
    "assign": "Assign the partitions of groups.",
    "check": "Check assignments, whoever made them.",
    "explain": "Explain why a partition moves, stays or waits.",
    "what-if": "Play events in a group: consumers join or leave, topics grow.",
    "simulate": "Play a group on a clock, with delays, timeouts and faults.",
    "fuzz": "Play random scenarios on a clock until one breaks a rule.",
    "histories": "Play random histories of groups under several assignors.",
    "traffic": "Play a group with uneven partitions; measure loads, moves and lag.",
    "sweep": "Measure execution models of a coordinator under many loads.",
    "dump": "Write the offsets topic of a cluster into a file that replay reads.",
    "replay": "Rebuild the history of groups from __consumer_offsets.",
    "watch": "Say what goes wrong in consumer groups while it happens.",
    "conform": "Test a program against answers of Kafka's own classes.",
    "assignors": "List the assignors that --assignor knows by name.",
}
"""Subcommand -> the first sentence of its help."""

MODULES = {"assignors": "assign", "what-if": "what_if"}
"""Subcommand -> its module, where that has another name."""


class Subcommands(click.Group):
    """A group of commands whose modules are imported when they are called."""

    context_class = HelpContext

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return a subcommand and its arguments; an unknown name gets the nearest one.

        Options that have moved, or are typed twice where only the last would count, are refused.
        """
        name = args[0]
        if name not in SUMMARIES and not name.startswith("-"):
            raise click.UsageError(f"No such command {name!r}{suggestion(name, SUMMARIES)}", ctx)
        found = super().resolve_command(ctx, args)
        if found[1] is not None:
            refuse_moved(name, ctx, found[2])
            refuse_repeated(found[1], ctx, found[2])
        return found

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the subcommands."""
        del ctx
        return list(SUMMARIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a subcommand, `None` if there is none of that name."""
        del ctx
        if cmd_name not in SUMMARIES:
            return None
        module = import_module(f"assignors.cli.commands.{MODULES.get(cmd_name, cmd_name)}")
        found = getattr(module, cmd_name.replace("-", "_"))
        assert isinstance(found, click.Command)
        with_near_choices(found)
        found.context_class = HelpContext
        # Else click cuts the first sentence where it shows one, and puts "..." behind it.
        found.short_help = SUMMARIES[cmd_name]
        return found

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the subcommands that begin so, with their summaries, without importing them."""
        options = click.Command.shell_complete(self, ctx, incomplete)
        return options + [
            CompletionItem(name, help=summary)
            for name, summary in SUMMARIES.items()
            if name.startswith(incomplete)
        ]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of subcommands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(SUMMARIES.items()))


@click.group(cls=Subcommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kafka-assignors")
def command() -> None:
    """Decode, compute, check, simulate and replay Kafka consumer-group assignments.

    Reads lines, writes tables; with -o jsonl, or KAFKA_ASSIGNORS_OUTPUT=jsonl in the environment,
    one JSON object a line. Exit code 0: no problems; 1: violations were found; 2: bad
    usage, or lines that cannot be read.
    """


def run(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code. A user's error is one sentence, not a traceback."""
    _find_modules_here()
    if sys.stderr is None:  # closed by the caller, as by `2>&-`
        # Stays open until the process ends.
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as above
    if sys.stdout is None:
        sys.stderr.write("kafka-assignors: standard output is closed\n")
        return UNREADABLE
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors in LOSING:
        # A name that the terminal's encoding does not have is escaped, not the end of the command.
        sys.stdout.reconfigure(errors="backslashreplace")
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


def _find_modules_here() -> None:
    """Let `package.module:object` name a module in the working directory.

    Behind all other places, so that no file there takes the place of an installed module.
    """
    with suppress(OSError):  # a directory that is gone
        here = str(Path.cwd())
        if here not in sys.path:
            sys.path.append(here)
