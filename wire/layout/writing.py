"""Writers of messages, built from a layout's rows: the bytes that Kafka's own classes write.

Tagged fields are written ascending, those that have their default not at all, unknown tags among
them where they belong. A value that cannot be written (a field missing or not known, a number
that does not fit, a null that may not be) raises `WireError`: nothing is left out in silence.
"""

from __future__ import annotations

import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from typing import Any

from wire.errors import ErrorKind, WireError
from wire.layout import (
    BYTES,
    INTEGERS,
    STRING,
    UNKNOWN_TAGS,
    UUID,
    Absent,
    ArrayOf,
    Field,
    Kind,
    Layout,
    Struct,
    in_line,
    tagged,
)
from wire.text import encode_utf8
from wire.writing import STRING_LIMIT

Writer = Callable[[Any], bytes]
"""value -> bytes. Raises `WireError` for a value that has none."""


def compile_writer(layout: Layout, version: int) -> Writer:
    """Return the writer of one version of a message.

    >>> from wire.layout import STRING
    >>> key = Layout("Key", versions=range(1), fields=(Field("group", STRING),))
    >>> compile_writer(key, 0)({"group": "g"}).hex()
    '000167'
    """
    if version not in layout.versions:
        text = f"{layout.name} has no version {version}"
        raise WireError(ErrorKind.UNKNOWN_VERSION, text)
    return _struct(layout.name, layout.fields, version, is_flexible=layout.is_flexible(version))


def unwritable(text: str) -> WireError:
    """Return the error of a value that has no bytes."""
    return WireError(ErrorKind.UNWRITABLE, text)


def varint_bytes(value: int) -> bytes:
    """Return an unsigned varint.

    >>> varint_bytes(300).hex()
    'ac02'
    """
    chunks = bytearray()
    while value > 0x7F:
        chunks.append(value & 0x7F | 0x80)
        value >>= 7
    chunks.append(value)
    return bytes(chunks)


def _struct(name: str, fields: tuple[Field, ...], version: int, *, is_flexible: bool) -> Writer:
    writers = [
        (field, _field(field, version, is_flexible=is_flexible))
        for field in in_line(fields, version)
    ]
    tags = [
        (tag, field, _field(field, version, is_flexible=is_flexible))
        for tag, field in tagged(fields, version).items()
    ]
    names = {field.name for field, _ in writers} | {field.name for _, field, _ in tags}
    elsewhere = {field.name: field.default for field in fields if not field.is_in(version)}

    def write(value: Any) -> bytes:  # noqa: ANN401 - what the caller has
        if not isinstance(value, dict):
            raise unwritable(f"{name}: {type(value).__name__} is no struct")
        for given in value:
            if given not in names and not (is_flexible and given == UNKNOWN_TAGS):
                _refuse_unless_default(name, given, value[given], elsewhere)
        chunks = [writer(_given(value, field)) for field, writer in writers]
        if is_flexible:
            found = [
                (tag, writer(value[field.name]))
                for tag, field, writer in tags
                if field.name in value and value[field.name] != field.default
            ]
            found += [(tag, bytes(payload)) for tag, payload in value.get(UNKNOWN_TAGS, ())]
            found.sort(key=lambda pair: pair[0])
            chunks.append(varint_bytes(len(found)))
            for tag, payload in found:
                chunks += (varint_bytes(tag), varint_bytes(len(payload)), payload)
        return b"".join(chunks)

    return write


def _refuse_unless_default(name: str, given: str, value: Any, elsewhere: dict[str, Any]) -> None:  # noqa: ANN401
    """Raise for a field that this version cannot hold, unless it says nothing."""
    if given not in elsewhere:
        raise unwritable(f"{name} has no field {given!r}")
    if value != elsewhere[given]:
        raise unwritable(f"{given}: this version of {name} does not have it")


def _given(value: dict[str, Any], field: Field) -> Any:  # noqa: ANN401 - of the field's type
    found = value.get(field.name, field.default)
    if found is Absent.REQUIRED:
        raise unwritable(f"{field.name} is missing")
    return found


def _field(field: Field, version: int, *, is_flexible: bool) -> Writer:
    name, kind = field.name, field.type
    if isinstance(kind, Struct):
        write = _struct(name, kind.fields, version, is_flexible=is_flexible)
        if not field.nullable:
            return write
        absent, present = (b"\0", b"\1") if field.tag is not None else (b"\xff", b"\1")
        return lambda value: absent if value is None else present + write(value)
    if isinstance(kind, ArrayOf):
        element = _field(Field(name, kind.element), version, is_flexible=is_flexible)
        return _sized(name, _array(name, element), field, is_flexible=is_flexible)
    return _primitive(name, kind, field, is_flexible=is_flexible)


def _primitive(name: str, kind: Kind, field: Field, *, is_flexible: bool) -> Writer:
    if kind is STRING:
        if is_flexible:
            return _sized(name, lambda text: _string(name, text), field, is_flexible=True)
        return _short_string(name, nullable=field.nullable)
    if kind is BYTES:
        return _sized(name, lambda data: _bytes(name, data), field, is_flexible=is_flexible)
    if kind is UUID:
        return lambda text: _uuid(name, text)
    return _integer(name, INTEGERS[kind])


def _integer(name: str, layout: str) -> Writer:
    pack = struct.Struct(layout).pack

    def write(value: Any) -> bytes:  # noqa: ANN401 - what the caller has
        try:
            return pack(value)
        except struct.error as error:
            raise unwritable(f"{name}: {value!r:.80}: {error}") from error

    return write


def _uuid(name: str, text: Any) -> bytes:  # noqa: ANN401 - what the caller has
    try:
        data = urlsafe_b64decode(f"{text}==")
    except ValueError:
        data = b""
    if len(data) != 16 or urlsafe_b64encode(data)[:22].decode() != text:
        raise unwritable(f"{name}: {text!r:.80} is no uuid")
    return data


def _string(name: str, text: Any) -> tuple[int, bytes]:  # noqa: ANN401 - what the caller has
    if not isinstance(text, str):
        raise unwritable(f"{name}: {type(text).__name__} is no string")
    data = encode_utf8(text)
    if len(data) > STRING_LIMIT:
        raise unwritable(f"{name}: a string of {len(data)} bytes is too long")
    return len(data), data


def _bytes(name: str, data: Any) -> tuple[int, bytes]:  # noqa: ANN401 - what the caller has
    if not isinstance(data, bytes | bytearray | memoryview):
        raise unwritable(f"{name}: {type(data).__name__} is no bytes")
    return len(data), bytes(data)


def _short_string(name: str, *, nullable: bool) -> Writer:
    def write(text: Any) -> bytes:  # noqa: ANN401 - what the caller has
        if text is None and nullable:
            return b"\xff\xff"
        length, data = _string(name, text)
        return struct.pack(">h", length) + data

    return write


def _array(name: str, element: Writer) -> Callable[[Any], tuple[int, bytes]]:
    def write(elements: Any) -> tuple[int, bytes]:  # noqa: ANN401 - what the caller has
        if not isinstance(elements, list | tuple):
            raise unwritable(f"{name}: {type(elements).__name__} is no array")
        return len(elements), b"".join(map(element, elements))

    return write


def _sized(
    name: str, body: Callable[[Any], tuple[int, bytes]], field: Field, *, is_flexible: bool
) -> Writer:
    """Return the writer of what has its length in front: an int32, or a varint of one more."""
    null = b"\0" if is_flexible else b"\xff\xff\xff\xff"

    def write(value: Any) -> bytes:  # noqa: ANN401 - what the caller has
        if value is None:
            if not field.nullable:
                raise unwritable(f"{name}: null")
            return null
        length, data = body(value)
        return (varint_bytes(length + 1) if is_flexible else struct.pack(">i", length)) + data

    return write
