"""Readers of messages, built from a layout's rows, one for each version.

A reader takes the bytes and where to start, and returns the value and where it ended. It is made
of closures: one for each run of like fields (`wire.layout.fields`), one for each array, struct
and tag section. What is refused is what Kafka's generated classes refuse: a null that may not be,
more elements than bytes are left or than a million, a tag section of more than 10,000 tags. So
the memory and time of a reader are linear in the bytes it is given, whatever counts they claim.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from itertools import groupby
from typing import Any

from wire.cursor import COUNT_LIMIT
from wire.decoded import NoteCode, Oddities
from wire.errors import ErrorKind, WireError
from wire.layout import (
    INT32,
    PLACE,
    UNKNOWN_TAGS,
    ArrayOf,
    Field,
    Kind,
    Layout,
    Struct,
    in_line,
    tagged,
)
from wire.layout.fields import (
    Filler,
    Form,
    compact_length,
    fields_reader,
    form_of,
    refused_null,
    truncated,
    varint,
)

Reader = Callable[[bytes, int, Oddities], tuple[Any, int]]
"""(bytes, offset, oddities) -> value, offset behind it. Raises `WireError` with the place."""

TAG_LIMIT = 10_000
"""Longest tag section that Kafka 4.4 reads."""

_INT32 = struct.Struct(">i")


def compile_reader(layout: Layout, version: int) -> Reader:
    """Return the reader of one version of a message.

    >>> from wire.layout import STRING
    >>> key = Layout("Key", versions=range(1), fields=(Field("group", STRING),))
    >>> compile_reader(key, 0)(bytes.fromhex("000167"), 0, Oddities())
    ({'group': 'g'}, 3)
    """
    assert version in layout.versions, (layout.name, version)
    return _struct(layout.fields, version, is_flexible=layout.is_flexible(version))


def _struct(fields: tuple[Field, ...], version: int, *, is_flexible: bool) -> Reader:
    fillers = _fillers(in_line(fields, version), version, is_flexible=is_flexible)
    known = {
        tag: (field, _field(field, version, is_flexible=True))
        for tag, field in tagged(fields, version).items()
    }

    def read(data: bytes, offset: int, odd: Oddities) -> tuple[Any, int]:
        value: dict[str, Any] = {}
        for fill in fillers:
            offset = fill(data, offset, odd, value)
        if not is_flexible:
            return value, offset
        if offset < len(data) and not data[offset]:
            return value, offset + 1
        return value, _tags_into(value, data, offset, odd, known)

    return read


def _fillers(rows: list[Field], version: int, *, is_flexible: bool) -> list[Filler]:
    """Return what reads these fields, one for each run of fields of one form."""

    def form(field: Field) -> str:
        if isinstance(field.type, Kind) and field.type is not PLACE:
            return form_of(field.type, is_flexible=is_flexible)
        return ""

    fillers: list[Filler] = []
    for shared, run in groupby(rows, form):
        if shared:
            fillers.append(fields_reader(Form(shared), list(run)))
        else:
            fillers += [
                _filler(field.name, _field(field, version, is_flexible=is_flexible))
                for field in run
            ]
    return fillers


def _filler(name: str, read: Reader) -> Filler:
    def fill(data: bytes, offset: int, odd: Oddities, value: dict[str, Any]) -> int:
        value[name], offset = read(data, offset, odd)
        return offset

    return fill


def _field(field: Field, version: int, *, is_flexible: bool) -> Reader:
    name, kind, nullable = field.name, field.type, field.nullable
    if isinstance(kind, Struct):
        read = _struct(kind.fields, version, is_flexible=is_flexible)
        return _nullable_struct(name, read, is_tagged=field.tag is not None) if nullable else read
    if isinstance(kind, ArrayOf):
        if kind.element is INT32:
            return _numbers(name, nullable=nullable, is_flexible=is_flexible)
        element = _field(Field("element", kind.element), version, is_flexible=is_flexible)
        return _array(name, element, nullable=nullable, is_flexible=is_flexible)
    read = _primitive(field, fields_reader(form_of(kind, is_flexible=is_flexible), [field]))
    return _place(read) if kind is PLACE else read


def _place(read_bytes: Reader) -> Reader:
    """Return the reader of the place of bytes; `None` for null."""

    def read(data: bytes, offset: int, odd: Oddities) -> tuple[Any, int]:
        found, end = read_bytes(data, offset, odd)
        return None if found is None else range(end - len(found), end), end

    return read


def _primitive(field: Field, fill: Filler) -> Reader:
    """Return the reader of one field that stands in no struct."""

    def read(data: bytes, offset: int, odd: Oddities) -> tuple[Any, int]:
        value: dict[str, Any] = {}
        offset = fill(data, offset, odd, value)
        return value[field.name], offset

    return read


def _tags_into(
    value: dict[str, Any],
    data: bytes,
    offset: int,
    odd: Oddities,
    known: dict[int, tuple[Field, Reader]],
) -> int:
    """Read a tag section into `value`; return the offset behind it.

    As in Kafka a known tag that comes again wins, and its size is not looked at.
    """
    start = offset
    count, offset = varint(data, offset, "tags")
    if not 0 <= count <= TAG_LIMIT:
        text = f"tags: {count}, and Kafka reads at most {TAG_LIMIT}"
        raise WireError(ErrorKind.BAD_LENGTH, text, start)
    unknown: list[tuple[int, bytes]] = []
    found: dict[str, Any] = {}
    for _ in range(count):
        start = offset
        tag, offset = varint(data, offset, "tag")
        size, offset = varint(data, offset, "size of a tag")
        if tag not in known:
            if size < 0 or offset + size > len(data):
                raise truncated(f"tag {tag}", size, data, offset)
            unknown.append((tag, data[offset : offset + size]))
            offset += size
            odd.add(NoteCode.UNKNOWN_TAG, start, f"tag {tag} of {size} bytes is not known")
            continue
        field, read = known[tag]
        if field.name in found:
            odd.add(NoteCode.TAG_REPEATED, start, f"{field.name}: tag {tag} comes again")
        promised = offset + size
        found[field.name], offset = read(data, offset, odd)
        if offset != promised:
            text = f"{field.name}: its size is {promised - offset} bytes too large"
            odd.add(NoteCode.TAG_SIZE, start, text)
    for field, _ in known.values():
        if field.name in found and found[field.name] != field.default:
            value[field.name] = found[field.name]
    if unknown:
        value[UNKNOWN_TAGS] = unknown
    return offset


def _count(data: bytes, offset: int, name: str, *, is_flexible: bool) -> tuple[int, int]:
    """Return how many elements follow, negative for null; more than there can be is refused."""
    if is_flexible:
        count, start = compact_length(data, offset, name)
    else:
        start = offset + 4
        if start > len(data):
            raise truncated(name, 4, data, offset)
        count = _INT32.unpack_from(data, offset)[0]
    left = len(data) - start
    if count > left or count > COUNT_LIMIT:
        text = f"{name}: {count} elements in {left} bytes"
        raise WireError(ErrorKind.BAD_LENGTH, text, offset)
    return count, start


def _null(name: str, offset: int, end: int, *, nullable: bool) -> tuple[None, int]:
    if not nullable:
        raise refused_null(name, offset)
    return None, end


def _numbers(name: str, *, nullable: bool, is_flexible: bool) -> Reader:
    """Return the reader of an array of int32, in one step."""

    def read(data: bytes, offset: int, odd: Oddities) -> tuple[Any, int]:  # noqa: ARG001
        count, start = _count(data, offset, name, is_flexible=is_flexible)
        if count < 0:
            return _null(name, offset, start, nullable=nullable)
        end = start + 4 * count
        if end > len(data):
            raise truncated(name, 4 * count, data, start)
        return list(struct.unpack_from(f">{count}i", data, start)), end

    return read


def _array(name: str, element: Reader, *, nullable: bool, is_flexible: bool) -> Reader:
    def read(data: bytes, offset: int, odd: Oddities) -> tuple[Any, int]:
        count, start = _count(data, offset, name, is_flexible=is_flexible)
        if count < 0:
            return _null(name, offset, start, nullable=nullable)
        offset = start
        elements: list[Any] = []
        append = elements.append
        try:
            for _ in range(count):
                value, offset = element(data, offset, odd)
                append(value)
        except WireError as error:
            text = f"{name}[{len(elements)}] {error.text}"
            raise WireError(error.kind, text, error.offset) from None
        return elements, offset

    return read


def _nullable_struct(name: str, read_struct: Reader, *, is_tagged: bool) -> Reader:
    """Return the reader of a struct behind a byte (in a tag: a varint) that says if it is there."""

    def read(data: bytes, offset: int, odd: Oddities) -> tuple[Any, int]:
        if is_tagged:
            presence, start = varint(data, offset, name)
            is_null = presence <= 0
        elif offset < len(data):
            is_null, start = data[offset] > 0x7F, offset + 1
        else:
            raise truncated(name, 1, data, offset)
        return (None, start) if is_null else read_struct(data, start, odd)

    return read
