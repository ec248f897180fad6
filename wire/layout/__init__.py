"""Messages as tables: each field's name, its type and the versions that have it.

Kafka describes each message by rows, and so does this package. A row also says whether the field
stands in line or in the tag section at the end of its struct. From the rows of one version a
reader (`wire.layout.reading`) and a writer (`wire.layout.writing`) are built once. A new version
of a message is a new row, and nothing else changes.

A value is a plain dict with Kafka's own field names. As in Kafka's JSON a tagged field that has
its default is not in it; bytes are `bytes`, a uuid is Kafka's text of it. Tags that no row knows
stand under `UNKNOWN_TAGS`, as pairs of tag and bytes, and are written back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Any

UNKNOWN_TAGS = "_unknownTaggedFields"
"""Where a struct keeps the tagged fields that its rows do not know."""

NO_ID = "A" * 22
"""The uuid of sixteen zero bytes, as Kafka writes it."""

Value = Mapping[str, Any]
"""A message or a struct: field name to int, str, bytes, None, list or dict."""


class Kind(StrEnum):
    """The type of a field that is no array and no struct."""

    INT8 = "int8"
    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    INT64 = "int64"
    STRING = "string"
    BYTES = "bytes"
    PLACE = "place of bytes"
    """Bytes of which a reader gives the place, a `range`, and not the bytes."""
    UUID = "uuid"


INT8, INT16, UINT16, INT32, INT64 = Kind.INT8, Kind.INT16, Kind.UINT16, Kind.INT32, Kind.INT64
STRING, BYTES, PLACE, UUID = Kind.STRING, Kind.BYTES, Kind.PLACE, Kind.UUID

INTEGERS = {INT8: ">b", INT16: ">h", UINT16: ">H", INT32: ">i", INT64: ">q"}
"""The kinds of fixed length that are numbers, as the `struct` module calls them."""


@dataclass(frozen=True, slots=True)
class Struct:
    """Fields in wire order."""

    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """Any number of elements of one type."""

    element: Kind | Struct


class Absent(StrEnum):
    """What stands for "no default": the field must be given."""

    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class Field:
    """A row: a field, the versions that have it, and its place in line or behind a tag."""

    name: str
    type: Kind | Struct | ArrayOf
    _: KW_ONLY
    since: int = 0
    until: int | None = None
    """The last version that has the field; None while the newest has it."""
    tag: int | None = None
    nullable: bool = False
    default: Any = Absent.REQUIRED
    """What a writer takes where the field is not given. A tagged field always has one."""

    def is_in(self, version: int) -> bool:
        """Return whether messages of this version have the field."""
        return self.since <= version and (self.until is None or version <= self.until)


@dataclass(frozen=True, slots=True)
class Layout:
    """A message: its name in Kafka's source, its versions, its rows.

    >>> Layout("Key", versions=range(1), fields=(Field("group", STRING),)).is_flexible(0)
    False
    """

    name: str
    _: KW_ONLY
    versions: range
    flexible_from: int | None = None
    """The first version with compact lengths and tag sections (KIP-482); None where none is."""
    fields: tuple[Field, ...]

    def is_flexible(self, version: int) -> bool:
        """Return whether this version has compact lengths and tag sections."""
        return self.flexible_from is not None and version >= self.flexible_from


def in_line(fields: tuple[Field, ...], version: int) -> list[Field]:
    """Return the untagged fields of a version, in wire order."""
    return [field for field in fields if field.tag is None and field.is_in(version)]


def tagged(fields: tuple[Field, ...], version: int) -> dict[int, Field]:
    """Return the tagged fields of a version, ascending."""
    found = {field.tag: field for field in fields if field.tag is not None and field.is_in(version)}
    return dict(sorted(found.items()))
