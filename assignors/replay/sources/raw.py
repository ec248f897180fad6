"""What every source yields: Arrow batches with the columns of Spark's own Kafka source.

So a live topic, a dump and a segment file are the same to whatever comes next, on Spark or
not. Two columns are ours. `error` says what could not be read, and where; then `key` and
`value` are null. `transaction` says how the transaction of a record ended, where the source
can know: null means none, or unknown.

A source never holds more than a batch: at most `BATCH_ROWS` rows and about `BATCH_BYTES` bytes
of keys and values (one longer record is a batch of its own).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import repeat
from typing import Any

import pyarrow as pa

BATCH_ROWS = 10_000
BATCH_BYTES = 16 << 20

RAW = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("timestampType", pa.int32()),
        ("transaction", pa.string()),
        ("error", pa.string()),
    ]
)
"""One row a record, or a place that could not be read."""

POSITION = pa.field("position", pa.int64())
"""A column of some sources on Spark, which keeps no order: where a row stands in its source."""

_MICROSECONDS_MAX = 2**63 // 1000 - 1


class SourceError(ValueError):
    """A source that cannot be read at all, in one line that names it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Raw:
    """One row of a source, its fields in the order of `RAW`, for code that reads row by row."""

    key: bytes | None = None
    value: bytes | None = None
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    timestamp_ms: int | None = None
    timestamp_type: int | None = None
    transaction: str | None = None
    error: str | None = None


_NAMES = tuple(field.name for field in fields(Raw))


def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Raw]:
    """Yield the rows of batches one by one.

    >>> raw = Raw(key=b"k", topic="__consumer_offsets", partition=3, offset=7, timestamp_ms=1)
    >>> list(rows(batched([raw]))) == [raw]
    True
    """
    for batch in batches:
        columns = [_values(batch, field.name) for field in RAW]
        for row in zip(*columns, strict=True):
            yield Raw(**dict(zip(_NAMES, row, strict=True)))


def batched(
    raws: Iterable[Raw], *, batch_rows: int = BATCH_ROWS, batch_bytes: int = BATCH_BYTES
) -> Iterator[pa.RecordBatch]:
    """Yield the rows as batches of `RAW`, none longer than asked for."""
    held: list[Raw] = []
    size = 0
    for raw in raws:
        held.append(raw)
        size += len(raw.key or b"") + len(raw.value or b"")
        if len(held) >= batch_rows or size >= batch_bytes:
            yield _batch(held)
            held, size = [], 0
    if held:
        yield _batch(held)


def uniform(batch: pa.RecordBatch, where: str) -> pa.RecordBatch:
    """Return a batch of anybody's with the columns of `RAW`; those it lacks are null.

    Text in `key` and `value` is taken as its bytes. Raises `SourceError` where a column is of
    another kind.
    """
    columns = []
    for field in RAW:
        if field.name not in batch.schema.names:
            columns.append(pa.nulls(batch.num_rows, field.type))
            continue
        try:
            columns.append(batch.column(field.name).cast(field.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise SourceError(f"{where}: column {field.name}: {error}") from error
    return pa.RecordBatch.from_arrays(columns, schema=RAW)


def _batch(raws: list[Raw]) -> pa.RecordBatch:
    columns = {name: [getattr(raw, name) for raw in raws] for name in _NAMES}
    columns["timestamp_ms"] = [_microseconds(time_ms) for time_ms in columns["timestamp_ms"]]
    arrays = [
        pa.array(column, field.type) for column, field in zip(columns.values(), RAW, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=RAW)


def _microseconds(timestamp_ms: int | None) -> int | None:
    """Return a time as Arrow has it; null where it is too far off for a timestamp."""
    if timestamp_ms is None or abs(timestamp_ms) > _MICROSECONDS_MAX:
        return None
    return timestamp_ms * 1000


def _values(batch: pa.RecordBatch, name: str) -> Iterable[Any]:
    """Return a column as Python values, nulls where there is no such column."""
    if name not in batch.schema.names:
        return repeat(None, batch.num_rows)
    column = batch.column(name)
    if pa.types.is_timestamp(column.type):
        unit = pa.timestamp("ms", column.type.tz)
        column = column.cast(unit, safe=False).cast(pa.int64())
    values: list[Any] = column.to_pylist()
    return values
