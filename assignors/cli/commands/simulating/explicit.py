"""`simulate --start` and `--event`: a group as it is, and the events that are asked for."""

from __future__ import annotations

from dataclasses import dataclass

import click

from assignors.cli.commands.simulating.option_group import option_group
from assignors.cli.commands.simulating.rounds import RoundsOptions
from assignors.cli.inputs.given_groups import GroupOptions, given_group, group_entries
from assignors.cli.inputs.scenarios import outcome_documents, read_rows
from assignors.cli.outputs.forms import Form, write
from assignors.cli.outputs.played_events import show_simulated
from assignors.cli.outputs.progress import with_progress
from assignors.documents.values import DocumentError
from assignors.model import Group
from assignors.names.assignor_names import BEST
from assignors.simulation.rounds.scenario_rows import simulate_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplicitOptions:
    """Values of the options, by their names."""

    start: str | None
    asked: tuple[str, ...]

    @property
    def is_asked(self) -> bool:
        """Whether a group and events are given, and nothing is random."""
        return self.start is not None or bool(self.asked)


explicit_options = option_group(
    click.option(
        "--start",
        type=click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True),
        metavar="FILE",
        help="Start from a group as it is: one that assign takes, or what"
        " kafka-consumer-groups.sh --describe prints; - for standard input.",
    ),
    click.option(
        "--event",
        "asked",
        multiple=True,
        metavar="EVENT",
        help="What happens to the group, as join:5, leave:m3, resize:orders:24. May be repeated:"
        " events follow in this order, and nothing is random.",
    ),
)


def simulate_groups(
    options: ExplicitOptions,
    files: tuple[str, ...],
    *,
    rounds: RoundsOptions,
    beside: GroupOptions,
    form: Form,
) -> int:
    """Play the groups of the files and the events that are asked for; return the exit code."""
    groups = _files_of_groups(options, files)
    names = rounds.assignors or tuple(BEST.values())
    documents = outcome_documents(
        read_rows(groups, beside, options.asked),
        lambda rows: simulate_rows(rows, assignors=names, processes=rounds.processes or 1),
    )
    played = with_progress(documents, None, "outcomes")
    return write(played, form, show_simulated, assumptions="groups as given; nothing is random")


def group_at_start(start: str, beside: GroupOptions) -> Group:
    """Return the one group of a file. Raises `click.UsageError` where there is none, or several."""
    entries = list(group_entries([start], beside))
    if len(entries) != 1:
        words = "; --group chooses one" if entries else ""
        raise click.UsageError(f"--start: {len(entries)} groups in {start}{words}")
    try:
        return given_group(entries[0], beside).group
    except DocumentError as error:
        raise click.UsageError(f"--start: {error}") from None


def _files_of_groups(options: ExplicitOptions, files: tuple[str, ...]) -> tuple[str, ...]:
    """Return where the groups are; `UsageError` where that is not clear."""
    if options.start is None and not files:
        raise click.UsageError(
            "--event needs a group: --start FILE, - for standard input, or --sample"
        )
    if options.start is not None and files:
        raise click.UsageError("--start takes the place of FILE")
    return files or (options.start or "-",)
