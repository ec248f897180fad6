"""Readers put together from a layout's rows, one for each version, once.

A reader takes the bytes and where to start, and returns the value and where it ended. Each is a
closure over the readers of its parts, so that reading a message decides nothing that its table
had decided. What is refused is what Kafka's generated classes refuse: a null that may not be,
more elements than bytes are left or than a million, a tag section of more than 10,000 tags. So
what a reader takes is linear in the bytes it is given, whatever counts they claim.
"""

from __future__ import annotations

import struct
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any

from wire.cursor import COUNT_LIMIT, INT16_MAX
from wire.decoded import NoteCode, Oddities
from wire.errors import ErrorKind, WireError
from wire.layout import (
    BYTES,
    INT32,
    INTEGERS,
    STRING,
    UNKNOWN_TAGS,
    UUID,
    ArrayOf,
    Field,
    Kind,
    Layout,
    Struct,
    Value,
    in_line,
    tagged,
)
from wire.text import replaced_utf8

Reader = Callable[[bytes, int, Oddities], tuple[Any, int]]
"""(bytes, offset, oddities) -> value, offset behind it. Raises `WireError` with the place."""

Length = Callable[[bytes, int, str], tuple[int, int]]
"""(bytes, offset, name) -> a length or count, negative for null; offset behind it."""

TAG_LIMIT = 10_000
"""Longest tag section that Kafka 4.4 reads."""

_INT32 = struct.Struct(">i")


def compile_reader(
    layout: Layout, version: int
) -> Callable[[bytes, int, Oddities], tuple[Value, int]]:
    """Return the reader of one version of a message.

    >>> from wire.layout import STRING
    >>> key = Layout("Key", versions=range(1), fields=(Field("group", STRING),))
    >>> compile_reader(key, 0)(bytes.fromhex("000167"), 0, Oddities())
    ({'group': 'g'}, 3)
    """
    assert version in layout.versions, (layout.name, version)
    return _struct(layout.fields, version, is_flexible=layout.is_flexible(version))


def truncated(name: str, length: int, data: bytes, offset: int) -> WireError:
    """Return the error of a part that is longer than what is left."""
    text = f"{name}: {length} bytes in {len(data) - offset}"
    return WireError(ErrorKind.TRUNCATED, text, offset)


def varint(data: bytes, offset: int, name: str) -> tuple[int, int]:
    """Return an unsigned varint as Java holds it, a signed int32, and the offset behind it."""
    value = shift = 0
    for end in range(offset, min(offset + 5, len(data))):
        byte = data[end]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value & 0x7FFFFFFF) - (value & 0x80000000), end + 1
        shift += 7
    if len(data) - offset < 5:
        raise truncated(name, len(data) - offset + 1, data, offset)
    raise WireError(ErrorKind.BAD_LENGTH, f"{name}: a varint of more than 5 bytes", offset)


def _struct(fields: tuple[Field, ...], version: int, *, is_flexible: bool) -> Reader:
    readers = tuple(
        (field.name, _field(field, version, is_flexible=is_flexible))
        for field in in_line(fields, version)
    )
    if not is_flexible:

        def read_plain(data: bytes, offset: int, odd: Oddities) -> tuple[Any, int]:
            value: dict[str, Any] = {}
            for name, read in readers:
                value[name], offset = read(data, offset, odd)
            return value, offset

        return read_plain

    known = {
        tag: (_field(field, version, is_flexible=True), field)
        for tag, field in tagged(fields, version).items()
    }

    def read_flexible(data: bytes, offset: int, odd: Oddities) -> tuple[Any, int]:
        value: dict[str, Any] = {}
        for name, read in readers:
            value[name], offset = read(data, offset, odd)
        if offset < len(data) and not data[offset]:
            return value, offset + 1
        return value, _tags(data, offset, odd, known, value)

    return read_flexible


def _tags(
    data: bytes,
    offset: int,
    odd: Oddities,
    known: dict[int, tuple[Reader, Field]],
    value: dict[str, Any],
) -> int:
    """Read a tag section into `value`; return the offset behind it.

    As in Kafka a known tag that comes again wins, and its size is not looked at.
    """
    start = offset
    count, offset = varint(data, offset, "tags")
    if count > TAG_LIMIT:
        raise WireError(ErrorKind.BAD_LENGTH, f"tags: {count}, more than {TAG_LIMIT}", start)
    unknown: list[tuple[int, bytes]] = []
    found: dict[str, Any] = {}
    for _ in range(count):
        place = offset
        tag, offset = varint(data, offset, "tag")
        size, offset = varint(data, offset, "size of a tag")
        if tag in known:
            read, field = known[tag]
            if field.name in found:
                odd.add(NoteCode.TAG_REPEATED, place, f"{field.name}: tag {tag} comes again")
            start = offset
            found[field.name], offset = read(data, offset, odd)
            if offset - start != size:
                text = f"{field.name}: {offset - start} bytes, and its size says {size}"
                odd.add(NoteCode.TAG_SIZE, place, text)
        else:
            if size < 0 or offset + size > len(data):
                raise truncated(f"tag {tag}", size, data, offset)
            unknown.append((tag, data[offset : offset + size]))
            offset += size
            odd.add(NoteCode.UNKNOWN_TAG, place, f"tag {tag} of {size} bytes is not known")
    for _, field in known.values():
        if field.name in found and found[field.name] != field.default:
            value[field.name] = found[field.name]
    if unknown:
        value[UNKNOWN_TAGS] = unknown
    return offset


def _field(field: Field, version: int, *, is_flexible: bool) -> Reader:
    name, kind, nullable = field.name, field.type, field.nullable
    if isinstance(kind, Struct):
        read = _struct(kind.fields, version, is_flexible=is_flexible)
        return _nullable_struct(name, read, is_tagged=field.tag is not None) if nullable else read
    if isinstance(kind, ArrayOf):
        length = varint_length if is_flexible else int32_length
        if kind.element is INT32:
            return _numbers(name, length, nullable=nullable)
        element = _field(Field("element", kind.element), version, is_flexible=is_flexible)
        return _array(name, element, length, nullable=nullable)
    return _primitive(name, kind, nullable=nullable, is_flexible=is_flexible)


def _primitive(name: str, kind: Kind, *, nullable: bool, is_flexible: bool) -> Reader:
    if kind is STRING:
        return (
            _string(name, nullable=nullable)
            if not is_flexible
            else _compact_string(name, nullable=nullable)
        )
    if kind is BYTES:
        return _bytes(name, varint_length if is_flexible else int32_length, nullable=nullable)
    if kind is UUID:
        return _uuid(name)
    return _integer(name, struct.Struct(INTEGERS[kind]))


def _integer(name: str, layout: struct.Struct) -> Reader:
    unpack, size = layout.unpack_from, layout.size

    def read(data: bytes, offset: int, odd: Oddities) -> tuple[Any, int]:  # noqa: ARG001
        end = offset + size
        if end > len(data):
            raise truncated(name, size, data, offset)
        return unpack(data, offset)[0], end

    return read


def _uuid(name: str) -> Reader:
    def read(data: bytes, offset: int, odd: Oddities) -> tuple[Any, int]:  # noqa: ARG001
        end = offset + 16
        if end > len(data):
            raise truncated(name, 16, data, offset)
        return urlsafe_b64encode(data[offset:end])[:22].decode(), end

    return read


def int32_length(data: bytes, offset: int, name: str) -> tuple[int, int]:
    """Return the int32 in front of bytes and arrays, and the offset behind it."""
    end = offset + 4
    if end > len(data):
        raise truncated(name, 4, data, offset)
    return _INT32.unpack_from(data, offset)[0], end


def varint_length(data: bytes, offset: int, name: str) -> tuple[int, int]:
    """Return the length that a compact field has one more of, and the offset behind it."""
    if offset < len(data) and data[offset] < 0x80:
        return data[offset] - 1, offset + 1
    value, end = varint(data, offset, name)
    # Java subtracts in 32 bits: the least number becomes the greatest.
    return (value - 1 if value > -(2**31) else 2**31 - 1), end


def _string(name: str, *, nullable: bool) -> Reader:
    def read(data: bytes, offset: int, odd: Oddities) -> tuple[Any, int]:
        start = offset + 2
        size = len(data)
        if start > size:
            raise truncated(name, 2, data, offset)
        length = data[offset] << 8 | data[offset + 1]
        if length > INT16_MAX:
            return _null(name, offset, start, nullable=nullable)
        end = start + length
        if end > size:
            raise truncated(name, length, data, start)
        return _text(data[start:end], name, offset, odd), end

    return read


def _compact_string(name: str, *, nullable: bool) -> Reader:
    def read(data: bytes, offset: int, odd: Oddities) -> tuple[Any, int]:
        length, start = varint_length(data, offset, name)
        if length < 0:
            return _null(name, offset, start, nullable=nullable)
        if length > INT16_MAX:
            raise WireError(ErrorKind.BAD_LENGTH, f"{name}: a string of {length} bytes", offset)
        end = start + length
        if end > len(data):
            raise truncated(name, length, data, start)
        return _text(data[start:end], name, offset, odd), end

    return read


def _text(data: bytes, name: str, offset: int, odd: Oddities) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        odd.add(NoteCode.INVALID_UTF8, offset, f"{name}: invalid UTF-8")
        return replaced_utf8(data)


def _null(name: str, offset: int, end: int, *, nullable: bool) -> tuple[None, int]:
    if not nullable:
        raise WireError(ErrorKind.BAD_LENGTH, f"{name}: null", offset)
    return None, end


def _bytes(name: str, length_of: Length, *, nullable: bool) -> Reader:
    def read(data: bytes, offset: int, odd: Oddities) -> tuple[Any, int]:  # noqa: ARG001
        length, start = length_of(data, offset, name)
        if length < 0:
            return _null(name, offset, start, nullable=nullable)
        end = start + length
        if end > len(data):
            raise truncated(name, length, data, start)
        return data[start:end], end

    return read


def _count(data: bytes, offset: int, name: str, length_of: Length) -> tuple[int, int]:
    """Return how many elements follow, negative for null; more than there can be is refused."""
    count, start = length_of(data, offset, name)
    left = len(data) - start
    if count > left or count > COUNT_LIMIT:
        text = f"{name}: {count} elements in {left} bytes"
        raise WireError(ErrorKind.BAD_LENGTH, text, offset)
    return count, start


def _numbers(name: str, length_of: Length, *, nullable: bool) -> Reader:
    """Return the reader of an array of int32, in one step."""

    def read(data: bytes, offset: int, odd: Oddities) -> tuple[Any, int]:  # noqa: ARG001
        count, start = _count(data, offset, name, length_of)
        if count < 0:
            return _null(name, offset, start, nullable=nullable)
        end = start + 4 * count
        if end > len(data):
            raise truncated(name, 4 * count, data, start)
        return list(struct.unpack_from(f">{count}i", data, start)), end

    return read


def _array(name: str, element: Reader, length_of: Length, *, nullable: bool) -> Reader:
    def read(data: bytes, offset: int, odd: Oddities) -> tuple[Any, int]:
        count, start = _count(data, offset, name, length_of)
        if count < 0:
            return _null(name, offset, start, nullable=nullable)
        offset = start
        elements: list[Any] = []
        try:
            for _ in range(count):
                value, offset = element(data, offset, odd)
                elements.append(value)
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
