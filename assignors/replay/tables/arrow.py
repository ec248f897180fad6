"""The tables as Arrow, and from there as Parquet.

Schemas are derived from the row classes (`assignors.arrow.schemas.schema_of`): whole numbers are
int64, lists of names are lists, and partitions are a list of structs (topic, partitions).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from assignors.arrow.schemas import PARTITIONS, schema_of
from assignors.replay.tables.rows import TABLES, Row, Tables

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


def as_arrow(table: type[Row], rows: Iterable[Row]) -> pa.Table:
    """Return rows as an Arrow table with the schema of their class; no rows are an empty table.

    >>> from assignors.replay.tables.rows import AnomalyRow
    >>> as_arrow(AnomalyRow, []).num_columns
    12
    """
    plain = [arrow_row(row) for row in rows]
    return pa.Table.from_pylist(plain, schema=schema_of(table))


def arrow_row(row: Row) -> dict[str, Any]:
    """Return a row as Arrow takes it: partitions as structs, text that UTF-8 can encode.

    A number beyond 64 bits, as wrong clocks give, becomes the nearest one within.
    """
    return {field.name: _value(getattr(row, field.name)) for field in fields(row)}


def row_of(table: type[Row], plain: Mapping[str, Any]) -> Row:
    """Return the row that `arrow_row` made `plain` of.

    >>> from assignors.replay.tables.rows import AnomalyRow
    >>> row = AnomalyRow(group="g", life=1, kind="starved", generation=2, at_ms=5, until_ms=None,
    ...     member_id="a", client_id="c", topic=None, partition=None, count=1, evidence="so")
    >>> row_of(AnomalyRow, arrow_row(row)) == row
    True
    """
    schema = schema_of(table)
    return table(**{column.name: _back(column.type, plain[column.name]) for column in schema})


def write_tables(tables: Tables, folder: str | Path) -> list[Path]:
    """Write each table as `folder/<table>.parquet`, empty ones too; return the paths."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, table in TABLES.items():
        path = place / f"{name}.parquet"
        pq.write_table(as_arrow(table, getattr(tables, name)), path, compression="zstd")
        paths.append(path)
    return paths


def _value(value: object) -> object:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return max(INT64_MIN, min(value, INT64_MAX))
    if isinstance(value, tuple):
        return [_text(entry) for entry in value]
    if isinstance(value, Mapping):
        return [
            {"topic": _text(topic), "partitions": list(numbers)} for topic, numbers in value.items()
        ]
    return value


def _back(kind: pa.DataType, value: Any) -> Any:  # noqa: ANN401 - as the column is
    if value is None:
        return None
    if kind == PARTITIONS:
        return {entry["topic"]: tuple(entry["partitions"]) for entry in value}
    return tuple(value) if pa.types.is_list(kind) else value


def _text(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
