"""Sources that are Arrow batches (`RAW`), and rows as such batches: what needs pyarrow."""

from __future__ import annotations

from assignors.extras import imported_from

with imported_from("replay"):
    import pyarrow as pa  # noqa: F401 - what all of this needs

from assignors.replay.sources.arrow.batches import (
    BATCH_BYTES,
    BATCH_ROWS,
    POSITION,
    RAW,
    batched,
    positioned,
    rows,
    uniform,
)
from assignors.replay.sources.arrow.parquet import read_parquet, write_parquet

__all__ = [
    "BATCH_BYTES",
    "BATCH_ROWS",
    "POSITION",
    "RAW",
    "batched",
    "positioned",
    "read_parquet",
    "rows",
    "uniform",
    "write_parquet",
]
