"""The tables as Arrow, and from there as Parquet.

Schemas follow from the row classes: whole numbers are int64, lists of names are lists, and
partitions are a list of structs (topic, partitions), which every engine can unnest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from assignors.replay.tables.columns import columns
from assignors.replay.tables.rows import TABLES, Row, Tables

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

PARTITIONS = pa.list_(pa.struct([("topic", pa.string()), ("partitions", pa.list_(pa.int32()))]))

FORMS: Mapping[str, pa.DataType] = {
    "str": pa.string(),
    "int": pa.int64(),
    "bool": pa.bool_(),
    "strs": pa.list_(pa.string()),
    "partitions": PARTITIONS,
}


def schema_of(table: type[Row]) -> pa.Schema:
    """Return the Arrow schema of a table. Every column may be null, as Spark has it."""
    return pa.schema([(name, FORMS[form]) for name, form, _ in columns(table)])


def as_arrow(table: type[Row], rows: Iterable[Row]) -> pa.Table:
    """Return rows as an Arrow table; none at all is a table with the same columns.

    >>> from assignors.replay.tables.rows import AnomalyRow
    >>> as_arrow(AnomalyRow, []).num_columns
    12
    """
    plain = [arrow_row(row) for row in rows]
    return pa.Table.from_pylist(plain, schema=schema_of(table))


def arrow_row(row: Row) -> dict[str, Any]:
    """Return a row as Arrow takes it: partitions as structs, text as UTF-8 can carry it.

    A number beyond 64 bits, which takes clocks that went mad, is the last one within.
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
    return table(**{name: _back(form, plain[name]) for name, form, _ in columns(table)})


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


def _back(form: str, value: Any) -> Any:  # noqa: ANN401 - as the column is
    if value is None:
        return None
    if form == "strs":
        return tuple(value)
    if form == "partitions":
        return {entry["topic"]: tuple(entry["partitions"]) for entry in value}
    return value


def _text(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
