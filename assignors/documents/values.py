"""Values of a JSON document, each of the type that was asked for or refused with its place.

A place is the tuple of keys and positions that leads to a value. It is spelled out only when
something is wrong there, so a correct document pays next to nothing for it.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

Document = dict[str, object]
Place = tuple[str | int, ...]

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
NOT_HEX = re.compile(rb"[^0-9A-Fa-f]")
SURROGATE = re.compile("[\ud800-\udfff]")


class ErrorCode(StrEnum):
    """Why a line or a document was refused."""

    BAD_UTF8 = "bad-utf8"
    BAD_JSON = "bad-json"
    BAD_HEX = "bad-hex"
    BAD_TEXT = "bad-text"
    MISSING = "missing"
    WRONG_TYPE = "wrong-type"
    OUT_OF_RANGE = "out-of-range"
    REPEATED = "repeated"
    UNKNOWN = "unknown"
    TOO_LARGE = "too-large"
    FAILED = "failed"
    REFERENCE_FAILED = "reference-failed"


class DocumentError(ValueError):
    """Something in a document is wrong: at `path`, or at byte `offset` of its text."""

    def __init__(
        self, kind: ErrorCode, words: str, place: Place = (), *, offset: int | None = None
    ) -> None:
        """Keep kind, words and place apart: programs read the first and the last."""
        super().__init__(kind, words, place, offset)
        self.kind = kind
        self.text = words
        self.offset = offset
        self.path = shown(place)

    def __str__(self) -> str:
        """Return the words and the place."""
        where = self.path if self.offset is None else f"byte {self.offset}"
        return f"{self.text} at {where}"

    def document(self) -> Document:
        """Return the error as it stands in an answer."""
        where: Document = {"path": self.path} if self.offset is None else {"offset": self.offset}
        return {"kind": self.kind.value, "text": self.text, **where}


def shown(place: Place) -> str:
    """Return a place as people write it; `$` is the whole document.

    >>> shown(("members", 2, "owned")), shown(("topics", "orders-v2")), shown(())
    ('members[2].owned', 'topics["orders-v2"]', '$')
    """
    path = ""
    for step in place:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step.isidentifier() and step.isascii():
            path += f".{step}" if path else step
        else:
            quoted = step.encode("unicode_escape").decode().replace('"', '\\"')
            path += f'["{quoted}"]'
    return path or "$"


def struct(value: object, place: Place) -> Mapping[str, object]:
    """Return an object's fields."""
    if not isinstance(value, dict):
        raise DocumentError(
            ErrorCode.WRONG_TYPE, f"expected an object, found {found(value)}", place
        )
    return value


def required(fields: Mapping[str, object], key: str, place: Place) -> object:
    """Return the value of a key that must be there; null is not there."""
    if fields.get(key) is None:
        raise DocumentError(ErrorCode.MISSING, f"{key!r} is missing", (*place, key))
    return fields[key]


def items(value: object, place: Place) -> Sequence[object]:
    """Return a list."""
    if not isinstance(value, list):
        raise DocumentError(ErrorCode.WRONG_TYPE, f"expected a list, found {found(value)}", place)
    return value


def names(value: object, place: Place) -> tuple[str, ...]:
    """Return a list of strings."""
    return tuple(
        text(entry, (*place, position)) for position, entry in enumerate(items(value, place))
    )


def text(value: object, place: Place) -> str:
    """Return a string that has UTF-8 bytes: half a surrogate pair has none."""
    if not isinstance(value, str):
        raise DocumentError(ErrorCode.WRONG_TYPE, f"expected a string, found {found(value)}", place)
    if not value.isascii() and SURROGATE.search(value):
        raise DocumentError(ErrorCode.BAD_TEXT, "half a surrogate pair is no character", place)
    return value


def int32(value: object, place: Place) -> int:
    """Return an integer that fits the protocol's; `true` and 1.0 are none."""
    if type(value) is not int:
        raise DocumentError(
            ErrorCode.WRONG_TYPE, f"expected an integer, found {found(value)}", place
        )
    if not INT32_MIN <= value <= INT32_MAX:
        raise DocumentError(
            ErrorCode.OUT_OF_RANGE, f"{found(value)} does not fit in 32 bits", place
        )
    return value


def numbers(value: object, place: Place) -> tuple[int, ...]:
    """Return a list of integers that fit the protocol's."""
    listed = items(value, place)
    return tuple(
        entry
        if type(entry) is int and INT32_MIN <= entry <= INT32_MAX
        else int32(entry, (*place, position))
        for position, entry in enumerate(listed)
    )


def bytes_from_hex(digits: bytes) -> bytes:
    r"""Return the bytes that hexadecimal digits stand for, in either case, after an optional 0x.

    White space may surround them. An error's offset counts from the start of `digits`.

    >>> bytes_from_hex(b" 0x00FF ")
    b'\x00\xff'
    """
    pairs = digits.strip()
    start = len(digits) - len(digits.lstrip())
    if pairs[:2] in {b"0x", b"0X"}:
        pairs, start = pairs[2:], start + 2
    try:
        return binascii.unhexlify(pairs)
    except binascii.Error:
        odd = NOT_HEX.search(pairs)
    if odd is None:
        words = f"odd number of hexadecimal digits, {len(pairs)}"
        raise DocumentError(ErrorCode.BAD_HEX, words, offset=start + len(pairs))
    words = f"{repr(odd.group())[1:]} is no hexadecimal digit"
    raise DocumentError(ErrorCode.BAD_HEX, words, offset=start + odd.start())


def found(value: object) -> str:
    """Return a value as JSON names it, short enough for a message.

    >>> found(None), found(True), found([1, 2]), found("t" * 50)[:9]
    ('null', 'true', 'a list of 2', '"tttttttt')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else f"a list of {len(value)}"
    if isinstance(value, int) and value.bit_length() > 99:
        return "a huge number"
    words = f'"{value}"' if isinstance(value, str) else str(value)
    return words if len(words) <= 40 else f"{words[:37]}..."
