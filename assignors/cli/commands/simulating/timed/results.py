"""What `simulate --scenario` writes: named scenarios, the result of each run, intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import click

from assignors.cli.commands.simulating.rounds import CHUNKS_EACH
from assignors.cli.commands.simulating.timed.request import TimedRequest
from assignors.cli.inputs.scenarios import error_document
from assignors.cli.outputs.progress import with_progress
from assignors.documents.values import SCHEMA, Document, DocumentError
from assignors.simulation.processes import usable_processors
from assignors.simulation.timed.gallery import GALLERY
from assignors.simulation.timed.tables.cost import cost_of
from assignors.simulation.timed.tables.rows import (
    RUNS_A_CHUNK,
    interval_rows,
    overridden,
    result_rows,
)
from assignors.simulation.timed.tables.variants import Variant

SMALL_WORK = 300_000
"""Events that one processor plays in about five seconds, by the estimate of `cost_of`."""
EVENTS_A_RUN = 500
"""Events of a run, beside those: a small one costs as much to begin."""


def listed() -> Iterator[Document]:
    """Yield the scenarios of the gallery: name, protocols, what each shows, expected figures."""
    for name, one in GALLERY.items():
        yield {
            "schema": SCHEMA,
            "scenario": name,
            "protocols": [protocol.value for protocol in one.expected],
            "text": one.text,
            "expected": {protocol.value: figures for protocol, figures in one.expected.items()},
            "error": None,
        }


def result_documents(request: TimedRequest) -> Iterator[Document]:
    """Yield the result of each run, with a progress bar; at the end note what members failed with.

    A group may settle without those: its other figures do not say so.
    """
    errors: Counter[str] = Counter()
    failed_runs = 0
    for each in _documents(with_progress(_played(request, "simulate"), request.count, "runs")):
        found: Any = each["fatal_errors"]
        failed_runs += bool(found)
        errors.update(found or {})
        yield each
    if errors:
        runs = f" in {failed_runs} of {request.count} runs" if request.count > 1 else ""
        click.echo(f"note: {_stopped(errors)}{runs}", err=True)


def _stopped(errors: Mapping[str, int]) -> str:
    """Return how many members stopped with which error.

    >>> _stopped({"GROUP_MAX_SIZE_REACHED": 5, "FENCED_INSTANCE_ID": 1})
    '5 members stopped with GROUP_MAX_SIZE_REACHED, 1 member with FENCED_INSTANCE_ID'
    """
    said: list[str] = []
    for name, count in errors.items():
        members = "1 member" if count == 1 else f"{count:,} members"
        said.append(f"{members} with {name}" if said else f"{members} stopped with {name}")
    return ", ".join(said)


def interval_documents(request: TimedRequest) -> Iterator[Document]:
    """Yield who consumed what, when, in each run."""
    return _documents(with_progress(_played(request, "intervals"), None, "intervals"))


def _played(request: TimedRequest, what: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of the results or the intervals, from the engine that is asked for."""
    settings: dict[str, Any] = {"own_assignors": request.own_assignors}
    if what == "simulate":
        settings["all_figures"] = request.all_figures
    if request.engine == "spark":
        from assignors.cli.commands.simulating.spark import (  # noqa: PLC0415 - needs an extra
            timed_with_spark,
        )

        return timed_with_spark(
            request.text,
            request.variants,
            request.first_seed,
            request.seeds,
            what,
            **settings,
        )
    processes = request.processes or _default_processes(request)
    chunk = max(1, min(RUNS_A_CHUNK, request.count // (CHUNKS_EACH * processes)))
    played = result_rows if what == "simulate" else interval_rows
    return played(request.rows(), processes=processes, chunk=chunk, **settings)


def _default_processes(request: TimedRequest) -> int:
    """Return one process for each processor, or one where several take longer to start than to run.

    The work is counted in events.
    """
    work = request.seeds * sum(map(partial(_events, request), request.variants))
    return 1 if work < SMALL_WORK else max(1, min(usable_processors(), request.count))


def _events(request: TimedRequest, variant: Variant) -> int:
    """Return about how many events a run of a variant has; one that cannot be played has none."""
    try:
        scenario = overridden(request.scenario, variant, request.own_assignors)
    except DocumentError:
        return 0
    return EVENTS_A_RUN + cost_of(scenario)


def _documents(rows: Iterator[Mapping[str, Any]]) -> Iterator[Document]:
    for row in rows:
        reason = None if row["error"] is None else error_document(row["error"])
        yield {"schema": SCHEMA, **row, "error": reason}
