"""The reader of a struct as Python source: its rows written out, one after the other.

A group of fifty members is four hundred fields, and a call for each of them would cost more than
the reading. So, as `dataclasses` does for `__init__`, a struct's rows are written out as the lines
that a careful person would write by hand, and compiled once. Only names out of our own tables get
into the source. What has parts of its own (arrays, structs that may be null, tags) stays a call.

The lines of all fields share `data`, `size`, `offset` (where the field starts; behind it when its
lines are done) and `odd`; each leaves its value in a variable of its own.
"""

from __future__ import annotations

import struct
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from textwrap import indent
from typing import Any

from wire.cursor import INT16_MAX
from wire.decoded import NoteCode, Oddities
from wire.errors import ErrorKind, WireError
from wire.layout import BYTES, INTEGERS, STRING, UUID, Kind
from wire.text import replaced_utf8

Reader = Callable[[bytes, int, Oddities], tuple[Any, int]]
"""(bytes, offset, oddities) -> value, offset behind it. Raises `WireError` with the place."""


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


def too_long(name: str, length: int, offset: int) -> WireError:
    """Return the error of a compact string that is longer than a string can be."""
    return WireError(ErrorKind.BAD_LENGTH, f"{name}: a string of {length} bytes", offset)


def broken_text(data: bytes, name: str, offset: int, odd: Oddities) -> str:
    """Return the text of bytes that are no UTF-8, as Java reads it."""
    odd.add(NoteCode.INVALID_UTF8, offset, f"{name}: invalid UTF-8")
    return replaced_utf8(data)


INTEGER = """\
end = offset + {width}
if end > size:
    raise truncated({name!r}, {width}, data, offset)
{target} = {unpack}(data, offset)[0]
offset = end
"""

IDENTIFIER = """\
end = offset + 16
if end > size:
    raise truncated({name!r}, 16, data, offset)
{target} = urlsafe_b64encode(data[offset:end])[:22].decode()
offset = end
"""

INT16_LENGTH = f"""\
start = offset + 2
if start > size:
    raise truncated({{name!r}}, 2, data, offset)
length = data[offset] << 8 | data[offset + 1]
if length > {INT16_MAX}:
    length = -1
"""

INT32_LENGTH = """\
start = offset + 4
if start > size:
    raise truncated({name!r}, 4, data, offset)
length = unpack_int32(data, offset)[0]
"""

COMPACT_LENGTH = """\
if offset < size and data[offset] < 0x80:
    length = data[offset] - 1
    start = offset + 1
else:
    length, start = compact_length(data, offset, {name!r})
"""

BODY = """\
if length < 0:
{null}
else:
    end = start + length
    if end > size:
        raise truncated({name!r}, length, data, start)
{take}
    offset = end
"""

NULL = """\
    {target} = None
    offset = start"""

NO_NULL = """\
    raise refused_null({name!r}, offset)"""

TAKE_BYTES = """\
    {target} = data[start:end]"""

TAKE_TEXT = """\
    try:
        {target} = data[start:end].decode()
    except UnicodeDecodeError:
        {target} = broken_text(data[start:end], {name!r}, offset, odd)"""

SHORT_ENOUGH = f"""\
    if length > {INT16_MAX}:
        raise too_long({{name!r}}, length, offset)
"""

CALL = "{target}, offset = {reader}(data, offset, odd)\n"

NAMESPACE = {
    "broken_text": broken_text,
    "compact_length": compact_length,
    "refused_null": refused_null,
    "too_long": too_long,
    "truncated": truncated,
    "unpack_int32": struct.Struct(">i").unpack_from,
    "urlsafe_b64encode": urlsafe_b64encode,
    **{f"unpack_{kind}": struct.Struct(form).unpack_from for kind, form in INTEGERS.items()},
}
"""What the lines may call."""


def primitive_lines(
    target: str, name: str, kind: Kind, *, nullable: bool, is_flexible: bool
) -> str:
    """Return the lines that read a value of this kind into the variable `target`.

    >>> print(primitive_lines("a", "port", Kind.UINT16, nullable=False, is_flexible=True))
    end = offset + 2
    if end > size:
        raise truncated('port', 2, data, offset)
    a = unpack_uint16(data, offset)[0]
    offset = end
    """
    if kind in INTEGERS:
        template = INTEGER.replace("{width}", str(struct.calcsize(INTEGERS[kind])))
    elif kind is UUID:
        template = IDENTIFIER
    else:
        assert kind in {STRING, BYTES}, kind
        take = TAKE_BYTES
        length = COMPACT_LENGTH if is_flexible else INT32_LENGTH
        if kind is STRING:
            take = SHORT_ENOUGH + TAKE_TEXT if is_flexible else TAKE_TEXT
            length = COMPACT_LENGTH if is_flexible else INT16_LENGTH
        null = NULL if nullable else NO_NULL
        template = length + BODY.replace("{null}", null).replace("{take}", take)
    return template.format(target=target, name=name, unpack=f"unpack_{kind}")


def compile_primitive(name: str, kind: Kind, *, nullable: bool, is_flexible: bool) -> Reader:
    """Return the reader of one value of this kind."""
    lines = primitive_lines("value", name, kind, nullable=nullable, is_flexible=is_flexible)
    return _compiled(lines, "value", {})


def compile_struct(
    names: Sequence[str], lines: Sequence[str], readers: Mapping[str, Reader]
) -> Reader:
    """Return the reader of a struct: the lines of field number i leave its value in `v<i>`.

    `readers` are what the lines call by name.
    """
    pairs = ", ".join(f"{name!r}: v{number}" for number, name in enumerate(names))
    return _compiled("".join(lines), f"{{{pairs}}}", readers)


def _compiled(lines: str, result: str, readers: Mapping[str, Reader]) -> Reader:
    source = (
        "def read(data, offset, odd):\n    size = len(data)\n"
        f"{indent(lines, '    ')}    return {result}, offset\n"
    )
    namespace: dict[str, Any] = {**NAMESPACE, **readers}
    exec(source, namespace)  # noqa: S102 - our own tables written out, as dataclasses does
    read: Reader = namespace["read"]
    return read
