"""Parse a line as one JSON document, or say why it is none.

The standard library parses. Refused beyond that: a key that occurs twice in an object (two programs
would read two different values), NaN and Infinity (not JSON), text that is not UTF-8, nesting that
is too deep. Offsets count bytes of the line.

Members of a large group repeat the same topics and partition numbers. What is equal becomes one
object while the line is parsed: 2,000 members of a million partitions take 85 MB, not 350.
"""

from __future__ import annotations

import codecs
import json
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Never

from assignors.documents.values import (
    Document,
    DocumentError,
    ErrorCode,
    Place,
    are_pairs,
)

SHARED_FROM = 100_000
"""Bytes of a line from which on equal values become one object: in shorter ones it saves nothing
that matters, and takes half as long again as parsing."""


UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""What text begins with that Windows PowerShell has written with `>`."""


def not_utf8(error: UnicodeDecodeError) -> DocumentError:
    """Return what is said of bytes that are no UTF-8.

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
    seen = _Seen() if len(line) >= SHARED_FROM else None
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(error) from None
    repeating: list[_Repeating] = []

    def collect(pairs: list[tuple[str, object]]) -> Document:
        found = dict(pairs)
        if len(found) == len(pairs):
            if seen is not None:
                seen.share(found)
            return found
        repeating.append(_Repeating(found))
        repeating[-1].key = _first_repeated(pairs)
        return repeating[-1]

    try:
        found = json.loads(text, object_pairs_hook=collect, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        offset = len(text[: error.pos].encode())
        raise DocumentError(ErrorCode.BAD_JSON, error.msg, offset=offset) from None
    except _NoNumberError as error:
        words = f"{error} is no JSON number"
        raise DocumentError(
            ErrorCode.BAD_JSON, words, offset=line.find(str(error).encode())
        ) from None
    except RecursionError:
        raise DocumentError(ErrorCode.BAD_JSON, "nested too deeply", offset=0) from None
    except ValueError as error:  # the limit on digits of an integer
        raise DocumentError(ErrorCode.BAD_JSON, str(error), offset=0) from None
    if repeating:
        text = f"key {repeating[0].key!r} occurs twice"
        raise DocumentError(ErrorCode.REPEATED, text, _place_of(repeating[0], found))
    return found


@dataclass(slots=True)
class _Seen:
    """What a line has had so far: an equal value that comes later is replaced by it."""

    topics: list[str] = field(default_factory=list)
    """The latest list of topics."""
    names: dict[str, str] = field(default_factory=dict)
    numbers: dict[tuple[int, ...], list[int]] = field(default_factory=dict)

    def share(self, member: Document) -> None:
        """Replace the topics and the owned partitions of a member by equal ones, where it can.

        Only strings and integers are: `1 == True == 1.0` are three values in JSON.
        """
        topics = member.get("topics")
        if isinstance(topics, list):
            if topics == self.topics:
                member["topics"] = self.topics
            elif set(map(type, topics)) == {str}:
                self.topics = topics
        owned = member.get("owned")
        if isinstance(owned, list) and are_pairs(owned):
            member["owned"] = self._shared_pairs(owned)

    def _shared_pairs(self, pairs: list[list[Any]]) -> list[list[Any]]:
        names, listed = zip(*pairs, strict=True)
        if not (set(map(type, names)) == {str} and set(map(type, listed)) == {list}):
            return pairs
        if set(map(type, chain.from_iterable(listed))) != {int}:
            return pairs
        shared_names = map(self.names.setdefault, names, names)
        shared_lists = map(self.numbers.setdefault, map(tuple, listed), listed)
        return [*map(list, zip(shared_names, shared_lists, strict=True))]


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
