"""Records in memory: whatever gives its columns by Arrow's C stream interface.

A pandas or Polars frame and a pyarrow table are alike here. The columns are those of
Spark's Kafka source, as in a Parquet file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import pyarrow as pa

from assignors.replay.sources.arrow.batches import rows, uniform
from assignors.replay.sources.raw import Raw, SourceError

WHERE = "the table"
"""Its name in messages."""


@runtime_checkable
class ArrowStream(Protocol):
    """A table of another library, see Arrow's PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the table's columns as a stream."""


def read_frame(frame: ArrowStream) -> Iterator[Raw]:
    """Yield the records of a table in memory; raises `SourceError` where it has none, when called.

    A value that its column cannot hold is a row with `error`. Cost: linear in the bytes.

    >>> [raw.key for raw in read_frame(pa.table({"key": [b"k"], "value": [None]}))]
    [b'k']
    """
    reader = pa.RecordBatchReader.from_stream(frame)
    names = reader.schema.names
    missing = [name for name in ("key", "value") if name not in names]
    if missing:
        text = f"no column {' and '.join(missing)} among {', '.join(names)}"
        raise SourceError(f"{WHERE}: {text}")
    return rows(_batches(reader))


def _batches(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    first = 0
    for batch in reader:
        yield uniform(batch, WHERE, first_row=first)
        first += batch.num_rows
