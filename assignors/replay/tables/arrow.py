"""The tables as Arrow, and from there as Parquet.

Schemas are derived from the row classes (`assignors.arrow.schemas.schema_of`): whole numbers are
int64, lists of names are lists, and partitions are a list of structs (topic, partitions).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from assignors.arrow.schemas import PARTITIONS, schema_of
from assignors.replay.tables.rows import TABLES, Row, Tables

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

WRITTEN_ROWS = 50_000
"""Rows that become Arrow, and a row group of Parquet, at a time."""


def as_arrow(table: type[Row], rows: Iterable[Row]) -> pa.Table:
    """Return rows as an Arrow table with the schema of their class; no rows are an empty table.

    Text becomes what UTF-8 can encode; a number beyond 64 bits, as wrong clocks give, becomes the
    nearest one within. Column by column: a dictionary for each row would take ten times the memory.

    >>> from assignors.replay.tables.rows import FindingRow
    >>> as_arrow(FindingRow, []).num_columns
    23
    """
    listed = list(rows)
    schema = schema_of(table)
    columns = [
        _column([getattr(row, field.name) for row in listed], field.type) for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def write_tables(tables: Tables, folder: str | Path) -> list[Path]:
    """Write each table as `folder/<table>.parquet`, empty ones too; return the paths.

    Memory: that of `WRITTEN_ROWS` rows as Arrow.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, table in TABLES.items():
        path = place / f"{name}.parquet"
        rows = getattr(tables, name)
        with pq.ParquetWriter(path, schema_of(table), compression="zstd") as writer:
            for first in range(0, len(rows), WRITTEN_ROWS):
                writer.write_table(as_arrow(table, rows[first : first + WRITTEN_ROWS]))
        paths.append(path)
    return paths


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    if kind == PARTITIONS:
        return _partitions(values)
    if pa.types.is_integer(kind):
        try:
            return pa.array(values, kind)
        except OverflowError:
            pass
    return pa.array([_value(value) for value in values], kind)


def _partitions(values: Sequence[Mapping[str, tuple[int, ...]] | None]) -> pa.ListArray:
    """Return partitions by topic as `PARTITIONS`."""
    struct = PARTITIONS.value_type
    shares = [value or {} for value in values]
    numbers = [listed for share in shares for listed in share.values()]
    arrays = [
        pa.array([_text(topic) for share in shares for topic in share], struct.field(0).type),
        pa.ListArray.from_arrays(
            _ends(map(len, numbers)),
            pa.array(list(chain.from_iterable(numbers)), struct.field(1).type.value_type),
            type=struct.field(1).type,
        ),
    ]
    return pa.ListArray.from_arrays(
        _ends(map(len, shares)),
        pa.StructArray.from_arrays(arrays, fields=list(struct)),
        type=PARTITIONS,
        mask=pa.array([value is None for value in values], pa.bool_()),
    )


def _ends(counts: Iterable[int]) -> pa.Array:
    """Return the offsets of lists with so many elements."""
    return pa.array(list(accumulate(counts, initial=0)), pa.int32())


def _value(value: object) -> object:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return max(INT64_MIN, min(value, INT64_MAX))
    if isinstance(value, tuple):
        return [_value(entry) for entry in value]
    if isinstance(value, Mapping):
        return [
            {"topic": _text(topic), "partitions": list(numbers)} for topic, numbers in value.items()
        ]
    return value


def _text(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
