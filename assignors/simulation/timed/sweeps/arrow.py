"""Points of a sweep on Arrow batches: point rows in, rows of figures out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from assignors.arrow.schemas import schema_of
from assignors.simulation.timed.execution.measures import Measured
from assignors.simulation.timed.sweeps.points import FIELDS
from assignors.simulation.timed.sweeps.rows import POINT_COLUMNS, Derived, measured_rows

POINTS_A_BATCH = 50

_KINDS = {int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
POINT = pa.schema(
    [
        ("model", pa.string()),
        *((name, _KINDS.get(each.kind, pa.string())) for name, each in FIELDS.items()),
    ]
)
"""One row a point; null is the default of a field."""
MEASURED = pa.schema([*POINT, *schema_of(Measured), *schema_of(Derived), ("error", pa.string())])
"""One row a point, with its figures; these are null where `error` is set."""


def measured_schema(given: pa.Schema) -> pa.Schema:
    """Return the schema of the figures of point rows: their other columns, then `MEASURED`.

    Raises `ValueError` for another column that has the name of one of `MEASURED`.
    """
    others = [field for field in given if field.name not in POINT_COLUMNS]
    for field in others:
        if field.name in MEASURED.names:
            raise ValueError(f"column {field.name!r} is one of the results; call it something else")
    return pa.schema([*others, *MEASURED])


def measured(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield one row for each point row (`measured_schema`), with its other columns as they are.

    Memory: one input batch, one run, and `POINTS_A_BATCH` result rows.
    """
    for batch in batches:
        schema = measured_schema(batch.schema)
        others = [name for name in batch.schema.names if name not in POINT_COLUMNS]
        points = [name for name in batch.schema.names if name in POINT_COLUMNS]
        for start in range(0, batch.num_rows, POINTS_A_BATCH):
            part = batch.slice(start, POINTS_A_BATCH)
            made = list(measured_rows(part.select(points).to_pylist()))
            columns = [part.column(name) for name in others]
            columns += pa.RecordBatch.from_pylist(made, schema=MEASURED).columns
            yield pa.RecordBatch.from_arrays(columns, schema=schema)
