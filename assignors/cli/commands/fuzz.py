"""`fuzz`: plays random scenarios until one violates a rule, and writes the smallest of its kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import click

from assignors.cli.inputs.assignor_names import portable_names
from assignors.cli.inputs.option_types import NewFile, names_listed
from assignors.cli.inputs.run_options import assignors_option, protocols_option, seed_option
from assignors.cli.outputs.cells import dumps
from assignors.cli.outputs.forms import Form, output_option, write
from assignors.cli.outputs.progress import with_progress
from assignors.documents.failures import NO_ERROR
from assignors.documents.values import SCHEMA, Document, DocumentError
from assignors.simulation.timed.explore.fuzz import Fuzzed
from assignors.simulation.timed.explore.fuzz import fuzz as fuzzed
from assignors.simulation.timed.explore.random_scenarios import Choices
from assignors.simulation.timed.group_protocols import GroupProtocol
from assignors.simulation.timed.monitors.rules import described
from assignors.simulation.timed.scenario import Scenario
from assignors.simulation.timed.scenario_document import brief_document, own_assignors_of


@click.command()
@click.argument("count", metavar="N", type=click.IntRange(1, 1_000_000))
@protocols_option(GroupProtocol, "Protocols to draw from, with commas between. Default: all.")
@assignors_option
@seed_option
@click.option(
    "--shrink",
    type=NewFile(),
    help="The file for the smallest scenario. Default: violation-SEED.json.",
)
@output_option
@click.pass_context
def fuzz(
    context: click.Context,
    *,
    count: int,
    protocols: tuple[str, ...],
    assignors: tuple[tuple[str, ...], ...],
    seed: int,
    shrink: str | None,
    form: Form,
) -> None:
    """Play random scenarios on a clock until one breaks a rule.

    Members, protocols, clients, execution models, plans and faults are drawn from N seeds, one for
    each scenario, and every monitor watches. The first violation is made as small as possible
    and written as a file, which simulate plays. Exit code 1 if there is one.

    In Python: assignors.simulation.timed.explore.fuzz.
    """
    progress = partial(with_progress, count=count, unit="scenarios")
    try:
        choices = Choices(
            protocols=tuple(map(GroupProtocol, names_listed(protocols))),
            assignors=portable_names(assignors),
        )
        found = fuzzed(count, seed=seed, choices=choices, progress=progress)
    except DocumentError as error:
        raise click.UsageError(f"no such scenario: {error}") from None
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    document = {"schema": SCHEMA, **_coverage(found), **_violation(found, shrink), **NO_ERROR}
    context.exit(write([document], form, show))


def _coverage(found: Fuzzed) -> dict[str, object]:
    counts = ("protocols", "clients", "executions", "faults", "actions")
    return {
        "first_seed": found.first_seed,
        "scenarios": found.scenarios,
        "events": found.events,
        "stopped": found.stopped,
        **{name: dict(sorted(getattr(found, name).items())) for name in counts},
    }


def _violation(found: Fuzzed, path: str | None) -> dict[str, object]:
    """Return the violation, and write its smallest scenario."""
    small = found.smallest
    if small is None:
        names = ("seed", "monitor", "first_violation", "scenario", "file", "again")
        return {"violations": 0, **dict.fromkeys(names)}
    document = brief_document(small.scenario)
    file = path or f"violation-{found.seed}.json"
    try:
        Path(file).write_text(f"{dumps(document, indent=1)}\n", "utf-8")
    except OSError as error:
        raise click.UsageError(str(error)) from None
    return {
        "violations": 1,
        "seed": found.seed,
        "monitor": small.violation.monitor,
        "first_violation": described(small.violation, small.scenario.seed),
        "scenario": document,
        "file": file,
        "again": _again(file, small.scenario),
    }


def _again(file: str, scenario: Scenario) -> str:
    """Return the command that plays a scenario up to its violation."""
    own = "".join(f" --own-assignor {quote(name)}" for name in sorted(own_assignors_of(scenario)))
    return f"kafka-assignors simulate {quote(file)} --seed {scenario.seed}{own} --history"


def show(documents: Iterable[Document]) -> None:
    """Print how much was played, and the violation."""
    for document in documents:
        found: dict[str, Any] = {**document}
        last = found["first_seed"] + found["scenarios"] - 1
        click.echo(
            f"{found['scenarios']:,} random scenarios, seeds {found['first_seed']} to {last}, "
            f"{found['events']:,} events; {found['stopped']} stopped early"
        )
        for name in ("protocols", "clients", "executions", "faults", "actions"):
            click.echo(f"  {name}: {_counts(found[name])}")
        if not found["violations"]:
            click.echo("no monitor found a violation")
            continue
        members, faults = (len(found["scenario"].get(key, ())) for key in ("members", "faults"))
        click.echo(f"seed {found['seed']} violates {found['monitor']}")
        click.echo(f"  smallest scenario ({members} members, {faults} faults): {found['file']}")
        click.echo(f"  {found['first_violation']}")
        click.echo(f"  again: {found['again']}")


def _counts(counts: Mapping[str, int]) -> str:
    by_count = sorted(counts.items(), key=lambda each: -each[1])
    return ", ".join(f"{name} {count:,}" for name, count in by_count) or "none"
