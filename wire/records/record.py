"""One record of `__consumer_offsets`: key, value, notes on what was odd, or an error.

Kafka's loader skips a type it does not know and fails on everything else it cannot read. Here a
record that cannot be read has an error, with the reason and the byte, and keeps its bytes.
`error` is set exactly where Kafka's own deserializer throws, so a value that is None without an
error is a tombstone. The one exception are groups of Redpanda, which are read with a note.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wire.constructors import unchecked
from wire.cursor import as_bytes
from wire.decoded import Note, NoteCode, Oddities
from wire.errors import ErrorKind, WireError
from wire.layout.reading import Reader
from wire.records.classic_group import GROUP_METADATA, MEMBER_VERSION, REDPANDA_GROUP_METADATA
from wire.records.json_form import to_json
from wire.records.types import (
    BY_NAME,
    BY_NUMBER,
    RecordType,
    key_reader,
    key_writer,
    redpanda_reader,
    value_reader,
    value_writer,
)

UNKNOWN = "UNKNOWN"
"""The name of a type that is not known, or could not be read."""

Blob = bytes | bytearray | memoryview

_INT16 = struct.Struct(">h")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record as far as it could be read; key and value are dicts with Kafka's field names."""

    type: int | None = None
    """The number in front of the key; None where not even that is there."""
    name: str = UNKNOWN
    """As `CoordinatorRecordType` has it: "OFFSET_COMMIT", "GROUP_METADATA", ..."""
    key: Mapping[str, Any] | None = None
    value_version: int | None = None
    value: Mapping[str, Any] | None = None
    notes: tuple[Note, ...] = ()
    """Offsets count from the first byte of the key or of the value, as the text says."""
    error: WireError | None = None
    key_bytes: bytes | None = None
    value_bytes: bytes | None = None
    is_tombstone: bool = False
    """Whether the value is null: the key is deleted."""

    @property
    def key_version(self) -> int | None:
        """Return the version of the key's message: 0, there is no other in Kafka 4.4."""
        return None if self.key is None else 0


_new_record = unchecked(Record)


def decode_record(key: Blob | None, value: Blob | None, *, keep_bytes: bool = True) -> Record:
    """Return the record in `key` and `value`, whatever bytes they have. Cost: linear.

    Without `keep_bytes` only a record that cannot be read keeps them: groups take half the memory.

    >>> record = decode_record(bytes.fromhex("0003000167"), bytes.fromhex("00000000000700"))
    >>> record.name, record.key, record.value
    ('CONSUMER_GROUP_METADATA', {'groupId': 'g'}, {'epoch': 7})
    """
    key = None if key is None else as_bytes(key)
    value = None if value is None else as_bytes(value)
    if key is None or len(key) < 2:
        text = "key: null" if key is None else f"key: {len(key)} bytes hold no type"
        error = WireError(ErrorKind.TRUNCATED, text)
        return Record(error=error, key_bytes=key, value_bytes=value, is_tombstone=value is None)
    number: int = _INT16.unpack_from(key)[0]
    found = BY_NUMBER.get(number)
    if found is None:
        error = WireError(ErrorKind.UNKNOWN_TYPE, f"key: record type {number} is not known")
        return Record(
            type=number,
            error=error,
            key_bytes=key,
            value_bytes=value,
            is_tombstone=value is None,
        )
    fields, notes, failure = _message(key, key_reader(number), "key")
    version: int | None = None
    content: Mapping[str, Any] | None = None
    if failure is None and value is not None:
        version, content, value_notes, failure = _value(found, value)
        notes += value_notes
    is_kept = keep_bytes or failure is not None
    return _new_record(
        type=number,
        name=found.name,
        key=fields,
        value_version=version,
        value=content,
        notes=notes,
        error=failure,
        key_bytes=key if is_kept else None,
        value_bytes=value if is_kept else None,
        is_tombstone=value is None,
    )


def encode_key(name: str, key: Mapping[str, Any]) -> bytes:
    """Return the bytes of a key, its type in front. Raises `WireError` if it has none.

    >>> encode_key("GROUP_METADATA", {"group": "g"}).hex()
    '0002000167'
    """
    found = _named(name)
    return _INT16.pack(found.number) + key_writer(name)(key)


def encode_value(name: str, version: int, value: Mapping[str, Any]) -> bytes:
    """Return the bytes of a value, its version in front. Raises `WireError` if it has none.

    Fields that have a default may be left out.

    >>> encode_value("CONSUMER_GROUP_METADATA", 0, {"epoch": 7}).hex()
    '00000000000700'
    """
    _named(name)
    write = value_writer(name, version)
    return _INT16.pack(version) + write(value)


def record_json(record: Record) -> dict[str, Any]:
    """Return type, name, key, version and value, as JSON can hold them.

    >>> record_json(decode_record(bytes.fromhex("0002000167"), None))
    {'type': 2, 'name': 'GROUP_METADATA', 'key': {'group': 'g'}, 'version': None, 'value': None}
    """
    return {
        "type": record.type,
        "name": record.name,
        "key": to_json(record.key),
        "version": record.value_version,
        "value": to_json(record.value),
    }


def formatter_json(record: Record) -> dict[str, Any] | None:
    """Return what Kafka's console consumer prints; None for what it skips or fails on.

    >>> formatter_json(decode_record(bytes.fromhex("0002000167"), None))
    {'key': {'type': 2, 'data': {'group': 'g'}}, 'value': None}
    """
    if record.error is not None:
        return None
    key = {"type": record.type, "data": to_json(record.key)}
    if record.is_tombstone:
        return {"key": key, "value": None}
    return {"key": key, "value": {"version": record.value_version, "data": to_json(record.value)}}


def _value(
    found: RecordType, value: bytes
) -> tuple[int | None, Mapping[str, Any] | None, tuple[Note, ...], WireError | None]:
    """Return version, fields, notes and error of a value that is not null."""
    if len(value) < 2:
        text = f"value: {len(value)} bytes hold no version"
        return None, None, (), WireError(ErrorKind.TRUNCATED, text)
    version: int = _INT16.unpack_from(value)[0]
    if version not in found.value.versions:
        text = f"value: version {version} of {found.name} is not known"
        return version, None, (), WireError(ErrorKind.UNKNOWN_VERSION, text)
    fields, notes, failure = _message(value, value_reader(found.number, version), "value")
    is_odd = failure is not None or any(note.code is NoteCode.TRAILING_BYTES for note in notes)
    if is_odd and found.value is GROUP_METADATA and version in REDPANDA_GROUP_METADATA.versions:
        other, other_notes, other_failure = _message(value, redpanda_reader(version), "value")
        if other is not None and other_failure is None and _is_redpanda(other, other_notes):
            return version, other, (*other_notes, _MEMBER_VERSION), None
    return version, fields, notes, failure


_MEMBER_VERSION = Note(
    NoteCode.MEMBER_VERSION, 0, "value: an int16 stands before each member, as Redpanda writes it"
)


def _is_redpanda(group: Mapping[str, Any], notes: tuple[Note, ...]) -> bool:
    """Return whether a group ends with its last byte, each member behind a version from 0 to 3.

    Takes the versions out of the members, which then are as Kafka has them.
    """
    versions = [member.pop(MEMBER_VERSION) for member in group["members"]]
    has_more = any(note.code is NoteCode.TRAILING_BYTES for note in notes)
    return bool(versions) and all(0 <= version <= 3 for version in versions) and not has_more


def _message(
    data: bytes, read: Reader, what: str
) -> tuple[Mapping[str, Any] | None, tuple[Note, ...], WireError | None]:
    """Return fields, notes and error of a message behind its int16."""
    odd = Oddities()
    fields: Mapping[str, Any] | None = None
    failure: WireError | None = None
    try:
        fields, end = read(data, 2, odd)
        if end < len(data):
            odd.add(NoteCode.TRAILING_BYTES, end, f"{len(data) - end} bytes after the end")
    except WireError as error:
        failure = WireError(error.kind, f"{what}: {error.text}", error.offset)
    notes = odd.notes()
    if notes:
        notes = tuple(Note(note.code, note.offset, f"{what}: {note.text}") for note in notes)
    return fields, notes, failure


def _named(name: str) -> RecordType:
    if name not in BY_NAME:
        raise WireError(ErrorKind.UNKNOWN_TYPE, f"no record type is called {name!r:.80}")
    return BY_NAME[name]
