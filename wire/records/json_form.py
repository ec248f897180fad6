"""Records as JSON, in the form of Kafka's own console formatter.

Kafka writes a field under its own name, bytes as base64, a uuid as its text, a null as null, and
leaves out tagged fields that have their default and tags it does not know. Values are kept that
way already, so only bytes and unknown tags are left to do.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

from wire.errors import ErrorKind, WireError
from wire.layout import BYTES, UNKNOWN_TAGS, ArrayOf, Field, Kind, Layout, Struct, Value


def to_json(value: Any) -> Any:  # noqa: ANN401 - a tree of any values
    """Return the JSON form of a value or a part of it.

    >>> to_json({"memberId": "m", "subscription": bytes(2)})
    {'memberId': 'm', 'subscription': 'AAA='}
    """
    if isinstance(value, dict):
        return {name: to_json(part) for name, part in value.items() if name != UNKNOWN_TAGS}
    if isinstance(value, list):
        return [to_json(element) for element in value]
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return value


def from_json(layout: Layout, document: Value) -> dict[str, Any]:
    """Return the value of a JSON form: bytes where the layout has bytes.

    Raises `WireError` where base64 is expected and not found.
    """
    return _struct_from_json(layout.fields, document)


def _struct_from_json(fields: tuple[Field, ...], document: Value) -> dict[str, Any]:
    types = {field.name: field.type for field in fields}
    return {
        name: _from_json(types[name], part, name) if name in types else part
        for name, part in document.items()
    }


def _from_json(kind: Kind | Struct | ArrayOf, part: Any, name: str) -> Any:  # noqa: ANN401
    if part is None:
        return None
    if isinstance(kind, ArrayOf) and isinstance(part, list):
        return [_from_json(kind.element, element, name) for element in part]
    if isinstance(kind, Struct) and isinstance(part, dict):
        return _struct_from_json(kind.fields, part)
    if kind is BYTES:
        try:
            return b64decode(part, validate=True)
        except (TypeError, ValueError) as error:
            raise WireError(ErrorKind.UNWRITABLE, f"{name}: no base64") from error
    return part
