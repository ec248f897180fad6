"""`simulate`: histories of groups, drawn from seeds or read from lines, under any assignors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TypeVar

import click

from assignors.cli.commands.assign import ASSIGNOR_HELP, AssignorName
from assignors.cli.commands.simulate_engines import played_on_spark
from assignors.cli.inputs.scenarios import INT64_MAX, Engine, outcomes, read
from assignors.cli.inputs.sources import files_argument
from assignors.cli.outputs.output import Form, output_option, write
from assignors.cli.outputs.progress import worked
from assignors.cli.outputs.tables import show_simulated
from assignors.documents.values import DocumentError
from assignors.registry import BEST
from assignors.simulation.rounds.processes import simulate_rows
from assignors.simulation.rounds.random_scenarios import Parameters, SubscriptionShape
from assignors.simulation.rounds.scenario_rows import Row

SIZES = Parameters()


class PlayableName(click.ParamType[str]):
    """The name of an assignor, as processes elsewhere find it again."""

    name = "name"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the name if there is such an assignor."""
        AssignorName().convert(value, param, ctx)
        return str(value)


F = TypeVar("F", bound=Callable[..., object])


def _size(option: str, default: int, text: str) -> Callable[[F], F]:
    return click.option(
        option, type=click.IntRange(min=0), default=default, show_default=True, help=text
    )


@click.command()
@files_argument
@_size("--scenarios", 100, "How many histories, from seeds that follow --seed.")
@click.option("--seed", type=int, default=0, show_default=True, help="The first seed.")
@_size("--members", SIZES.members, "Members at the start.")
@_size("--topics", SIZES.topics, "Topics at the start.")
@_size("--partitions", SIZES.partitions, "Partitions of all topics together.")
@click.option(
    "--subscription",
    type=click.Choice([shape.value for shape in SubscriptionShape]),
    default=SIZES.subscription,
    show_default=True,
    help="Who asks for which topics.",
)
@_size("--events", SIZES.events, "What happens after the start.")
@click.option("--faults/--no-faults", default=True, help="Stale claims and old members, or none.")
@click.option("--wire", is_flag=True, help="Members speak in bytes of all versions.")
@click.option("--assignor", "assignors", type=PlayableName(), multiple=True, help=ASSIGNOR_HELP)
@click.option(
    "--engine",
    type=click.Choice(["python", "spark"]),
    default="python",
    show_default=True,
    help="spark needs Java and the extra of that name.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 1024),
    default=1,
    show_default=True,
    help="Processes of the python engine.",
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
    form: Form,
) -> None:
    """Play histories of groups: joins, leaves, restarts, lost and stale claims.

    Scenarios are drawn from seeds; a FILE has its own, one a line: {"seed": 7, "members": 20},
    with the names of the options, or a group as assign takes it. On a terminal a summary for
    each assignor, elsewhere a line for each scenario, event and assignor. Without --assignor
    all the usual ones play.
    """
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
        numbered = read(files)
    else:
        drawn = asdict(sizes)
        numbered = ((number, {"seed": seed + number, **drawn}) for number in range(scenarios))
        count = scenarios * len(names) * (events + 1)
    engines: dict[str, Engine] = {
        "python": lambda rows: simulate_rows(rows, assignors=names, processes=processes),
        "spark": lambda rows: played_on_spark(rows, names),
    }
    documents = worked(outcomes(numbered, engines[engine]), count, "outcomes")
    context.exit(write(documents, form, show_simulated))
