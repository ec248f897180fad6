"""Types of JSON values as JSON Schema (draft 2020-12): what the formats are made of.

A format is written as Python's own types are: `array(STRING)`, `nullable(INTEGER)`, an object as
its keys, each with a sentence. What comes out is the schema itself, a document that any validator
reads; its `description`s are what the reference in the documentation shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

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
    if schema == ANY:
        return ANY
    if "anyOf" in schema and schema.keys() <= {"title", "anyOf"}:
        return {**schema, "anyOf": [*schema["anyOf"], NULL]}
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


PARTITIONS = {"title": "partitions", **array(pair(STRING, array(INTEGER)))}
"""Partitions by topic, as `[["t", [0, 1]], ...]`: their order is that of the bytes."""

PARTITIONS_BY_TOPIC = {"title": "partitions by topic", **mapping(array(INTEGER))}
"""Partitions by topic, as `{"t": [0, 1]}`."""
