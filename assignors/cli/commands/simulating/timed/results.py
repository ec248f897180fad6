"""What `simulate --scenario` writes: named scenarios, the result of each run, intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import click

from assignors.cli.commands.simulating.rounds import CHUNKS_EACH
from assignors.cli.commands.simulating.timed.request import TimedRequest
from assignors.cli.inputs.scenarios import row_documents
from assignors.cli.outputs.progress import with_progress
from assignors.documents.values import SCHEMA, Document, DocumentError
from assignors.simulation.processes import usable_processors
from assignors.simulation.timed.gallery import GALLERY
from assignors.simulation.timed.tables.rows import (
    RUNS_A_CHUNK,
    interval_rows,
    overridden,
    result_rows,
)
from assignors.simulation.timed.tables.variants import Variant, variant_rows

SMALL_WORK = 300_000
"""Events that one processor plays in about five seconds."""
EVENTS_A_RUN = 500
"""A small run costs as much to begin."""
EVENTS_A_MEMBER = 10
"""Events of a member in a rebalance: requests, answers, timers, callbacks."""
EVENTS_A_REQUEST = 4
"""Events of a request of an execution model: it comes, is handled, replicated, and answered."""


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
    rows = with_progress(_played(request, has_intervals=False), request.count, "runs")
    for each in row_documents(rows):
        found: Any = each.get("fatal_errors")
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
    return row_documents(with_progress(_played(request, has_intervals=True), None, "intervals"))


def _played(request: TimedRequest, *, has_intervals: bool) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of the results or the intervals, from the engine that is asked for."""
    if request.engine == "spark":
        from assignors.cli.commands.simulating.spark import (  # noqa: PLC0415 - needs an extra
            timed_with_spark,
        )

        return timed_with_spark(
            variant_rows(request.scenario, request.variants),
            request.first_seed,
            request.seeds,
            has_intervals=has_intervals,
            own_assignors=request.own_assignors,
        )
    processes = request.processes or _default_processes(request)
    chunk = max(1, min(RUNS_A_CHUNK, request.count // (CHUNKS_EACH * processes)))
    played = interval_rows if has_intervals else result_rows
    own = request.own_assignors
    return played(request.rows(), processes=processes, chunk=chunk, own_assignors=own)


def _default_processes(request: TimedRequest) -> int:
    """Return one process for each processor, or one where several take longer to start than to run.

    The work is counted in events.
    """
    work = request.seeds * sum(map(partial(_events, request), request.variants))
    return 1 if work < SMALL_WORK else max(1, min(usable_processors(), request.count))


def _events(request: TimedRequest, variant: Variant) -> int:
    """Return about how many events a run of a variant has; one that cannot be played has none.

    Every action is a rebalance of all members, and the start is half of one for each. Heartbeats
    that change nothing cost none, but where a model executes the coordinator every request is
    several events, those of other groups too.
    """
    try:
        scenario = overridden(request.scenario, variant, request.own_assignors)
    except DocumentError:
        return 0
    members, execution = len(scenario.members), scenario.broker.execution
    rebalances = len(scenario.plan) + 1
    requests = 0
    if scenario.execution_model is not None:
        beats = sum(scenario.until_ms // each.heartbeat_interval_ms for each in scenario.members)
        requests = beats + execution.others.per_second * scenario.until_ms // 1000
    return EVENTS_A_RUN + EVENTS_A_MEMBER * members * rebalances + EVENTS_A_REQUEST * requests
