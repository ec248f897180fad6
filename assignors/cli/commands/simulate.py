"""`simulate`: plays group histories round by round, or one scenario on a clock."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import click

from assignors.cli.commands.simulating.explicit import (
    ExplicitOptions,
    explicit_options,
    group_at_start,
    simulate_groups,
)
from assignors.cli.commands.simulating.rounds import (
    RoundsOptions,
    rounds_options,
    shared_options,
    simulate_rounds,
)
from assignors.cli.commands.simulating.sweep import simulate_sweep, sweep_options
from assignors.cli.commands.simulating.timed.command import simulate_timed
from assignors.cli.commands.simulating.timed.options import TimedOptions, timed_options
from assignors.cli.commands.simulating.traffic import simulate_traffic, traffic_options
from assignors.cli.inputs.assignor_names import portable_names
from assignors.cli.inputs.given_groups import GroupOptions, group_options
from assignors.cli.inputs.lines import files_argument
from assignors.cli.inputs.typed.idle_options import DRAWN, EXPLICIT, refuse_idle
from assignors.cli.inputs.typed.piped import lines_are_piped
from assignors.cli.outputs.forms import Form, output_option
from assignors.cli.outputs.help import SectionedCommand

SETTING = re.compile(r"[A-Za-z_]+=.*")


class _Simulate(SectionedCommand):
    """`--set a=1 b=2` is `--set a=1 --set b=2`."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """Return what is left of the arguments."""
        repeated: list[str] = []
        is_setting = False
        for each in arguments:
            if is_setting and repeated[-1] != "--set" and SETTING.fullmatch(each):
                repeated.append("--set")
            is_setting = each == "--set" or (is_setting and SETTING.fullmatch(each) is not None)
            repeated.append(each)
        return super().parse_args(context, repeated)


@click.command(
    cls=_Simulate,
    sections={
        "Histories drawn from seeds": "--scenarios",
        "A group of yours": "--start",
        "On a clock": "--scenario",
        "Coordinators under load": "--sweep",
        "Rates and lag": "--traffic",
        "Output": "--output",
    },
)
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
@shared_options
@rounds_options
@explicit_options
@group_options
@timed_options
@sweep_options
@traffic_options
@output_option
@click.pass_context
def simulate(
    context: click.Context,
    /,
    *,
    files: tuple[str, ...],
    seed: int,
    engine: str,
    beside: GroupOptions,
    form: Form,
    sweep: str | None,
    traffic: str | None,
    **options: Any,  # noqa: ANN401 - those of `rounds`, `explicit` and `timed_options`
) -> None:
    """Simulate group histories under one or more assignors, or a scenario on a clock.

    A history is joins, leaves, restarts, lost and stale claims. Histories are drawn from seeds; a
    FILE has its own, one a line: {"seed": 7, "members": 20}, with the names of the options as keys,
    or a group as assign takes it. Writes a summary for each assignor, or with -o jsonl a line for
    each history, event and assignor. Without --assignor: range, roundrobin, sticky and
    cooperative-sticky.

    With --start or --event nothing is random: a group as it is, and what is asked to happen. Events
    are join:5 (or join:5:orders), leave:m3 (or m3,m4), crash:m3, return:m3, restart:m3,
    subscribe:m3:orders,payments (* is every member), resize:orders:24, new-topic:payments:12 and
    delete:orders. A line has them as "events": ["join:5", "leave:m3"].

    With --scenario one history is played on a clock instead, with delays, timeouts and faults:
    the medians of each protocol and assignor, or with -o jsonl a line for each seed too. --list
    shows the scenarios that have a name.

    With --set a group of yours is played on a clock, in one line: --set members=12 away=15s.

    With --fuzz random scenarios on a clock are played until one breaks a rule.

    With --sweep the execution models of a coordinator are measured instead, under many loads.

    With --traffic partitions have rates and members capacities, and lag is measured.
    """
    options["assignors"] = portable_names(options["assignors"])
    # Events that are asked for happen to the groups that are piped.
    others = (DRAWN | EXPLICIT | {"seed", "scenario", "settings", "lists", "fuzz"}) - {"asked"}
    if not files and sweep is None and traffic is None and lines_are_piped(context, others):
        files = ("-",)
    refuse_idle(context, files=files)
    for option, value in (("--sweep", sweep), ("--traffic", traffic)):
        if value is not None and files:
            raise click.UsageError(f"{option} takes the place of FILE")
    if sweep is not None:
        many = options["processes"]
        context.exit(simulate_sweep(sweep, engine=engine, processes=many, form=form))
    if traffic is not None:
        played = simulate_traffic(
            traffic,
            shows=options["shows"],
            names=options["assignors"],
            first_seed=seed,
            seeds=options["seeds"],
            engine=engine,
            processes=options["processes"],
            form=form,
        )
        context.exit(played)
    explicit = ExplicitOptions(start=options["start"], asked=options["asked"])
    timed = TimedOptions(**{each.name: options[each.name] for each in fields(TimedOptions)})
    if timed.is_asked:
        if files:
            named = "--scenario" if timed.scenario is not None else "--set"
            taken = named if timed.fuzz is None else "--fuzz"
            raise click.UsageError(f"{taken} takes the place of FILE")
        if explicit.asked or (explicit.start is not None and not timed.settings):
            raise click.UsageError(
                "--event is played in rounds, not on a clock; --start goes with --set"
            )
        start = None if explicit.start is None else group_at_start(explicit.start, beside)
        played = simulate_timed(
            timed,
            options["assignors"],
            start=start,
            seed=seed,
            engine=engine,
            processes=options["processes"],
            form=form,
        )
        context.exit(played)
    rounds = RoundsOptions(**{each.name: options[each.name] for each in fields(RoundsOptions)})
    if explicit.is_asked:
        played = simulate_groups(explicit, files, rounds=rounds, beside=beside, form=form)
        context.exit(played)
    context.exit(simulate_rounds(rounds, files, seed=seed, engine=engine, beside=beside, form=form))
