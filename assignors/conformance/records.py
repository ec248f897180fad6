"""Answer requests to decode or encode records of `__consumer_offsets`.

`rec-dec` brings `key` and `value` in hexadecimal (null: a tombstone) and is answered with type,
name, key, version and value, in the JSON of Kafka's own formatter; `rec-enc` is the reverse.
"""

from __future__ import annotations

from assignors.documents.values import Document, as_int32, as_object, optional_bytes, required
from wire.records import RECORD_TYPES, decode_record, encode_key, encode_value, record_json
from wire.records.json_form import from_json

BY_NUMBER = {found.number: found for found in RECORD_TYPES}


def read_record(request: Document) -> Document:
    """Return a record's fields; `WireError` where Kafka's own reader throws.

    >>> read_record({"key": "0002000167", "value": None})
    {'type': 2, 'name': 'GROUP_METADATA', 'key': {'group': 'g'}, 'version': None, 'value': None}
    """
    record = decode_record(optional_bytes(request, "key"), optional_bytes(request, "value"))
    if record.error is not None:
        raise record.error
    return record_json(record)


def write_record(request: Document) -> Document:
    """Return a record's bytes in hexadecimal.

    Raises `ValueError` for a type that is not known, `DocumentError` (a `ValueError`) for a field
    that is missing, `WireError` for a value that cannot be written.

    >>> write_record({"type": 2, "version": 4, "key": {"group": "g"}, "value": None})
    {'key': '0002000167', 'value': None}
    """
    number = as_int32(required(request, "type", ()), ("type",))
    found = BY_NUMBER.get(number)
    if found is None:
        raise ValueError(f"record type {number} is not known")
    key = from_json(found.key, dict(as_object(required(request, "key", ()), ("key",))))
    out: Document = {"key": encode_key(found.name, key).hex(), "value": None}
    if request.get("value") is not None:
        value = from_json(found.value, dict(as_object(request["value"], ("value",))))
        version = as_int32(required(request, "version", ()), ("version",))
        out["value"] = encode_value(found.name, version, value).hex()
    return out
