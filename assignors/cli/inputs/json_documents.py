"""Find the JSON documents in lines: one a line, one over several lines, or several in an array.

A line that begins with `{` and ends with `}` is a document. Any other line that begins one is
joined with the lines after it, twice as many each time, until `JSONDecoder.raw_decode` finds where
the document ends, or a mistake in it. Cost: O(bytes).
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count, islice

from assignors.cli.inputs.lines import Line

DECODER = json.JSONDecoder()
SPACE = re.compile(r"\s*")
OPENING = {b"{", b"["}


def documents(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield each document with the number of its first line; other lines as they are.

    The objects of an array come one by one. Memory: one document, or one array.

    >>> [found.number for found in documents([Line(b"{", 1), Line(b"}", 2), Line(b"{}", 3)])]
    [1, 3]
    """
    source = iter(lines)
    ahead: deque[Line] = deque()

    def following(count: int) -> list[Line]:
        more = [ahead.popleft() for _ in range(min(count, len(ahead)))]
        return more or list(islice(source, count))

    while found := following(1):
        bare = found[0].text.strip()
        if bare[:1] not in OPENING or (bare[:1] == b"{" and bare[-1:] == b"}"):
            yield from found
            continue
        size = _line_count(found)
        while size is None and (more := following(len(found))):
            found += more
            size = _line_count(found)
        size = size or _line_count_of_mistake(found, following)
        ahead.extendleft(reversed(found[size:]))
        yield from _elements(replace(found[0], text=_joined(found[:size])))


def _joined(lines: Sequence[Line]) -> bytes:
    return b"\n".join(line.text for line in lines)


def _line_count(lines: Sequence[Line]) -> int | None:
    """Return how many lines the document at their start has.

    `None` where it goes on, 0 where there is a mistake in it.
    """
    text = _joined(lines).decode(errors="replace")
    try:
        _, end = DECODER.raw_decode(text, _after_space(text, 0))
    except json.JSONDecodeError as error:
        return None if error.pos >= len(text.rstrip()) else 0
    except (ValueError, RecursionError):
        return 1
    is_whole = not text[end:].partition("\n")[0].strip()
    return text.count("\n", 0, end) + 1 if is_whole else 1


def _line_count_of_mistake(lines: list[Line], following: Callable[[int], list[Line]]) -> int:
    """Return how many lines a document with a mistake has: up to a line of its last bracket.

    One where a document of one line follows: the first was cut off. `lines` get those read ahead.
    """
    for number in count(1):
        if number == len(lines):
            lines += following(1)
        if number == len(lines):
            return number
        text = lines[number].text.rstrip()
        if text[:1] == b"{" and text[-1:] == b"}":
            return 1
        if text in {b"}", b"]"}:
            return number + 1
    raise AssertionError("the lines do not end")


def _elements(line: Line) -> Iterator[Line]:
    """Yield the objects of an array, each with its own line; anything else as it is."""
    found: list[Line] = []
    try:
        text = line.text.decode()
        place, number, counted = _after_space(text, 0), line.number, 0
        while text[place] in {"[", ","}:
            begin = _after_space(text, place + 1)
            value, end = DECODER.raw_decode(text, begin)
            if not isinstance(value, dict):
                break
            number, counted = number + text.count("\n", counted, begin), begin
            found.append(replace(line, text=text[begin:end].encode(), number=number))
            place = _after_space(text, end)
        is_array = bool(found) and text[place:].rstrip() == "]"
    except (ValueError, IndexError, RecursionError):
        is_array = False
    yield from found if is_array else [line]


def _after_space(text: str, place: int) -> int:
    found = SPACE.match(text, place)
    assert found is not None
    return found.end()
