"""`simulate`: plays group histories, drawn from seeds or read from lines, under assignors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TypeVar

import click

from assignors.cli.commands.simulating.spark import simulate_with_spark
from assignors.cli.inputs.assignor_names import ASSIGNOR_HELP, PortableAssignorName
from assignors.cli.inputs.lines import files_argument
from assignors.cli.inputs.scenarios import INT64_MAX, Engine, outcome_documents, read_rows
from assignors.cli.outputs.forms import Form, output_option, write
from assignors.cli.outputs.progress import with_progress
from assignors.cli.outputs.tables import show_simulated
from assignors.documents.values import DocumentError
from assignors.registry import BEST
from assignors.simulation.rounds.processes import simulate_rows
from assignors.simulation.rounds.random_scenarios import (
    LIMITS,
    Parameters,
    SubscriptionShape,
)
from assignors.simulation.rounds.scenario_rows import Row

SIZES = Parameters()


F = TypeVar("F", bound=Callable[..., object])


def _size(option: str, default: int, text: str) -> Callable[[F], F]:
    """Return an option that is a number from 0 to the limit of that size, if it has one."""
    sizes = click.IntRange(0, LIMITS.get(option.removeprefix("--")))
    return click.option(option, type=sizes, default=default, show_default=True, help=text)


@click.command()
@files_argument
@_size("--scenarios", 100, "Number of histories; seeds count up from --seed.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the first history.")
@_size("--members", SIZES.members, "Members at the start.")
@_size("--topics", SIZES.topics, "Topics at the start.")
@_size("--partitions", SIZES.partitions, "Partitions of all topics together, spread evenly.")
@click.option(
    "--subscription",
    type=click.Choice([shape.value for shape in SubscriptionShape]),
    default=SIZES.subscription,
    show_default=True,
    help="Which members subscribe to which topics.",
)
@_size(
    "--events",
    SIZES.events,
    "Number of events after the start: joins, leaves, restarts, topics that grow.",
)
@click.option(
    "--faults/--no-faults",
    default=True,
    help="With or without stale claims and members that return with old ones.",
)
@click.option(
    "--wire",
    is_flag=True,
    help="Members send Subscription bytes of all versions, which the leader decodes.",
)
@click.option(
    "--assignor", "assignors", type=PortableAssignorName(), multiple=True, help=ASSIGNOR_HELP
)
@click.option(
    "--engine",
    type=click.Choice(["python", "spark"]),
    default="python",
    show_default=True,
    help="spark needs Java and the extra `spark`.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 1024),
    default=1,
    show_default=True,
    help="Number of processes, for the engine python.",
)
@click.option(
    "--scenario",
    metavar="NAME|FILE",
    help="Simulate on a clock, with delays and timeouts: a scenario of the gallery (crash,"
    " scale-out, ...) or a JSON file. The options above have no part in it, but for --seed.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 1_000_000),
    default=1,
    show_default=True,
    help="Number of runs of --scenario; seeds count up from --seed.",
)
@click.option(
    "--protocol",
    "protocols",
    type=click.Choice(["classic", "consumer"]),
    multiple=True,
    help="Protocols to run --scenario under; consumer is KIP-848. Default: its own.",
)
@output_option
@click.pass_context
def simulate(  # noqa: PLR0917  # click names every option
    context: click.Context,
    files: tuple[str, ...],
    scenarios: int,
    seed: int,
    members: int,
    topics: int,
    partitions: int,
    subscription: str,
    events: int,
    faults: bool,  # noqa: FBT001  # a flag of the command
    wire: bool,  # noqa: FBT001  # as above
    assignors: tuple[str, ...],
    engine: str,
    processes: int,
    scenario: str | None,
    seeds: int,
    protocols: tuple[str, ...],
    form: Form,
) -> None:
    """Simulate group histories under one or more assignors.

    A history is joins, leaves, restarts, lost and stale claims. Histories are drawn from seeds; a
    FILE has its own, one a line: {"seed": 7, "members": 20}, with the names of the options as keys,
    or a group as assign takes it. Writes a summary for each assignor on a terminal, elsewhere a
    line for each history, event and assignor. Without --assignor: range, roundrobin,
    sticky and cooperative-sticky. With --scenario one history is played on a clock instead.
    """
    if scenario is not None:
        if files:
            raise click.UsageError("--scenario takes the place of FILE")
        context.exit(_timed(scenario, seed, seeds, protocols, form))
    try:
        sizes = Parameters(
            members=members,
            topics=topics,
            partitions=partitions,
            subscription=subscription,
            events=events,
            faults=faults,
            wire=wire,
        )
        sizes.require_few_subscriptions()
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    names = assignors or tuple(BEST.values())
    if not -INT64_MAX <= seed <= INT64_MAX - scenarios:
        raise click.UsageError(f"--seed: seeds are within {-INT64_MAX}..{INT64_MAX}")
    numbered: Iterator[tuple[int, Row | DocumentError]]
    count: int | None = None
    if files:
        numbered = read_rows(files)
    else:
        drawn = asdict(sizes)
        numbered = ((number, {"seed": seed + number, **drawn}) for number in range(scenarios))
        count = scenarios * len(names) * (events + 1)
    engines: dict[str, Engine] = {
        "python": lambda rows: simulate_rows(rows, assignors=names, processes=processes),
        "spark": lambda rows: simulate_with_spark(rows, names),
    }
    documents = with_progress(outcome_documents(numbered, engines[engine]), count, "outcomes")
    context.exit(write(documents, form, show_simulated))


def _timed(scenario: str, seed: int, seeds: int, protocols: tuple[str, ...], form: Form) -> int:
    """Play one scenario on a clock; return the exit code."""
    from assignors.cli.commands.simulating.timed import (  # noqa: PLC0415 - of one option alone
        chosen,
        show_timed,
        timed_documents,
    )

    if not -INT64_MAX <= seed <= INT64_MAX - seeds:
        raise click.UsageError(f"--seed: seeds are within {-INT64_MAX}..{INT64_MAX}")
    rows = timed_documents(chosen(scenario), first_seed=seed, seeds=seeds, protocols=protocols)
    return write(with_progress(rows, seeds * max(len(protocols), 1), "runs"), form, show_timed)
