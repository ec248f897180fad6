r"""Bytes as text: each form in which people and programs write them is a function and a row.

Plain hexadecimal always means itself. Any other form is recognised by what plain hexadecimal does
not have, so that no text has two meanings. Kafka's messages help, as their first byte is 0 and
their second below 16: hexadecimal begins with `00`, decimal numbers with `0`, base64 with `AA`.
Text of several lines is one value here, its lines cut wherever its writer cut them.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from itertools import compress
from typing import NamedTuple

from assignors.documents.values import DocumentError, ErrorCode, bytes_from_hex

SEPARATORS = re.compile(rb"[\s:,;_-]+")
PLAIN = re.compile(rb"\s*+(?:0[xX])?[0-9A-Fa-f]*+\s*+")
BARE = re.compile(
    rb"""\s*+(?:(?:>>>|[>$\#%]|(?:In|Out)\s?\[\d++\]:)\s++)?
    (?:(?P<name>["']?[A-Za-z_][\w.\[\]-]*+(?:\ [\w.\[\]-]++)*+["']?)\ ?(?::=|[:=])\s*+)?
    (?P<quote>["'`]?)(?P<inner>[^"'`]*+)(?P=quote)[,;]?\s*+""",
    flags=re.VERBOSE,
)
"""A prompt, a name and quotes around a value."""
BRACKETS = re.compile(rb"\s*(?:[\[{(](.*)[\])}];?|\"(.*)\"|'(.*)')\s*", flags=re.DOTALL)
ESCAPE = re.compile(
    rb"\\x([0-9A-Fa-f]{2})|\\([0-7]{1,3})|\\([abfnrtv\\\"'])|([\x20-\x5b\x5d-\x7e])"
)
QUOTED = re.compile(rb"""b?"((?:[^"\\]|\\.)*+)"|b?'((?:[^'\\]|\\.)*+)'""")
BETWEEN_QUOTED = re.compile(rb"[\s\\+(),;]*")
LITERAL = re.compile(rb"""(?<![\w\\])b(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""")
LETTERS = {b"a": 7, b"b": 8, b"f": 12, b"n": 10, b"r": 13, b"t": 9, b"v": 11}
SQL = re.compile(
    rb"""\s*(?:[xX]'|[eE]?["']?\\{1,2}x)((?:[0-9A-Fa-f]{2})*+)["']?(?:::bytea)?[,;]?\s*"""
)
NODE_BUFFER = re.compile(
    rb"<Buffer(?:@\w+)?((?:\s++[0-9A-Fa-f]{2})*+)\s*+(?:\.\.\.([^<>]*+))?>", flags=re.IGNORECASE
)
LIST = re.compile(rb"(?:<<|[\[{(])([^][(){}<>]*+)(?:>>|[\])}])")
CAST = re.compile(rb"\(s?byte\)\s*")
BUFFER_DATA = re.compile(rb"""data\\*["']?\s*:\s*\Z""")
LABEL_SIZE = 32
"""Most characters before a list in which its name is looked for."""
ELLIPSIS = re.compile("\\.\\.\\.|\N{HORIZONTAL ELLIPSIS}".encode())
LEFT_OUT = re.compile(rb"(?:\d{1,9} more (?:bytes?|items?))?")
WORD = re.compile(rb"[^\s,]+")
NUMBER = re.compile(rb"-?\d+|0[xX][0-9A-Fa-f]+")
BASE64 = re.compile(rb"AA(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}")
OFFSET_COLUMN = re.compile(rb"\s*[0-9A-Fa-f]{4,8}(?:\s+[0-9A-Fa-f]{2}){2,}\s*")


class Given(NamedTuple):
    """Bytes, and how they were written; empty for plain hexadecimal."""

    blob: bytes
    form: str


class CutTextError(DocumentError):
    """A text that says itself that it lacks bytes; `blob` has those before."""

    def __init__(self, blob: bytes, missing: bytes, offset: int) -> None:
        """Keep the bytes that are there."""
        more = f" {missing[:40].decode(errors='replace')}" if missing else ""
        words = f"the text is cut after {len(blob)} bytes: it ends with '...{more}'"
        super().__init__(ErrorCode.BAD_HEX, words, offset=offset)
        self.blob = blob


def bytes_in(text: bytes) -> Given:
    r"""Return the bytes that a text stands for, and how it was read.

    Raises `DocumentError` where it is none of the forms, with the first character that does not
    fit hexadecimal, and `CutTextError` where it was printed with `...` at its end.

    >>> bytes_in(b"0003"), bytes_in(b"00:03 0x00, 01").blob.hex()
    (Given(blob=b'\x00\x03', form=''), '00030001')
    >>> bytes_in(rb"b'\x00\x03t\n'")
    Given(blob=b'\x00\x03t\n', form='text with \\x escapes')
    >>> bytes_in(rb"09:41 joined with b'\x00\x03', waits").blob
    b'\x00\x03'
    >>> bytes_in(b"AAMAAAAB")
    Given(blob=b'\x00\x03\x00\x00\x00\x01', form='base64')
    >>> bytes_in(b"[0, 3, -1]")
    Given(blob=b'\x00\x03\xff', form='a list of numbers')
    """
    if PLAIN.fullmatch(text) and b"\n" not in text.strip():
        return Given(bytes_from_hex(text), "")
    match = BARE.fullmatch(text)
    # Two digits and a colon are a byte, and no name of a value.
    is_bare = match and match["inner"] and re.search(rb"[g-zG-Z_]", match["name"] or b"_")
    for each in (text, match["inner"]) if match and is_bare else (text,):
        for form, read in FORMS.items():
            blob = read(each)
            if blob is not None:
                count = each.strip().count(b"\n") + 1
                return Given(blob, form + (f" over {count} lines" if count > 1 else ""))
    raise _not_hex(text)


def as_base64(text: bytes) -> bytes | None:
    """Return the bytes of base64, standard or for URLs; `None` where it is none of Kafka's."""
    letters = _unwrapped(text)
    if not BASE64.fullmatch(letters) or len(letters.rstrip(b"=")) % 4 == 1:
        return None
    padded = letters.rstrip(b"=") + b"=" * (-len(letters.rstrip(b"=")) % 4)
    if b"=" in letters and padded != letters:
        return None
    try:
        blob = base64.b64decode(padded, altchars=b"-_" if re.search(rb"[-_]", padded) else None)
    except binascii.Error:
        return None
    # Letters whose last bits are lost would not be written by anybody.
    again = base64.urlsafe_b64encode(blob).translate(bytes.maketrans(b"-_", b"+/"))
    return blob if again == padded.translate(bytes.maketrans(b"-_", b"+/")) else None


def _unwrapped(text: bytes) -> bytes:
    """Return the lines of a text as one, without spaces and backslashes between them."""
    if b"\n" not in text:
        return text.strip()
    lines = [line.strip().removesuffix(b"\\").rstrip() for line in text.split(b"\n")]
    return b"".join(lines)


def _plain(text: bytes) -> bytes | None:
    digits = _unwrapped(text)
    if not digits or not PLAIN.fullmatch(digits):
        return None
    return bytes_from_hex(digits) if len(digits) % 2 == 0 else None


def _sql(text: bytes) -> bytes | None:
    r"""Return the bytes of PostgreSQL's `\x0001`, and of SQL's `X'0001'`."""
    match = SQL.fullmatch(_unwrapped(text))
    return None if match is None else bytes.fromhex(match[1].decode())


def _escaped(text: bytes) -> bytes | None:
    r"""Return the bytes of text with at least one `\x`, in quotes or without."""
    if b"\\x" not in text:
        return None
    pieces = [double or single for double, single in QUOTED.findall(text)]
    if pieces and BETWEEN_QUOTED.fullmatch(QUOTED.sub(b"", text)):
        return _unescaped(b"".join(pieces))
    bare = _unwrapped(text).removesuffix(b"\\").rstrip()
    before = bare.partition(b"\\x")[0]
    if b" " in before or b"=" in before:
        words = "text before the bytes: give them alone, or as b'...'"
        raise DocumentError(ErrorCode.BAD_HEX, words, offset=0)
    return None if bare.startswith((b'"', b"'", b'b"', b"b'")) else _unescaped(bare)


def _unescaped(inner: bytes) -> bytes | None:
    found = bytearray()
    at = 0
    while at < len(inner):
        piece = ESCAPE.match(inner, at)
        if piece is None:
            return None
        digits, octal, letter, plain = piece.groups()
        if digits:
            found.append(int(digits, 16))
        elif octal:
            found.append(int(octal, 8) & 255)
        else:
            found += plain or bytes([LETTERS.get(letter, letter[0])])
        at = piece.end()
    return bytes(found)


def _in_log_line(text: bytes) -> bytes | None:
    """Return the bytes of Python's `b'...'` in a line with other text; `None` where none is.

    Raises `DocumentError` where there are several.
    """
    literals = [*LITERAL.finditer(text)]
    is_alone = not LITERAL.sub(b"", text).strip(b" \t\r\n\\+(),;")
    if not literals or is_alone or b"\\x" in LITERAL.sub(b"", text):
        return None
    return _escaped(_only(literals, "values b'...'")[0])


def _node_buffer(text: bytes) -> bytes | None:
    """Return the bytes of Node's `<Buffer 00 01>` in a text."""
    buffers = [*NODE_BUFFER.finditer(text)]
    if not buffers:
        return None
    match = _only(buffers, "Buffers")
    blob = bytes.fromhex(match[1].decode())
    if match[2] is not None:
        raise CutTextError(blob, match[2].strip(), match.end(1))
    return blob


def _listed(text: bytes) -> bytes | None:
    """Return the bytes of the only list of numbers in a text, whatever its brackets.

    Of several lists a Buffer of Node as JSON counts, `{"type":"Buffer","data":[0,1]}`, and those of
    more than one number.
    """
    text = CAST.sub(lambda cast: b" " * len(cast[0]), text)
    lists = [match for match in LIST.finditer(text) if _are_numbers(match[1])]
    if len(lists) > 1:
        before = [text[max(match.start() - LABEL_SIZE, 0) : match.start()] for match in lists]
        are_data = [b"Buffer" in text and bool(BUFFER_DATA.search(name)) for name in before]
        are_long = [len(WORD.findall(match[1])) > 1 for match in lists]
        lists = [*compress(lists, are_data)] or [*compress(lists, are_long)] or lists
    if not lists:
        return b"" if text.strip() in EMPTY_LISTS else None
    match = _only(lists, "lists of numbers")
    numbers, rest = _split_at_dots(match[1])
    blob = _decimal(numbers, match.start(1))
    blob = _separated(numbers) if blob is None else blob
    if blob is not None and rest is not None:
        raise CutTextError(blob, rest, match.start(1) + len(numbers))
    return blob


EMPTY_LISTS = {b"[]", b"<<>>", b"{}", b"()"}


def _are_numbers(inner: bytes) -> bool:
    numbers, rest = _split_at_dots(inner)
    words = WORD.findall(numbers)
    is_ended = rest is None or LEFT_OUT.fullmatch(rest) is not None
    return is_ended and bool(words) and all(NUMBER.fullmatch(word) for word in words)


def _split_at_dots(inner: bytes) -> tuple[bytes, bytes | None]:
    """Return the numbers before a `...`, and what follows it; `None` where there is no `...`."""
    match = ELLIPSIS.search(inner)
    return (
        (inner, None) if match is None else (inner[: match.start()], inner[match.end() :].strip())
    )


def _decimals_alone(text: bytes) -> bytes | None:
    """Return the bytes of decimal numbers without brackets: 0, as in all messages, and more."""
    words = WORD.findall(text)
    return _decimal(text, 0) if len(words) > 1 and words[0] == b"0" else None


def _decimal(numbers: bytes, start: int) -> bytes | None:
    """Return the bytes of decimal numbers, signed or not; `None` where they are hexadecimal.

    They are if all have `0x`, or if one without it begins with another 0. Raises `DocumentError`
    for a number that is no byte, `start` behind the first character of the text.
    """
    words = [*WORD.finditer(numbers)]
    plain = [word[0] for word in words if word[0][:2] not in {b"0x", b"0X"}]
    if not plain or not all(NUMBER.fullmatch(word[0]) for word in words):
        return None
    if any(len(word) > 1 and word.startswith((b"0", b"-0")) for word in plain):
        return None
    values = [_number(word[0]) for word in words]
    limits = range(-128, 128) if any(word.startswith(b"-") for word in plain) else range(256)
    for word, value in zip(words, values, strict=True):
        is_hex = word[0][:2] in {b"0x", b"0X"}
        if value not in (range(256) if is_hex else limits):
            shown = word[0][:20].decode()
            text = f"{shown} is no byte: numbers are 0..255, or -128..127 where one is negative"
            raise DocumentError(ErrorCode.BAD_HEX, text, offset=start + word.start())
    return bytes(value & 255 for value in values)


def _number(word: bytes) -> int:
    """Return a number; one of very many digits is any that is no byte."""
    if len(word) > 6:
        return 1 << 31
    return int(word, 16 if word[:2] in {b"0x", b"0X"} else 10)


SWAPPED_VERSIONS = {b"0100", b"0200", b"0300"}
"""First words of `od -An -x` where they are versions: no message has version 256, 512 or 768."""


def _separated(text: bytes) -> bytes | None:
    """Return the bytes of digits with separators between them, each group of an even number.

    `0x3` is a byte too. Raises `DocumentError` where the first group may be an offset.
    """
    match = BRACKETS.fullmatch(text)
    inner = next(part for part in match.groups() if part is not None) if match else text
    groups = [group for group in SEPARATORS.split(inner) if group]
    if OFFSET_COLUMN.fullmatch(inner) and b"\n" not in inner.strip():
        words = (
            "the first group may be an offset or bytes: begin the line with 0x or write a colon"
            " behind an offset"
        )
        raise DocumentError(ErrorCode.BAD_HEX, words, offset=len(text) - len(text.lstrip()))
    if len(groups) > 1 and groups[0] in SWAPPED_VERSIONS:
        words = "od and hexdump swap the bytes of such words: use hexdump -C, od -t x1 or xxd"
        raise DocumentError(ErrorCode.BAD_HEX, words, offset=text.index(groups[0]))
    digits = bytearray()
    for group in groups:
        is_prefixed = group[:2] in {b"0x", b"0X"}
        part = group[2:] if is_prefixed else group
        if is_prefixed and len(part) == 1:
            part = b"0" + part
        if not part or len(part) % 2 or not part.isalnum() or not PLAIN.fullmatch(part):
            return None
        digits += part
    return bytes.fromhex(digits.decode()) if digits else None


def _only(found: Sequence[re.Match[bytes]], what: str) -> re.Match[bytes]:
    """Return the only match; `DocumentError` at the second where there are several."""
    if len(found) > 1:
        words = f"the text has {len(found)} {what}: give one of them"
        raise DocumentError(ErrorCode.BAD_HEX, words, offset=found[1].start())
    return found[0]


def _not_hex(text: bytes) -> DocumentError:
    """Return the error of a text that has none of the forms."""
    try:
        bytes_from_hex(SEPARATORS.sub(b"", text) if SEPARATORS.search(text.strip()) else text)
    except DocumentError as error:
        if not SEPARATORS.search(text.strip()):
            return error
        odd = re.search(rb"[^0-9A-Fa-fxX\s:,;_-]", text)
        if odd is not None:
            words = f"{repr(odd.group())[1:]} is no hexadecimal digit"
            return DocumentError(error.kind, words, offset=odd.start())
    words = "hexadecimal digits with separators, but not in groups of whole bytes"
    return DocumentError(ErrorCode.BAD_HEX, words, offset=0)


FORMS: dict[str, Callable[[bytes], bytes | None]] = {
    "hexadecimal": _plain,
    "b'...' in a line of text": _in_log_line,
    r"SQL's \x and digits": _sql,
    r"text with \x escapes": _escaped,
    "Node's <Buffer 00 01>": _node_buffer,
    "a list of numbers": _listed,
    "hexadecimal with separators": _separated,
    "decimal numbers": _decimals_alone,
    "base64": as_base64,
}
"""How bytes may be written -> its reader, which returns `None` for other forms.

A reader raises `DocumentError` for a text of its form that has several meanings, or none."""
