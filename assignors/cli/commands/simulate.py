"""`simulate`: plays group histories round by round, or one scenario on a clock."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import click

from assignors.cli.commands.simulating.rounds import (
    RoundsOptions,
    rounds_options,
    simulate_rounds,
)
from assignors.cli.commands.simulating.timed_options import (
    TimedOptions,
    simulate_timed,
    timed_options,
)
from assignors.cli.inputs.lines import files_argument
from assignors.cli.outputs.forms import Form, output_option


@click.command()
@files_argument
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of the first history or run."
)
@click.option(
    "--engine",
    type=click.Choice(["python", "spark"]),
    default="python",
    show_default=True,
    help="spark needs Java and the extra `spark`.",
)
@rounds_options
@timed_options
@output_option
@click.pass_context
def simulate(
    context: click.Context,
    /,
    files: tuple[str, ...],
    seed: int,
    engine: str,
    form: Form,
    **options: Any,  # noqa: ANN401 - those of `rounds` and of `timed_options`
) -> None:
    """Simulate group histories under one or more assignors, or a scenario on a clock.

    A history is joins, leaves, restarts, lost and stale claims. Histories are drawn from seeds; a
    FILE has its own, one a line: {"seed": 7, "members": 20}, with the names of the options as keys,
    or a group as assign takes it. Writes a summary for each assignor on a terminal, elsewhere a
    line for each history, event and assignor. Without --assignor: range, roundrobin,
    sticky and cooperative-sticky.

    With --scenario one history is played on a clock instead, with delays, timeouts and faults:
    a line for each protocol and seed, or their medians on a terminal. --list shows the scenarios
    that have a name.
    """
    timed = TimedOptions(**{each.name: options[each.name] for each in fields(TimedOptions)})
    if timed.is_asked:
        if files:
            raise click.UsageError("--scenario takes the place of FILE")
        context.exit(simulate_timed(timed, seed=seed, engine=engine, form=form))
    asked = RoundsOptions(**{each.name: options[each.name] for each in fields(RoundsOptions)})
    context.exit(simulate_rounds(asked, files, seed=seed, engine=engine, form=form))
