"""`histories`: plays random histories of groups, round by round, under several assignors."""

from __future__ import annotations

from dataclasses import asdict

import click

from assignors.cli.inputs.assignor_names import portable_names
from assignors.cli.inputs.given_groups import NO_OPTIONS, group_entries
from assignors.cli.inputs.json_text import parse_json
from assignors.cli.inputs.lines import Line, files_argument
from assignors.cli.inputs.run_options import (
    F,
    assignors_option,
    processes_option,
    refuse,
    rows_at_a_time,
    seed_option,
    seed_range,
    seeds_option,
)
from assignors.cli.inputs.scenarios import drawn_row, outcome_documents, row_documents
from assignors.cli.outputs.forms import Form, output_option, write
from assignors.cli.outputs.played_events import show_simulated
from assignors.cli.outputs.progress import with_progress
from assignors.documents.described import DescribedGroup
from assignors.documents.values import DocumentError, ErrorCode
from assignors.names.assignor_names import BEST
from assignors.simulation.assumptions import of_rounds
from assignors.simulation.processes import Row
from assignors.simulation.rounds.random_scenarios import LIMITS, Parameters
from assignors.simulation.rounds.scenario_rows import CHUNK, simulate_rows

SIZES = {
    "members": "Members at the start.",
    "topics": "Topics at the start.",
    "partitions": "Partitions of all topics together, spread evenly.",
    "events": "Events after the start: joins, leaves, restarts, topics that grow.",
}
"""Size of a history -> its help."""


def size_options(command: F) -> F:
    """Add an option for each size, a number up to its limit."""
    for name, text in reversed(SIZES.items()):
        sizes = click.IntRange(0, LIMITS.get(name))
        default = getattr(Parameters(), name)
        command = click.option(
            f"--{name}", type=sizes, default=default, show_default=True, help=text
        )(command)
    return command


@click.command()
@files_argument
@assignors_option
@seed_option
@seeds_option(100)
@size_options
@processes_option
@output_option
@click.pass_context
def histories(
    context: click.Context,
    *,
    files: tuple[str, ...],
    assignors: tuple[tuple[str, ...], ...],
    seed: int,
    seeds: int,
    members: int,
    topics: int,
    partitions: int,
    events: int,
    processes: int | None,
    form: Form,
) -> None:
    """Play random histories of groups under several assignors.

    A history is joins, leaves, restarts, lost and stale claims, drawn from a seed. A FILE has its
    own, one a line: {"seed": 7, "members": 20}, with the names of the options as keys, and
    "subscription", "faults" and "wire"; or a group as assign takes it, with "seed" and "events".

    Writes a summary for each assignor, or with -o jsonl a line for each history, event and
    assignor. Without --assignor: range, roundrobin, sticky and cooperative-sticky.

    In Python: assignors.simulation.simulate_rounds.
    """
    names = portable_names(assignors) or tuple(BEST.values())
    if files:
        refuse(context, {"seed", "seeds", "processes", *SIZES}, "is not for FILE")
        documents = outcome_documents(group_entries(files, NO_OPTIONS), _row_of, names)
        read = with_progress(documents, None, "outcomes")
        assumed = "groups as given; events are drawn from the seed of each"
        context.exit(write(read, form, show_simulated, assumptions=assumed))
    try:
        drawn = Parameters(members=members, topics=topics, partitions=partitions, events=events)
        drawn.require_few_subscriptions()
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    numbers = seed_range(seed, seeds)
    rows = simulate_rows(
        ({"seed": number, **asdict(drawn)} for number in numbers),
        assignors=names,
        processes=processes,
        chunk=rows_at_a_time(seeds, processes, CHUNK),
    )
    played = with_progress(row_documents(rows), seeds * len(names) * (drawn.events + 1), "outcomes")
    context.exit(write(played, form, show_simulated, assumptions=of_rounds(drawn, numbers)))


def _row_of(entry: Line | DescribedGroup) -> Row:
    if isinstance(entry, DescribedGroup):
        words = "a table of groups has no seed; kafka-assignors what-if plays events in it"
        raise DocumentError(ErrorCode.WRONG_TYPE, words, ())
    return drawn_row(parse_json(entry.text))
