"""Arrow types of everything that leaves this package as columns, each written once.

A table whose rows are a dataclass has no schema of its own: `schema_of` derives it. The other
types, results of the column functions, stand below. Spark's types are derived from these
(`assignors.spark.schemas`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import fields
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from assignors.documents.failures import NO_ERROR
from assignors.extras import imported_from
from wire import TopicPartitions

with imported_from("replay"):
    import pyarrow as pa

ERROR = tuple((name, pa.string()) for name in NO_ERROR)
"""Why a row has no answer: a sentence with its place, and a code; both null where it has one."""

NOTES = pa.list_(pa.struct([("code", pa.string()), ("offset", pa.int64()), ("text", pa.string())]))
"""What was odd in bytes: `wire.Note`, one struct a note."""

PARTITIONS = pa.list_(pa.struct([("topic", pa.string()), ("partitions", pa.list_(pa.int32()))]))
"""`TopicPartitions` as a list of structs, which every engine can unnest."""

DECODED_SUBSCRIPTION = pa.struct(
    [
        ("version", pa.int32()),
        ("topics", pa.list_(pa.string())),
        ("user_data", pa.binary()),
        ("owned", PARTITIONS),
        ("generation", pa.int32()),
        ("rack_id", pa.string()),
        ("notes", NOTES),
        *ERROR,
    ]
)
DECODED_ASSIGNMENT = pa.struct(
    [
        ("version", pa.int32()),
        ("partitions", PARTITIONS),
        ("user_data", pa.binary()),
        ("notes", NOTES),
        *ERROR,
    ]
)
DECODED_USER_DATA = pa.struct(
    [
        ("owned", PARTITIONS),
        ("generation", pa.int32()),
        ("notes", NOTES),
        *ERROR,
    ]
)

ASSIGNMENT = pa.list_(pa.struct([("member", pa.string()), ("partitions", PARTITIONS)]))
"""What each member gets."""

ASSIGNED = pa.struct(
    [
        ("assignment", ASSIGNMENT),
        ("withheld", PARTITIONS),
        ("follow_up", pa.bool_()),
        ("notes", pa.list_(pa.string())),
        *ERROR,
    ]
)
"""An assignor's answer; all but the error null where the group or the name was refused."""

VIOLATIONS = pa.list_(
    pa.struct(
        [
            ("rule", pa.string()),
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("members", pa.list_(pa.string())),
        ]
    )
)
CHECKED = pa.struct(
    [
        ("violations", VIOLATIONS),
        ("balance_gap", pa.int64()),
        ("moved", pa.int64()),
        ("moved_minimum", pa.int64()),
        ("topic_spread", pa.int64()),
        ("topic_spread_minimum", pa.int64()),
        ("notes", pa.list_(pa.string())),
        *ERROR,
    ]
)
"""A checker's report; all but the error null where the row could not be checked.

`balance_gap` and `topic_spread` are null while a partition waits."""

_TYPES: dict[Any, pa.DataType] = {
    str: pa.string(),
    bytes: pa.binary(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    "int32": pa.int32(),
    tuple[str, ...]: pa.list_(pa.string()),
    tuple[int, ...]: pa.list_(pa.int64()),
    dict[str, int]: pa.map_(pa.string(), pa.int64()),
    Mapping[str, int]: pa.map_(pa.string(), pa.int64()),
    TopicPartitions: PARTITIONS,
}
"""Type of a dataclass field, or the mark in an `Annotated` one -> Arrow type."""


def schema_of(row: type[Any]) -> pa.Schema:
    """Return the Arrow schema of a dataclass: a column a field, in their order, all nullable.

    `int` is int64, `Annotated[int, "int32"]` is int32, an optional type is its other half.
    Raises `KeyError` for a type that no table has yet. Computed once a class.

    >>> from dataclasses import make_dataclass
    >>> print(schema_of(make_dataclass("Row", [("name", str), ("load", int | None)])))
    name: string
    load: int64
    """
    # Every class is hashable; mypy does not know it.
    return _schema_of(cast("Hashable", row))


@cache
def _schema_of(row: Any) -> pa.Schema:  # noqa: ANN401 - a dataclass
    hints = get_type_hints(row, include_extras=True)
    return pa.schema([(column.name, _type_of(hints[column.name])) for column in fields(row)])


def _type_of(hint: Any) -> pa.DataType:  # noqa: ANN401 - a type, or an alias of one
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (kind for kind in get_args(hint) if kind is not type(None))
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        hint = str
    mark, *_ = getattr(hint, "__metadata__", (hint,))
    return _TYPES[mark] if mark in _TYPES else _type_of(get_args(hint)[0])
