"""Read values out of parsed JSON: each has the type asked for, else its place is named.

A place is the tuple of keys and positions that leads to a value; an error shows it as a path,
`members[2].owned[0][1]`. The path is only made when something is wrong, so a correct document
costs little more than going through it.

>>> as_int32("7", ("members", 2, "generation"))
Traceback (most recent call last):
assignors.documents.values.DocumentError: expected an integer, found "7" at members[2].generation
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from numbers import Integral, Real

SCHEMA = 2
"""Version of these formats, in every object that is written."""

Document = dict[str, object]
"""A JSON object."""

Place = tuple[str | int, ...]
"""The keys and positions that lead to a value; `()` is the whole document."""

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
NOT_HEX = re.compile(rb"[^0-9A-Fa-f]")
SURROGATE = re.compile("[\ud800-\udfff]")


class ErrorCode(StrEnum):
    """Why a line or a document was refused: `error_kind` in an answer."""

    BAD_UTF8 = "bad-utf8"
    """The line is not UTF-8."""
    BAD_JSON = "bad-json"
    """The line is not one JSON document."""
    BAD_HEX = "bad-hex"
    """Text that should be hexadecimal is not."""
    BAD_TEXT = "bad-text"
    """Text that cannot be what it stands for: no topic id, or half of a surrogate pair."""
    MISSING = "missing"
    """A key that is needed is absent, or null."""
    WRONG_TYPE = "wrong-type"
    """A value of another type than the format has there."""
    OUT_OF_RANGE = "out-of-range"
    """A number beyond its limits."""
    REPEATED = "repeated"
    """A key, or a member id, that occurs twice."""
    UNKNOWN = "unknown"
    """A name that is none of those there are."""
    TOO_LARGE = "too-large"
    """More partitions than one group may have."""
    FAILED = "failed"
    """The assignor, or the run, failed; `error` has the reason."""
    REFERENCE_FAILED = "reference-failed"
    """Kafka's own assignor throws an exception for this group, and so does its copy."""


class DocumentError(ValueError):
    """Something in a document is wrong: at `path`, or at byte `offset` of its text."""

    def __init__(
        self, kind: ErrorCode, words: str, place: Place = (), *, offset: int | None = None
    ) -> None:
        """Keep the kind, the sentence and the place apart: programs read the first and the last."""
        super().__init__(kind, words, place, offset)
        self.kind = kind
        self.text = words
        self.offset = offset
        self.place = place
        self.path = path_of(place)

    def __str__(self) -> str:
        """Return the sentence and the place; a key that it begins with is not said again.

        >>> print(DocumentError(ErrorCode.UNKNOWN, "'topic' is no key here", ("topic",)))
        'topic' is no key here
        >>> print(DocumentError(ErrorCode.UNKNOWN, "'rack' is no key here", ("members", 0, "rack")))
        'rack' is no key here at members[0]
        """
        if self.offset is not None:
            return f"{self.text} at byte {self.offset}"
        if not self.place or not self.text.startswith(f"{self.place[-1]!r} "):
            return f"{self.text} at {self.path}"
        above = self.place[:-1]
        return f"{self.text} at {path_of(above)}" if above else self.text

    def below(self, *place: str) -> DocumentError:
        """Return the error of a document that stands at a place of another one."""
        return DocumentError(self.kind, self.text, (*place, *self.place))

    def document(self) -> Document:
        """Return the error as it is written in an answer: sentence, code, and path or offset."""
        where: Document = {"path": self.path} if self.offset is None else {"offset": self.offset}
        return {"error": str(self), "error_kind": self.kind.value, "error_at": where}


def path_of(place: Place) -> str:
    """Return a place as a path; `$` is the whole document.

    >>> path_of(("members", 2, "owned")), path_of(("topics", "orders-v2")), path_of(())
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


def required(fields: Mapping[str, object], key: str, place: Place) -> object:
    """Return the value of a key; `DocumentError` where it is missing or null."""
    if fields.get(key) is None:
        raise DocumentError(ErrorCode.MISSING, f"{key!r} is missing", (*place, key))
    return fields[key]


def as_object(value: object, place: Place) -> Mapping[str, object]:
    """Return an object's fields; `DocumentError` for anything that is no object."""
    if not isinstance(value, dict):
        raise _wrong_type("an object", value, place)
    return value


def as_list(value: object, place: Place) -> Sequence[object]:
    """Return a list; `DocumentError` for anything else."""
    if not isinstance(value, list):
        raise _wrong_type("a list", value, place)
    return value


def as_string(value: object, place: Place) -> str:
    """Return a string that can be written as UTF-8; `DocumentError` for anything else.

    A string with half a surrogate pair, which JSON can express, cannot be written.
    """
    if not isinstance(value, str):
        raise _wrong_type("a string", value, place)
    if not value.isascii() and SURROGATE.search(value):
        words = "half a surrogate pair, which UTF-8 cannot express"
        raise DocumentError(ErrorCode.BAD_TEXT, words, place)
    return value


def as_strings(value: object, place: Place) -> tuple[str, ...]:
    """Return a list of strings, each as `as_string`; `DocumentError` at the first that is none."""
    return tuple(
        entry if type(entry) is str and entry.isascii() else as_string(entry, (*place, position))
        for position, entry in enumerate(as_list(value, place))
    )


def as_int32(value: object, place: Place) -> int:
    """Return an integer of 32 bits, as in Kafka's protocol; `DocumentError` for anything else.

    Integers of numpy are taken too; `true` and 1.0 are no integers.
    """
    number = as_integer(value, place)
    if not INT32_MIN <= number <= INT32_MAX:
        words = f"{described(number)} does not fit in 32 bits"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, place)
    return number


def as_integer(value: object, place: Place, kind: str = "an integer") -> int:
    """Return an integer of any size, also one of numpy; `DocumentError` for anything else.

    `true` and 1.0 are no integers; `kind` is what the error says was expected.
    """
    if type(value) is int:
        return value
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    raise _wrong_type(kind, value, place)


def as_real(value: object, place: Place) -> int | float:
    """Return a number, also one of numpy; `DocumentError` for anything else, `true` too."""
    if type(value) is int or type(value) is float:
        return value
    if isinstance(value, Real) and not isinstance(value, bool):
        return int(value) if isinstance(value, Integral) else float(value)
    raise _wrong_type("a number", value, place)


def as_int32s(value: object, place: Place) -> tuple[int, ...]:
    """Return a list of integers of 32 bits; `DocumentError` at the first entry that is none."""
    return tuple(
        entry
        if type(entry) is int and INT32_MIN <= entry <= INT32_MAX
        else as_int32(entry, (*place, position))
        for position, entry in enumerate(as_list(value, place))
    )


def optional_int32(fields: Mapping[str, object], key: str, place: Place = ()) -> int | None:
    """Return the integer of a key, `None` where it is absent or null; errors of `as_int32`."""
    value = fields.get(key)
    return None if value is None else as_int32(value, (*place, key))


def optional_string(fields: Mapping[str, object], key: str, place: Place = ()) -> str | None:
    """Return the string of a key, `None` where it is absent or null; errors of `as_string`."""
    value = fields.get(key)
    return None if value is None else as_string(value, (*place, key))


def optional_bytes(fields: Mapping[str, object], key: str, place: Place = ()) -> bytes | None:
    """Return the bytes that a key has in hexadecimal, `None` where it is absent or null.

    Raises `DocumentError` for what is no string, and for the first character that is no digit.
    """
    digits = optional_string(fields, key, place)
    if digits is None:
        return None
    try:
        return bytes_from_hex(digits.encode())
    except DocumentError as error:
        words = f"{error.text} (character {error.offset})"
        raise DocumentError(error.kind, words, (*place, key)) from None


def bytes_from_hex(digits: bytes) -> bytes:
    r"""Return the bytes that hexadecimal digits stand for, in either case, after an optional 0x.

    White space may surround them. Raises `DocumentError` for any other character and for an odd
    number of digits; its offset counts bytes from the start of `digits`.

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


def described(value: object) -> str:
    """Return a value as JSON names it, short enough for a message.

    >>> described(None), described(True), described([1, 2]), described("t" * 50)[:9]
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
    words = f'"{_escaped(value)}"' if isinstance(value, str) else str(value)
    return words if len(words) <= 40 else f"{words[:37]}..."


def _escaped(text: str) -> str:
    """Return a text as it can be written, halves of surrogate pairs as JSON has them."""
    return SURROGATE.sub(lambda half: f"\\u{ord(half.group()):04x}", text)


def _wrong_type(expected: str, value: object, place: Place) -> DocumentError:
    words = f"expected {expected}, found {described(value)}"
    return DocumentError(ErrorCode.WRONG_TYPE, words, place)
