"""Parse a line as one JSON document, or say why it is none.

The standard library parses. Refused beyond that: a key that occurs twice in an object (two programs
would read two different values), NaN and Infinity (not JSON), text that is not UTF-8, nesting that
is too deep. Offsets count bytes of the line.
"""

from __future__ import annotations

import codecs
import json
from typing import Never

from assignors.documents.values import Document, DocumentError, ErrorCode, Place

UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""The first bytes of text that Windows PowerShell has written with `>`."""


def not_utf8(error: UnicodeDecodeError) -> DocumentError:
    """Return the error of bytes that are not UTF-8.

    >>> str(not_utf8(UnicodeDecodeError("utf-8", bytes([255, 254]), 0, 1, "invalid start byte")))
    'this is UTF-16, as PowerShell writes it: save it as UTF-8 at byte 0'
    """
    data = error.object
    words = f"{error.reason}: 0x{data[error.start]:02x}"
    if data.startswith(UTF_16):
        words = "this is UTF-16, as PowerShell writes it: save it as UTF-8"
    return DocumentError(ErrorCode.BAD_UTF8, words, offset=error.start)


def parse_json(line: bytes) -> object:
    """Return the document in `line`; raises `DocumentError` if there is none.

    >>> parse_json(b'{"t": [1, 2')
    Traceback (most recent call last):
    assignors.documents.values.DocumentError: Expecting ',' delimiter at byte 11
    """
    repeating: list[_Repeating] = []

    def collect(pairs: list[tuple[str, object]]) -> Document:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        repeating.append(_Repeating(found))
        repeating[-1].key = _first_repeated(pairs)
        return repeating[-1]

    try:
        text = line.decode()
        found = json.loads(text, object_pairs_hook=collect, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise not_utf8(error) from None
    except json.JSONDecodeError as error:
        offset = len(text[: error.pos].encode())
        raise DocumentError(ErrorCode.BAD_JSON, error.msg, offset=offset) from None
    except _NoNumberError as error:
        words, offset = f"{error} is no JSON number", line.find(str(error).encode())
        raise DocumentError(ErrorCode.BAD_JSON, words, offset=offset) from None
    except RecursionError:
        raise DocumentError(ErrorCode.BAD_JSON, "nested too deeply", offset=0) from None
    except ValueError as error:  # the limit on digits of an integer
        raise DocumentError(ErrorCode.BAD_JSON, str(error), offset=0) from None
    if repeating:
        words = f"key {repeating[0].key!r} occurs twice"
        raise DocumentError(ErrorCode.REPEATED, words, _place_of(repeating[0], found))
    return found


class _NoNumberError(Exception):
    """The parser met NaN or Infinity."""


class _Repeating(dict[str, object]):
    """An object in which a key occurs more than once."""

    key = ""


def _no_number(name: str) -> Never:
    raise _NoNumberError(name)


def _first_repeated(pairs: list[tuple[str, object]]) -> str:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            return key
        seen.add(key)
    raise AssertionError("no key occurs twice")


def _place_of(wanted: _Repeating, document: object) -> Place:
    """Return the place of the repeated key; the whole document if a later key replaced it."""
    waiting: list[tuple[object, Place]] = [(document, ())]
    while waiting:
        value, place = waiting.pop()
        if value is wanted:
            return (*place, wanted.key)
        if isinstance(value, dict):
            waiting += [(entry, (*place, key)) for key, entry in value.items()]
        elif isinstance(value, list):
            waiting += [(entry, (*place, position)) for position, entry in enumerate(value)]
    return ()
