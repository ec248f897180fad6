"""Readers of fields that stand in line: numbers, strings, bytes and uuids.

Consecutive fields of one form are read by one function, which fills them into the dict of their
struct. A group of fifty members is four hundred fields, and a call for each of them would cost
more than the reading: a member's eight fields are three calls, one for its strings, one for its
timeouts, one for its bytes.
"""

from __future__ import annotations

import struct
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

from wire.cursor import INT16_MAX
from wire.decoded import NoteCode, Oddities
from wire.errors import ErrorKind, WireError
from wire.layout import BYTES, INTEGERS, PLACE, STRING, UUID, Field, Kind
from wire.text import replaced_utf8

Filler = Callable[[bytes, int, Oddities, dict[str, Any]], int]
"""(bytes, offset, oddities, dict to fill) -> offset behind the fields.

Raises `WireError` with the place.
"""

_ID_SIZE = 16
_INT32 = struct.Struct(">i").unpack_from


class Form(StrEnum):
    """How a field is written: fields of one form that follow each other are read together."""

    INTEGER = "integer"
    UUID = "uuid"
    SHORT_STRING = "string behind an int16 length"
    LONG_BYTES = "bytes behind an int32 length"
    COMPACT = "string or bytes behind a varint length"


def form_of(kind: Kind, *, is_flexible: bool) -> Form:
    """Return how values of this kind are written.

    >>> form_of(STRING, is_flexible=False).name, form_of(BYTES, is_flexible=True).name
    ('SHORT_STRING', 'COMPACT')
    """
    if kind in INTEGERS:
        return Form.INTEGER
    if kind is UUID:
        return Form.UUID
    assert kind in {STRING, BYTES, PLACE}, kind
    if is_flexible:
        return Form.COMPACT
    return Form.SHORT_STRING if kind is STRING else Form.LONG_BYTES


def fields_reader(form: Form, fields: Sequence[Field]) -> Filler:
    """Return the reader of consecutive fields, all of this form.

    >>> read = fields_reader(Form.INTEGER, [Field("port", Kind.UINT16), Field("id", Kind.INT8)])
    >>> value = {}
    >>> read(bytes.fromhex("ffff07"), 0, Oddities(), value), value
    (3, {'port': 65535, 'id': 7})
    """
    return _READERS[form](fields)


def _integers(fields: Sequence[Field]) -> Filler:
    forms = [
        struct.Struct(INTEGERS[field.type]) for field in fields if isinstance(field.type, Kind)
    ]
    together = struct.Struct(">" + "".join(form.format[1:] for form in forms))
    names = [field.name for field in fields]
    width, unpack = together.size, together.unpack_from

    def read(data: bytes, offset: int, odd: Oddities, value: dict[str, Any]) -> int:  # noqa: ARG001 - one form for all
        try:
            numbers = unpack(data, offset)
        except struct.error:
            for name, form in zip(names, forms, strict=True):
                if offset + form.size > len(data):
                    raise truncated(name, form.size, data, offset) from None
                offset += form.size
            raise
        for name, number in zip(names, numbers):  # noqa: B905 - one a name; saying so costs a third
            value[name] = number  # noqa: PERF403 - into a dict that is there already
        return offset + width

    return read


def _identifiers(fields: Sequence[Field]) -> Filler:
    names = [field.name for field in fields]

    def read(data: bytes, offset: int, odd: Oddities, value: dict[str, Any]) -> int:  # noqa: ARG001 - as above
        for name in names:
            end = offset + _ID_SIZE
            if end > len(data):
                raise truncated(name, _ID_SIZE, data, offset)
            value[name] = urlsafe_b64encode(data[offset:end])[:22].decode()
            offset = end
        return offset

    return read


def _short_strings(fields: Sequence[Field]) -> Filler:
    names = [field.name for field in fields]
    nullable = {field.name for field in fields if field.nullable}

    def read(data: bytes, offset: int, odd: Oddities, value: dict[str, Any]) -> int:
        size = len(data)
        for name in names:
            start = offset + 2
            if start > size:
                raise truncated(name, 2, data, offset)
            end = start + (data[offset] << 8 | data[offset + 1])
            if end > size or end - start > INT16_MAX:
                if data[offset] < 0x80:
                    raise truncated(name, end - start, data, start)
                if name not in nullable:
                    raise refused_null(name, offset)
                value[name] = None
                offset = start
                continue
            try:
                value[name] = data[start:end].decode()
            except UnicodeDecodeError:
                value[name] = _broken_text(data[start:end], name, offset, odd)
            offset = end
        return offset

    return read


def _long_bytes(fields: Sequence[Field]) -> Filler:
    names = [field.name for field in fields]
    nullable = {field.name for field in fields if field.nullable}

    def read(data: bytes, offset: int, odd: Oddities, value: dict[str, Any]) -> int:  # noqa: ARG001 - as above
        size = len(data)
        for name in names:
            start = offset + 4
            if start > size:
                raise truncated(name, 4, data, offset)
            length = _INT32(data, offset)[0]
            if length < 0:
                if name not in nullable:
                    raise refused_null(name, offset)
                value[name] = None
                offset = start
                continue
            end = start + length
            if end > size:
                raise truncated(name, length, data, start)
            value[name] = data[start:end]
            offset = end
        return offset

    return read


def _compact(fields: Sequence[Field]) -> Filler:
    rows = [(field.name, field.type is STRING) for field in fields]
    nullable = {field.name for field in fields if field.nullable}

    def read(data: bytes, offset: int, odd: Oddities, value: dict[str, Any]) -> int:
        size = len(data)
        for name, is_text in rows:
            start = offset + 1
            if start <= size and data[offset] < 0x80:
                length = data[offset] - 1
            else:
                length, start = compact_length(data, offset, name)
            if length < 0:
                if name not in nullable:
                    raise refused_null(name, offset)
                value[name] = None
                offset = start
                continue
            end = start + length
            if end > size:
                raise truncated(name, length, data, start)
            part = data[start:end]
            value[name] = _text(part, name, offset, odd) if is_text else part
            offset = end
        return offset

    return read


_READERS: dict[Form, Callable[[Sequence[Field]], Filler]] = {
    Form.INTEGER: _integers,
    Form.UUID: _identifiers,
    Form.SHORT_STRING: _short_strings,
    Form.LONG_BYTES: _long_bytes,
    Form.COMPACT: _compact,
}


def truncated(name: str, length: int, data: bytes, offset: int) -> WireError:
    """Return the error of a part that is longer than what is left."""
    text = f"{name}: {length} bytes in {len(data) - offset}"
    return WireError(ErrorKind.TRUNCATED, text, offset)


def refused_null(name: str, offset: int) -> WireError:
    """Return the error of a null where there may be none."""
    return WireError(ErrorKind.BAD_LENGTH, f"{name}: null", offset)


def varint(data: bytes, offset: int, name: str) -> tuple[int, int]:
    """Return an unsigned varint as Java holds it, a signed int32, and the offset behind it.

    >>> varint(bytes.fromhex("ac02"), 0, "size")
    (300, 2)
    """
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


def compact_length(data: bytes, offset: int, name: str) -> tuple[int, int]:
    """Return the length that a compact field has one more of, and the offset behind it."""
    value, end = varint(data, offset, name)
    # Java subtracts in 32 bits: the least number becomes the greatest.
    return (value - 1 if value > -(2**31) else 2**31 - 1), end


def _text(data: bytes, name: str, offset: int, odd: Oddities) -> str:
    """Return a compact string, which can say more bytes than a string can have."""
    if len(data) > INT16_MAX:
        text = f"{name}: a string of {len(data)} bytes"
        raise WireError(ErrorKind.BAD_LENGTH, text, offset)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _broken_text(data, name, offset, odd)


def _broken_text(data: bytes, name: str, offset: int, odd: Oddities) -> str:
    """Return the text of bytes that are no UTF-8, as Java reads it."""
    odd.add(NoteCode.INVALID_UTF8, offset, f"{name}: invalid UTF-8")
    return replaced_utf8(data)
