"""Simulation on Arrow batches: scenario rows in, outcome rows out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import pyarrow as pa

from assignors.arrow.schemas import schema_of
from assignors.simulation.rounds.outcome import Outcome
from assignors.simulation.rounds.scenario_rows import outcome_rows

ROWS_A_BATCH = 2000

OUTCOME = pa.schema([("id", pa.string()), *schema_of(Outcome), ("error", pa.string())])
"""One row a scenario, event and assignor; all null but the names where `error` is set."""


def simulate(
    batches: Iterable[pa.RecordBatch], *, assignors: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Yield the outcome rows (`OUTCOME`) of scenario rows; see `scenario_rows.outcome_rows`.

    Raises `ValueError` for an unknown assignor, before anything is played. Memory: one input
    batch and `ROWS_A_BATCH` outcomes, whatever the number of rows.
    """
    rows = (row for batch in batches for row in batch.to_pylist())
    outcomes = outcome_rows(rows, assignors)
    while chunk := list(islice(outcomes, ROWS_A_BATCH)):
        yield pa.RecordBatch.from_pylist(chunk, schema=OUTCOME)
