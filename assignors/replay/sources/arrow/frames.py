"""Records in memory: whatever gives its columns by Arrow's C stream interface.

A pandas or Polars frame and a pyarrow table are alike here. The columns are those of
Spark's Kafka source, as in a Parquet file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from assignors.replay.sources.arrow.batches import rows, uniform
from assignors.replay.sources.raw import Raw, SourceError

WHERE = "the table"
"""Its name in messages."""


def read_frame(frame: Any) -> Iterator[Raw]:  # noqa: ANN401 - of any library
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
