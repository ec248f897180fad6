"""Traffic on Arrow batches: scenario rows in, rows of figures out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from assignors.arrow.schemas import schema_of
from assignors.simulation.traffic.results import TrafficResult
from assignors.simulation.traffic.tables.rows import GIVEN, traffic_rows

RESULT = pa.schema(
    [
        ("scenario", pa.string()),
        ("seed", pa.int64()),
        ("assignor", pa.string()),
        *schema_of(TrafficResult),
        ("error", pa.string()),
    ]
)
"""One row a scenario row and assignor; its figures are null where `error` is set."""


def simulate(
    batches: Iterable[pa.RecordBatch], *, assignors: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Yield the figures (`RESULT`) of scenario rows; see `rows.traffic_rows`.

    Raises `ValueError` for an unknown assignor, before anything is simulated. Memory: one input
    batch and one run.
    """
    for batch in batches:
        names = [name for name in GIVEN if name in batch.schema.names]
        for row in batch.select(names).to_pylist():
            made = list(traffic_rows([row], assignors=assignors))
            yield pa.RecordBatch.from_pylist(made, schema=RESULT)
