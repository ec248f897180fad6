"""Rows of sources as Arrow batches (`RAW`), which Spark and Parquet files want, and back.

A batch has at most `BATCH_ROWS` rows and about `BATCH_BYTES` bytes of keys and values (one longer
record is a batch of its own).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import repeat
from typing import Any

import pyarrow as pa

from assignors.replay.sources.raw import Raw, SourceError, time_or_none

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


def uniform(batch: pa.RecordBatch, where: str, *, first_row: int | None = None) -> pa.RecordBatch:
    """Return any batch with the columns of `RAW`; those it lacks are null.

    Text in `key` and `value` is taken as its bytes. A value that its column cannot hold (text
    that is no UTF-8, a partition beyond int32) costs its row alone: `error` has the column and
    the reason, and with `first_row`, the number of the batch's first row in `where`, the place.
    Raises `SourceError` where a whole column is of another kind.
    """
    columns: dict[str, pa.Array] = {}
    reasons: dict[int, str] = {}
    for field in RAW:
        if field.name not in batch.schema.names:
            columns[field.name] = pa.nulls(batch.num_rows, field.type)
            continue
        try:
            columns[field.name], bad = _converted(batch.column(field.name), field.type)
        except pa.ArrowNotImplementedError as error:
            raise SourceError(f"{where}: column {field.name}: {error}") from error
        for place, reason in bad.items():
            row = "" if first_row is None else f"{where}: row {first_row + place}: "
            reasons.setdefault(place, f"{row}column {field.name}: {reason}")
    if reasons:
        import pyarrow.compute as pc  # noqa: PLC0415 - 26 ms, and lines need none of it

        texts = pa.array([reasons.get(place) for place in range(batch.num_rows)], pa.string())
        columns["error"] = pc.coalesce(columns["error"], texts)
        for name in ("key", "value"):
            columns[name] = pc.if_else(texts.is_null(), columns[name], None)
    return pa.RecordBatch.from_arrays(list(columns.values()), schema=RAW)


def positioned(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches of a source with the column `POSITION` behind those of `RAW`."""
    position = 0
    for batch in batches:
        behind = position + batch.num_rows
        yield batch.append_column(POSITION, pa.array(range(position, behind), POSITION.type))
        position = behind


def slices(batch: pa.RecordBatch, bytes_max: int) -> Iterator[tuple[int, int, int]]:
    """Yield first row, number of rows and bytes of pieces, of about `bytes_max` at most each.

    A row that is longer is a piece of its own. What counts are the bytes of binary and text
    columns, those of a dictionary as often as rows name them: so the pieces are known before
    any is made.
    """
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    # No `fill_null` here: a Python value that becomes an Arrow one imports pandas, 0.2 s and 40 MB.
    lengths = [_lengths(column) for column in batch.columns if _has_bytes(column.type)]
    total = sum(pc.sum(each).as_py() or 0 for each in lengths)
    if total <= bytes_max:
        if batch.num_rows:
            yield 0, batch.num_rows, total
        return
    first = size = 0
    for place, known in enumerate(zip(*(each.to_pylist() for each in lengths), strict=True)):
        length = sum(filter(None, known))
        if place > first and size + length > bytes_max:
            yield first, place - first, size
            first, size = place, 0
        size += length
    if batch.num_rows > first:
        yield first, batch.num_rows - first, size


def _converted(column: pa.Array, kind: pa.DataType) -> tuple[pa.Array, dict[int, str]]:
    """Return a column as another type, and why some of its rows, null there, cannot be that."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        return _cast(column, kind), {}
    except pa.ArrowInvalid:
        pass
    parts: list[pa.Array] = []
    reasons: dict[int, str] = {}
    for place in range(len(column)):
        try:
            parts.append(_cast(column.slice(place, 1), kind))
        except pa.ArrowInvalid as error:
            parts.append(pa.nulls(1, kind))
            reasons[place] = str(error).splitlines()[0]
    return pa.concat_arrays(parts), reasons


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    cast = column.cast(kind)
    if pa.types.is_string(kind):
        cast.validate(full=True)  # Arrow has not checked yet that it is UTF-8
    return cast


def _has_bytes(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return any(
        is_it(kind)
        for is_it in (
            pa.types.is_binary,
            pa.types.is_string,
            pa.types.is_large_binary,
            pa.types.is_large_string,
        )
    )


def _lengths(column: pa.Array) -> pa.Array:
    """Return how many bytes each row has, null where it is null."""
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    if pa.types.is_dictionary(column.type):
        lengths = pc.binary_length(column.dictionary).take(column.indices)
    else:
        lengths = pc.binary_length(column)
    return lengths.cast(pa.int64())


def _batch(raws: list[Raw]) -> pa.RecordBatch:
    columns = {name: [getattr(raw, name) for raw in raws] for name in _NAMES}
    columns["timestamp_ms"] = [_microseconds(time_ms) for time_ms in columns["timestamp_ms"]]
    arrays = [
        pa.array(column, field.type) for column, field in zip(columns.values(), RAW, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=RAW)


def _microseconds(timestamp_ms: int | None) -> int | None:
    known_ms = time_or_none(timestamp_ms)
    return None if known_ms is None else known_ms * 1000


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
