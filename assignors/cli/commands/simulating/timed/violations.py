"""`simulate --scenario --history` and `--shrink`: what led to a violation, and a small scenario."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assignors.cli.outputs.forms import dumps
from assignors.documents.values import SCHEMA, Document
from assignors.simulation.timed.explore.history import NOTHING, history
from assignors.simulation.timed.explore.shrinking import shrunk
from assignors.simulation.timed.monitors.rules import described
from assignors.simulation.timed.scenario_document import brief_document
from assignors.simulation.timed.tables.rows import row_of, simulate_with_all_figures

if TYPE_CHECKING:
    from assignors.cli.commands.simulating.timed.request import TimedRequest


def show_history(request: TimedRequest, subjects: Sequence[str] = ()) -> int:
    """Print the events of the one run that is asked for, up to its first violation.

    With `subjects` those of these members and partitions alone. Returns the exit code: 1 for a
    violation. Raises `click.UsageError` for more runs than one, and for an unknown subject.
    """
    if request.count != 1:
        raise click.UsageError("--history shows one run: one seed, one protocol, one model")
    (scenario,) = request.scenarios()
    try:
        lines = history(scenario, subjects)
    except ValueError as error:
        raise click.UsageError(f"--history-of: {error}") from None
    line = NOTHING
    for line in lines:
        click.echo(line)
    return int(line != NOTHING)


def shrink_documents(request: TimedRequest, path: str) -> Iterator[Document]:
    """Write a small scenario that violates what the first run with a violation does.

    Yields the result of the small one. Raises `click.UsageError` where no run violates anything,
    and for a file that cannot be written.
    """
    for scenario in request.scenarios():
        small = shrunk(scenario)
        if small is not None:
            break
    else:
        raise click.UsageError("--shrink: no monitor finds anything in any of these runs")
    try:
        text = dumps(brief_document(small.scenario), indent=1)
        Path(path).write_text(f"{text}\n", "utf-8")
    except OSError as error:
        raise click.UsageError(f"--shrink: {error}") from None
    result = simulate_with_all_figures(small.scenario).result
    seen = described(small.violation, small.scenario.seed)
    found = replace(result, violations=max(result.violations, 1), first_violation=seen)
    yield {"schema": SCHEMA, **row_of(small.scenario, found)}
