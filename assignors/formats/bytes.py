"""Decoded bytes: what `decode` answers, for messages of members and for all record types."""

from __future__ import annotations

from assignors.documents.schemas import (
    ANY,
    BASE64,
    COUNT,
    HEX,
    INT32,
    INT64,
    INTEGER,
    NULL,
    PARTITIONS,
    STRING,
    Key,
    Schema,
    array,
    constant,
    mapping,
    nullable,
    record,
)
from assignors.formats.lines import ERROR, NOTE, VERSION, answer_or_error
from wire.layout import ArrayOf, Field, Kind, Layout, Struct
from wire.records import RECORD_TYPES, RecordType

NOTES = Key("notes", array(NOTE), "What was odd in the bytes.")

NAME: Schema = {"type": "string", "minLength": 1}
SUBSCRIPTION = record(
    Key("version", INTEGER, "Version of the message."),
    Key("topics", array(STRING), "Topics asked for."),
    Key("user_data", nullable(HEX), "Bytes for the assignor, in hexadecimal."),
    Key("owned", PARTITIONS, "Owned partitions, in the order of the bytes."),
    Key("generation", INTEGER, "The generation in which they were owned; -1: none."),
    Key("rack_id", nullable(NAME), "`client.rack`; null where it is absent or empty."),
)
ASSIGNMENT = record(
    Key("version", INTEGER, "Version of the message."),
    Key("partitions", PARTITIONS, "Assigned partitions, in the order of the bytes."),
    Key("user_data", nullable(HEX), "Bytes of the assignor, in hexadecimal."),
)
STICKY = record(
    Key("owned", PARTITIONS, "Owned partitions, in the order of the bytes."),
    Key("generation", nullable(INTEGER), "Null where the bytes have none."),
    Key("capacity", INTEGER, "What the member can carry, where it says so.", is_optional=True),
)
COOPERATIVE = record(
    Key("generation", nullable(INTEGER), "Null where the bytes have none."),
    Key("owned", PARTITIONS, "Where the bytes carry the sticky layout.", is_optional=True),
    Key("capacity", INTEGER, "What the member can carry, where it says so.", is_optional=True),
)


def _decoded(value: Schema, text: str) -> Schema:
    return answer_or_error(["value"], Key("value", value, text), NOTES, beside=[NOTES])


def _decoded_or_framed(value: Schema, text: str) -> Schema:
    """Return the schema of a line whose bytes may be a whole message, with several values in it."""
    part = record(
        Key("owner", STRING, "Member; in a JoinGroup request the assignor."),
        Key("start", COUNT, "Its first byte, in the whole."),
        Key("end", COUNT, "The byte behind its last."),
        Key("value", nullable(value), "As `value` of the line."),
        NOTES,
        Key("error", {"anyOf": [ERROR, NULL]}, "Why it cannot be read."),
    )
    frame = record(
        Key("message", STRING, "JoinGroup or SyncGroup, request or response."),
        Key("versions", array(INTEGER), "Versions that have these bytes."),
        Key("start", COUNT, "Where its header begins."),
        Key("fields", mapping(ANY), "Its other fields."),
        Key("parts", array(part), "What is in it."),
        text="Only where the bytes are a whole JoinGroup or SyncGroup message.",
    )
    framed = Key("frame", frame, is_optional=True)
    words = f"{text} Null where `frame` has several."
    key = Key("value", nullable(value), words)
    return answer_or_error(["value"], key, NOTES, framed, beside=[NOTES, framed])


SUBSCRIPTIONS = _decoded_or_framed(SUBSCRIPTION, "The Subscription.")
ASSIGNMENTS = _decoded_or_framed(ASSIGNMENT, "The Assignment.")
STICKY_DATA = _decoded(STICKY, "UserData of the sticky assignor.")
COOPERATIVE_DATA = _decoded(COOPERATIVE, "UserData of the cooperative sticky assignor.")

# Records

RAW_RECORD = record(
    Key("key", nullable(BASE64), "Bytes of the key; null where there is none."),
    Key("value", nullable(BASE64), "Bytes of the value; null is a tombstone."),
    Key("topic", nullable(STRING), "Name of the topic.", is_optional=True),
    Key("partition", nullable(INT32), "Partition number.", is_optional=True),
    Key("offset", nullable(INT64), "Offset of the record.", is_optional=True),
    Key("timestamp", nullable(INT64), "Milliseconds since 1970-01-01 UTC.", is_optional=True),
    Key(
        "timestampType",
        nullable(INT32),
        "0: of the client, 1: of the broker's log.",
        is_optional=True,
    ),
)
"""The columns of Spark's Kafka source."""

_INTEGERS = {
    Kind.INT8: (-(2**7), 2**7 - 1),
    Kind.INT16: (-(2**15), 2**15 - 1),
    Kind.UINT16: (0, 2**16 - 1),
    Kind.INT32: (-(2**31), 2**31 - 1),
    Kind.INT64: (-(2**63), 2**63 - 1),
}
UUID: Schema = {"type": "string", "pattern": "^[A-Za-z0-9_-]{22}$"}


def _inner(value: Schema) -> Schema:
    """Return the schema of a part of a record that is decoded by itself."""
    return {
        "oneOf": [
            record(Key("value", value), NOTES, Key("error", NULL)),
            record(Key("value", NULL), NOTES, Key("error", ERROR)),
        ]
    }


MEMBERS = Key(
    "members",
    array(
        record(
            Key("member_id", STRING, "Id of the member."),
            Key("protocol", nullable(STRING), "The protocol, whose name is the assignor's."),
            Key("subscription", _inner(SUBSCRIPTION), "Its Subscription."),
            Key("assignment", {"anyOf": [_inner(ASSIGNMENT), NULL]}, "Its Assignment."),
            Key("user_data", {"anyOf": [_inner(STICKY), _inner(COOPERATIVE), NULL]}, "UserData."),
        )
    ),
    "With `--members`: what each member of the record wrote.",
    is_optional=True,
)


def of_layout(layout: Layout) -> Schema:
    """Return the schema of a message of any version, in the JSON form of Kafka's formatter.

    A key that some version does not have is optional, as is one of a tagged field.
    """
    return _struct(layout.fields, layout.versions)


def _struct(fields: tuple[Field, ...], versions: range) -> Schema:
    keys = []
    for field in fields:
        everywhere = all(field.is_in(version) for version in versions)
        kind = _type(field, versions)
        keys.append(Key(field.name, kind, is_optional=field.tag is not None or not everywhere))
    return record(*keys)


def _type(field: Field, versions: range) -> Schema:
    kind = _element(field.type, versions)
    return nullable(kind) if field.nullable or field.default is None else kind


def _element(kind: Kind | Struct | ArrayOf, versions: range) -> Schema:
    if isinstance(kind, Struct):
        return _struct(kind.fields, versions)
    if isinstance(kind, ArrayOf):
        return array(_element(kind.element, versions))
    if kind in _INTEGERS:
        low, high = _INTEGERS[kind]
        return {"type": "integer", "minimum": low, "maximum": high}
    return {Kind.STRING: STRING, Kind.BYTES: BASE64, Kind.UUID: UUID}[kind]


def _record_of(one: RecordType) -> Schema:
    """Return what is special about a record of this type that could be read."""
    named = (
        Key("type", constant(one.number), "Number of the record type."),
        Key("name", constant(one.name), "Its name in Kafka's source."),
        Key("key", of_layout(one.key), "The key."),
        Key("error", NULL),
    )
    value = (
        Key("version", {"enum": list(one.value.versions)}, "Version of the value."),
        Key("value", of_layout(one.value), "The value."),
    )
    tombstone = (Key("version", NULL), Key("value", NULL, "Null: a tombstone."))
    return {
        "title": one.name,
        "oneOf": [record(*named, *value), {"title": "tombstone", **record(*named, *tombstone)}],
    }


_REFUSED = record(
    Key("type", nullable(INTEGER), "Number of the record type, where it was read."),
    Key("name", nullable(STRING), "Its name, `UNKNOWN` where Kafka 4.4 has none."),
    Key("key", {"type": ["object", "null"]}, "The key, where it was read."),
    Key("version", nullable(INTEGER), "Version of the value, where it was read."),
    Key("value", {"type": "null"}, "Null."),
    Key("error", ERROR),
)
OFFSETS_RECORDS: Schema = {
    **record(VERSION, NOTES, MEMBERS),
    "oneOf": [*map(_record_of, RECORD_TYPES), {"title": "refused", **_REFUSED}],
}
