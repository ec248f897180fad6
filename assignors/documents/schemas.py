"""Types of JSON values as JSON Schema (draft 2020-12): what the formats are made of.

A format is written as Python's own types are: `array(STRING)`, `nullable(INTEGER)`, an object as
its keys, each with a sentence. What comes out is the schema itself, a document that any validator
reads; its `description`s are what the reference in the documentation shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from assignors.documents.group_keys import OWN_PREFIX
from wire import TopicPartitions

Schema = dict[str, Any]
"""A JSON Schema."""

STRING: Schema = {"type": "string"}
BOOLEAN: Schema = {"type": "boolean"}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
NULL: Schema = {"type": "null"}
ANY: Schema = {}
INT32: Schema = {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}
INT64: Schema = {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}
COUNT: Schema = {"type": "integer", "minimum": 0}
HEX: Schema = {"type": "string", "pattern": "^([0-9a-f]{2})*$"}
BASE64: Schema = {
    "type": "string",
    "contentEncoding": "base64",
    "pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
}


@dataclass(frozen=True, slots=True)
class Key:
    """A key of an object: its name, its type, and what it means."""

    name: str
    type: Schema
    text: str = ""
    is_optional: bool = False
    """Whether the key may be absent."""


def nullable(schema: Schema) -> Schema:
    """Return the schema of such a value or null.

    >>> nullable(STRING)
    {'type': ['string', 'null']}
    """
    if isinstance(schema.get("type"), str) and "enum" not in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, NULL]}


def array(of: Schema) -> Schema:
    """Return the schema of a list of any length."""
    return {"type": "array", "items": of}


def pair(first: Schema, second: Schema) -> Schema:
    """Return the schema of a list of two."""
    return {"type": "array", "prefixItems": [first, second], "minItems": 2, "maxItems": 2}


def mapping(of: Schema) -> Schema:
    """Return the schema of an object with any keys and values of one type."""
    return {"type": "object", "additionalProperties": of}


def one_of(codes: Iterable[str]) -> Schema:
    """Return the schema of one of these strings."""
    return {"type": "string", "enum": [str(code) for code in codes]}


def constant(value: object) -> Schema:
    """Return the schema of one value."""
    return {"const": value}


def record(*keys: Key, text: str = "") -> Schema:
    """Return the schema of an object with these keys; others may come in later versions.

    >>> record(Key("id", STRING, "Name."), Key("rack", STRING, is_optional=True))["required"]
    ['id']
    """
    return {
        "type": "object",
        **({"description": text} if text else {}),
        "properties": {
            key.name: {**key.type, "description": key.text} if key.text else key.type
            for key in keys
        },
        "required": [key.name for key in keys if not key.is_optional],
    }


def known_keys(schema: Schema) -> Schema:
    """Return the schema of an object that is read: another key is an error, but the user's own.

    >>> known_keys(record())["patternProperties"]
    {'^_': {}}
    """
    own = {f"^{OWN_PREFIX}": ANY}
    return {**schema, "patternProperties": own, "additionalProperties": False}


PARTITIONS = array(pair(STRING, array(INTEGER)))
"""Partitions by topic, as `[["t", [0, 1]], ...]`: their order is that of the bytes."""

PARTITIONS_BY_TOPIC = mapping(array(INTEGER))
"""Partitions by topic, as `{"t": [0, 1]}`."""

_PLAIN: dict[Any, Schema] = {
    str: STRING,
    bool: BOOLEAN,
    int: INTEGER,
    float: NUMBER,
    "int32": INT32,
    TopicPartitions: PARTITIONS,
}


def of_fields(row: type[Any], codes: Mapping[str, Iterable[str]] | None = None) -> list[Key]:
    """Return the fields of a dataclass as keys; `codes` has the fields that hold codes.

    >>> from dataclasses import make_dataclass
    >>> of_fields(make_dataclass("Row", [("count", int), ("name", str | None)]))[1].type
    {'type': ['string', 'null']}
    """
    hints = get_type_hints(row, include_extras=True)
    known = codes or {}
    keys = []
    for each in fields(row):
        schema = of_hint(hints[each.name])
        if each.name in known:
            code = one_of(known[each.name])
            schema = code if schema == STRING else nullable(code)
        keys.append(Key(each.name, schema))
    return keys


def of_hint(hint: Any) -> Schema:  # noqa: ANN401 - a type, or an alias of one
    """Return the schema of a Python type. Raises `KeyError` for one that no row has yet.

    >>> of_hint(tuple[str, ...] | None)
    {'type': ['array', 'null'], 'items': {'type': 'string'}}
    """
    if hint in (TopicPartitions, str, bool, int, float):
        return _PLAIN[hint]
    if get_origin(hint) in (Union, UnionType):
        (inner,) = (kind for kind in get_args(hint) if kind is not type(None))
        return nullable(of_hint(inner))
    if get_origin(hint) is tuple:
        return array(of_hint(get_args(hint)[0]))
    if get_origin(hint) in {dict, Mapping}:
        return mapping(of_hint(get_args(hint)[1]))
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return one_of(hint)
    mark, *_ = getattr(hint, "__metadata__", (hint,))
    return _PLAIN[mark] if mark in _PLAIN else of_hint(get_args(hint)[0])
