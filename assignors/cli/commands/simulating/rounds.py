"""`simulate` without `--scenario`: its options, and histories that are played round by round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

import click

from assignors.cli.commands.simulating.option_group import option_group
from assignors.cli.commands.simulating.spark import simulate_with_spark
from assignors.cli.inputs.assignor_names import ASSIGNOR_HELP, PortableAssignorNames
from assignors.cli.inputs.given_groups import GroupOptions
from assignors.cli.inputs.scenarios import (
    INT64_MAX,
    Engine,
    GivenRow,
    outcome_documents,
    read_rows,
)
from assignors.cli.outputs.forms import Form, write
from assignors.cli.outputs.played_events import show_simulated
from assignors.cli.outputs.progress import with_progress
from assignors.documents.values import DocumentError, ErrorCode
from assignors.names.assignor_names import BEST
from assignors.simulation.assumptions import of_rounds
from assignors.simulation.processes import usable_processors
from assignors.simulation.rounds.random_scenarios import (
    LIMITS,
    Parameters,
    SubscriptionShape,
)
from assignors.simulation.rounds.scenario_rows import CHUNK, simulate_rows

SIZES = Parameters()

SMALL_WORK = 1_500_000
"""Members and partitions looked at in about five seconds of one processor."""
CHUNKS_EACH = 4
"""Chunks of histories that each process gets at least, if there are so many histories."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundsOptions:
    """Values of the options, by their names."""

    scenarios: int
    members: int
    topics: int
    partitions: int
    subscription: str
    events: int
    faults: bool
    wire: bool
    assignors: tuple[str, ...]
    processes: int | None


def _size(option: str, default: int, text: str) -> Callable[[F], F]:
    """Return an option that is a number from 0 to the limit of that size, if it has one."""
    sizes = click.IntRange(0, LIMITS.get(option.removeprefix("--")))
    return click.option(option, type=sizes, default=default, show_default=True, help=text)


shared_options = option_group(
    click.option(
        "--assignor",
        "assignors",
        type=PortableAssignorNames(),
        multiple=True,
        help=f"Assignors to compare, with commas between or one an option: {ASSIGNOR_HELP}",
    ),
    click.option(
        "--processes",
        type=click.IntRange(1, 1024),
        help="Number of processes, for the engine python. Default: one for each processor where"
        " histories are drawn, or runs of --scenario asked for, that take more than some seconds,"
        " else 1.",
    ),
)
"""Options of every kind of simulation, but that of coordinators."""

rounds_options = option_group(
    _size("--scenarios", 100, "Number of histories; seeds count up from --seed."),
    _size("--members", SIZES.members, "Members at the start."),
    _size("--topics", SIZES.topics, "Topics at the start."),
    _size("--partitions", SIZES.partitions, "Partitions of all topics together, spread evenly."),
    click.option(
        "--subscription",
        type=click.Choice([shape.value for shape in SubscriptionShape]),
        default=SIZES.subscription,
        show_default=True,
        help="Which members subscribe to which topics.",
    ),
    _size(
        "--events",
        SIZES.events,
        "Number of events after the start: joins, leaves, restarts, topics that grow.",
    ),
    click.option(
        "--faults/--no-faults",
        default=True,
        help="With or without stale claims and members that return with old ones.",
    ),
    click.option(
        "--wire",
        is_flag=True,
        help="Members send Subscription bytes of all versions, which the leader decodes.",
    ),
)


def simulate_rounds(
    options: RoundsOptions,
    files: tuple[str, ...],
    *,
    seed: int,
    engine: str,
    beside: GroupOptions,
    form: Form,
) -> int:
    """Play histories under assignors and write their outcomes; return the exit code."""
    try:
        sizes = Parameters(
            members=options.members,
            topics=options.topics,
            partitions=options.partitions,
            subscription=options.subscription,
            events=options.events,
            faults=options.faults,
            wire=options.wire,
        )
        sizes.require_few_subscriptions()
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    names = options.assignors or tuple(BEST.values())
    require_seeds(seed, options.scenarios)
    given: Iterator[GivenRow]
    count: int | None = None
    if files:
        given = read_rows(files, beside)
        if engine == "spark":
            given = map(_portable, given)
    else:
        drawn, histories = asdict(sizes), range(options.scenarios)
        given = (GivenRow(row={"seed": seed + number, **drawn}) for number in histories)
        count = len(histories) * len(names) * (options.events + 1)
    processes = options.processes or (1 if files else _default_processes(options, len(names)))
    chunk = max(1, min(CHUNK, options.scenarios // (CHUNKS_EACH * processes)))
    engines: dict[str, Engine] = {
        "python": lambda rows: simulate_rows(
            rows, assignors=names, processes=processes, chunk=CHUNK if files else chunk
        ),
        "spark": lambda rows: simulate_with_spark(rows, names),
    }
    documents = with_progress(outcome_documents(given, engines[engine]), count, "outcomes")
    assumed = (
        "groups as given; events are drawn from the seed of each"
        if files
        else of_rounds(sizes, range(seed, seed + options.scenarios))
    )
    return write(documents, form, show_simulated, assumptions=assumed)


def _default_processes(options: RoundsOptions, assignor_count: int) -> int:
    """Return one process for each processor, or one where several take longer to start than to run.

    The work is counted in members and partitions that an assignor looks at.
    """
    size = options.members + options.partitions
    work = options.scenarios * (options.events + 1) * assignor_count * size
    return 1 if work < SMALL_WORK else max(1, min(usable_processors(), options.scenarios))


def _portable(given: GivenRow) -> GivenRow:
    """Return the row, or why Spark cannot play it: its rows are columns, not scenarios."""
    if isinstance(given.row, DocumentError) or "scenario" not in given.row:
        return given
    words = "a group as it is, or with a list of events, is played by --engine python"
    return replace(given, row=DocumentError(ErrorCode.WRONG_TYPE, words, ("events",)))


def require_seeds(first: int, count: int) -> None:
    """Raise `click.UsageError` where not all seeds from `first` on fit into 64 bits."""
    if not -INT64_MAX <= first <= INT64_MAX - count:
        raise click.UsageError(f"--seed: seeds are within {-INT64_MAX}..{INT64_MAX}")
