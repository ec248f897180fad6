r"""Bytes in one line of text: hexadecimal with or without separators, escapes, base64.

Plain hexadecimal always means itself. Anything else is recognised by what plain hexadecimal does
not have, so that no text has two meanings: `\x` begins an escape (a line of a log has them in
`b'...'` alone), separators stand between digits, and base64 of Kafka's messages begins with `AA`
(their first byte is 0, their second below 16) and has a letter that is no digit.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import NamedTuple

from assignors.documents.values import DocumentError, ErrorCode, bytes_from_hex

SEPARATORS = re.compile(rb"[\s:,;_-]+")
PLAIN = re.compile(rb"\s*(?:0[xX])?[0-9A-Fa-f]*\s*")
BRACKETS = re.compile(rb"\s*(?:[\[{(](.*)[\])}];?|\"(.*)\"|'(.*)')\s*", flags=re.DOTALL)
ESCAPED = re.compile(
    rb"""\s*(?:b?"(?P<double>.*)"|b?'(?P<single>.*)'|(?P<bare>.*))\s*\\?\s*""", flags=re.DOTALL
)
ESCAPE = re.compile(
    rb"\\x([0-9A-Fa-f]{2})|\\([0-7]{1,3})|\\([abfnrtv\\\"'])|([\x20-\x5b\x5d-\x7e])"
)
LITERAL = re.compile(rb"""(?<![\w\\])b(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""")
LETTERS = {b"a": 7, b"b": 8, b"f": 12, b"n": 10, b"r": 13, b"t": 9, b"v": 11}
BASE64 = re.compile(rb"AA(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}")
OFFSET_COLUMN = re.compile(rb"\s*[0-9A-Fa-f]{4,8}(?:\s+[0-9A-Fa-f]{2}){2,}\s*")


class Given(NamedTuple):
    """Bytes, and how they were written; empty for plain hexadecimal."""

    blob: bytes
    form: str


def bytes_in(text: bytes) -> Given:
    r"""Return the bytes that a line stands for, and how it was read.

    Raises `DocumentError` where it is none of the forms, with the first character that does not
    fit hexadecimal.

    >>> bytes_in(b"0003"), bytes_in(b"00:03 0x00, 01").blob.hex()
    (Given(blob=b'\x00\x03', form=''), '00030001')
    >>> bytes_in(rb"b'\x00\x03t\n'")
    Given(blob=b'\x00\x03t\n', form='text with \\x escapes')
    >>> bytes_in(rb"09:41 joined with b'\x00\x03', waits").blob
    b'\x00\x03'
    >>> bytes_in(b"AAMAAAAB")
    Given(blob=b'\x00\x03\x00\x00\x00\x01', form='base64')
    """
    if PLAIN.fullmatch(text):
        return Given(bytes_from_hex(text), "")
    for form, read in FORMS.items():
        blob = read(text)
        if blob is not None:
            return Given(blob, form)
    raise _not_hex(text)


def as_base64(text: bytes) -> bytes | None:
    """Return the bytes of base64, standard or for URLs; `None` where it is none of Kafka's."""
    letters = text.strip()
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


def _escaped(text: bytes) -> bytes | None:
    r"""Return the bytes of text with at least one `\x`, in quotes or without."""
    if b"\\x" not in text:
        return None
    match = ESCAPED.fullmatch(text)
    assert match, "the last alternative takes anything"
    before = (match["bare"] or b"").partition(b"\\x")[0]
    if b" " in before or b"=" in before:
        words = "text before the bytes: give them alone, or as b'...'"
        raise DocumentError(ErrorCode.BAD_HEX, words, offset=0)
    kinds = ("double", "single", "bare")
    inner = next(match[kind] for kind in kinds if match[kind] is not None)
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
    literals = LITERAL.findall(text)
    if b"\\x" in LITERAL.sub(b"", text) or not literals or text.strip() in literals:
        return None
    if len(literals) > 1:
        words = f"the line has {len(literals)} values b'...': give one of them"
        raise DocumentError(ErrorCode.BAD_HEX, words, offset=text.find(literals[1]))
    return _escaped(literals[0])


def _separated(text: bytes) -> bytes | None:
    """Return the bytes of digits with separators between them, each group of an even number.

    `0x3` is a byte too. Raises `DocumentError` where the first group may be an offset.
    """
    match = BRACKETS.fullmatch(text)
    inner = next(part for part in match.groups() if part is not None) if match else text
    groups = [group for group in SEPARATORS.split(inner) if group]
    if OFFSET_COLUMN.fullmatch(inner):
        words = (
            "the first group may be an offset or bytes: begin the line with 0x or write a colon"
            " behind an offset"
        )
        raise DocumentError(ErrorCode.BAD_HEX, words, offset=len(text) - len(text.lstrip()))
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


def _not_hex(text: bytes) -> DocumentError:
    """Return the error of a line that has none of the forms."""
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
    "b'...' in a line of text": _in_log_line,
    r"text with \x escapes": _escaped,
    "hexadecimal with separators": _separated,
    "base64": as_base64,
}
"""How a line may be written, besides plainly -> its reader, which returns `None` for others."""
