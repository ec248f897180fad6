"""Timed runs on Arrow batches: scenario rows in, rows of results or of intervals out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from zlib import crc32

import pyarrow as pa

from assignors.arrow.schemas import schema_of
from assignors.documents.values import DocumentError
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.tables.cost import cost_of, shared_out
from assignors.simulation.timed.tables.rows import (
    GIVEN,
    INTERVAL_COLUMNS,
    RESULT_COLUMNS,
    IntervalRow,
    interval_rows,
    result_rows,
    scenarios_of,
)
from assignors.simulation.timed.tables.summary import SummaryRow, summary_rows

RUNS_A_BATCH = 50
INTERVALS_A_BATCH = 10_000

TASK = "simulation_task"
"""Column of the task that takes a run; `shared_out` adds it."""

_TYPES = {
    **{field.name: field.type for kind in (TimedResult, IntervalRow) for field in schema_of(kind)},
    **dict.fromkeys(
        (
            "protocol",
            "coordinator_model",
            "client_model",
            "assignor",
            "scenario_hash",
            "package_version",
            "error",
        ),
        pa.string(),
    ),
}
RESULT = pa.schema([(name, _TYPES[name]) for name in RESULT_COLUMNS])
"""One row a run; its figures are null where `error` is set."""
INTERVAL = pa.schema([(name, _TYPES[name]) for name in INTERVAL_COLUMNS])
"""One row an interval in which a member consumed a partition."""


def result_schema(given: pa.Schema) -> pa.Schema:
    """Return the schema of the results of scenario rows: their other columns, then `RESULT`.

    Raises `ValueError` for another column that has the name of one of `RESULT`.
    """
    others = [field for field in given if field.name not in GIVEN]
    for field in others:
        if field.name in RESULT_COLUMNS:
            raise ValueError(f"column {field.name!r} is one of the results; call it something else")
    return pa.schema([*others, *RESULT])


def results(
    batches: Iterable[pa.RecordBatch],
    *,
    own_assignors: Collection[str] = (),
    all_figures: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Yield one row for each scenario row (`result_schema`), with its other columns as they are.

    With `all_figures` figures too that are measured on request. Memory: one input batch, one run,
    and `RUNS_A_BATCH` result rows.
    """
    for batch in batches:
        schema = result_schema(batch.schema)
        others = [name for name in batch.schema.names if name not in GIVEN]
        played = result_rows(_rows(batch), own_assignors=own_assignors, all_figures=all_figures)
        for start in range(0, batch.num_rows, RUNS_A_BATCH):
            part = batch.slice(start, RUNS_A_BATCH)
            made = [with_maps_as_pairs(row) for row in islice(played, part.num_rows)]
            columns = [part.column(name) for name in others]
            columns += pa.RecordBatch.from_pylist(made, schema=RESULT).columns
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


def with_maps_as_pairs(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as Arrow takes it: a map is a list of its keys and values."""
    return {
        name: [*value.items()] if isinstance(value, dict) else value for name, value in row.items()
    }


def intervals(
    batches: Iterable[pa.RecordBatch], *, own_assignors: Collection[str] = ()
) -> Iterator[pa.RecordBatch]:
    """Yield who consumed what, when, in the runs of scenario rows (`INTERVAL`)."""
    found = (
        row for batch in batches for row in interval_rows(_rows(batch), own_assignors=own_assignors)
    )
    while chunk := list(islice(found, INTERVALS_A_BATCH)):
        yield pa.RecordBatch.from_pylist(chunk, schema=INTERVAL)


def tasked(
    batches: Iterable[pa.RecordBatch], *, tasks: int, own_assignors: Collection[str] = ()
) -> Iterator[pa.RecordBatch]:
    """Yield the batches with `TASK`: which of `tasks` takes each row, by the costs of the runs."""
    for batch in batches:
        costs = [
            1 if isinstance(scenario, DocumentError) else cost_of(scenario)
            for _, scenario in scenarios_of(_rows(batch), own_assignors)
        ]
        # Batches of one row each must not all begin with the same task.
        first = crc32(repr([c[:1] for c in batch.to_pydict().values()]).encode()) % tasks
        column = pa.array(shared_out(costs, tasks, first=first), pa.int32())
        yield batch.append_column(TASK, column)


def summary_schema(given: pa.Schema, *, by: Sequence[str], between: str) -> pa.Schema:
    """Return the schema of the summary of such results: the columns of its groups come first."""
    return pa.schema([*(given.field(name) for name in (*by, between)), *schema_of(SummaryRow)])


def summary_table(
    results: pa.Table, *, by: Sequence[str], between: str, figures: Sequence[str]
) -> pa.Table:
    """Return the rows of `summary.summary_rows` for a table of results."""
    schema = summary_schema(results.schema, by=by, between=between)
    rows = summary_rows(results.to_pylist(), by=by, between=between, figures=figures)
    return pa.Table.from_pylist([*rows], schema=schema)


def _rows(batch: pa.RecordBatch) -> Iterator[dict[str, object]]:
    """Yield the rows with the columns that make a scenario, one after another."""
    names = [name for name in GIVEN if name in batch.schema.names]
    columns = [batch.column(name) for name in names]
    for place in range(batch.num_rows):
        yield {name: column[place].as_py() for name, column in zip(names, columns, strict=True)}
