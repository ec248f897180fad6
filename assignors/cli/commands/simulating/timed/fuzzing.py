"""`simulate --fuzz`: random scenarios, the first violation, and its smallest scenario as a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import click

from assignors.cli.commands.simulating.timed.options import TimedOptions
from assignors.cli.inputs.typed.choices import names_listed
from assignors.cli.outputs.forms import dumps
from assignors.cli.outputs.progress import with_progress
from assignors.documents.values import SCHEMA, Document, DocumentError
from assignors.simulation.timed.explore.fuzz import Fuzzed, fuzz
from assignors.simulation.timed.explore.random_scenarios import Choices
from assignors.simulation.timed.monitors.rules import described
from assignors.simulation.timed.scenario import ClientModel, GroupProtocol, Scenario
from assignors.simulation.timed.scenario_document import brief_document, own_assignors_of


def fuzz_documents(
    options: TimedOptions, assignors: Sequence[str], *, first_seed: int
) -> Iterator[Document]:
    """Yield what random scenarios have shown; write the smallest one with a violation.

    Raises `click.UsageError` for a negative seed, an assignor that no scenario can have, and a file
    that cannot be written.
    """
    assert options.fuzz is not None
    progress = partial(with_progress, count=options.fuzz, unit="scenarios")
    try:
        choices = Choices(
            protocols=tuple(map(GroupProtocol, names_listed(options.protocols))),
            clients=tuple(map(ClientModel, names_listed(options.clients))),
            assignors=tuple(assignors),
        )
        found = fuzz(options.fuzz, seed=first_seed, choices=choices, progress=progress)
    except DocumentError as error:
        raise click.UsageError(f"--fuzz: no such scenario: {error}") from None
    except ValueError as error:
        raise click.UsageError(f"--fuzz: {error}") from None
    yield {"schema": SCHEMA, **_coverage(found), **_violation(found, options.shrink), "error": None}


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
        raise click.UsageError(f"--fuzz: {error}") from None
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
    return (
        f"kafka-assignors simulate --scenario {quote(file)} --seed {scenario.seed}{own} --history"
    )


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
