"""Find the JSON documents in lines: one a line, one over several lines, or several in an array.

One document a line is the rule, and costs a look at two bytes. A line that begins a document and
does not end it is read together with the lines that follow, up to the one that closes it: so what
`jq .` or an editor wrote is read too. Whether the lines can still become a document is asked after
1, 2, 4, 8, ... of them, so a line that was cut off in a file of one document a line is found
out after a few lines, and each of those is then answered alone.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from assignors.cli.inputs.lines import Line

TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]')
"""A string, which may contain brackets, or a bracket."""

OPENING, CLOSING = b"{[", b"}]"


def documents(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield each document with the number of its first line; what is none as its line.

    The objects of an array come one by one. Memory: one document, or one array. Cost: O(bytes),
    and one more parse of what stands over several lines.

    >>> [found.number for found in documents([Line(b"{", 1), Line(b"}", 2), Line(b"{}", 3)])]
    [1, 3]
    """
    source = iter(lines)
    again: deque[Line] = deque()

    def following() -> Line | None:
        return again.popleft() if again else next(source, None)

    while (line := following()) is not None:
        if not _goes_on(line.text):
            yield from _elements(line)
            continue
        taken, left = _taken(line, following)
        again.extendleft(reversed(left))
        yield from _elements(taken)


def _goes_on(text: bytes) -> bool:
    """Return whether a line begins a document without ending it."""
    bare = text.strip()
    if not bare or bare[0] not in OPENING:
        return False
    if bare[-1] in CLOSING and bare[0] != OPENING[1]:
        return False
    return _depth(bare) > 0


def _taken(first: Line, following: Callable[[], Line | None]) -> tuple[Line, list[Line]]:
    """Return the document that begins in `first`, and the lines that are not part of it.

    Where none begins there it is `first` alone. One that is not closed, or is no JSON, is taken up
    to where it is closed or something else begins: one mistake is one error.
    """
    parts, depth, asked_at, is_sound = [first], _depth(first.text), 1, True
    while True:
        if is_sound and len(parts) == asked_at:
            is_sound, asked_at = _is_beginning(_joined(parts)), asked_at * 2
        if not is_sound and (len(parts) == 1 or any(map(_is_whole, parts[1:]))):
            return first, parts[1:]
        line = following()
        if line is None or line.file != first.file:
            rest = [] if line is None else [line]
            if any(map(_is_whole, parts[1:])):
                return first, parts[1:] + rest
            return replace(first, text=_joined(parts)), rest
        parts.append(line)
        depth += _depth(line.text)
        if depth <= 0:
            whole = replace(first, text=_joined(parts))
            if _parsed(whole.text) is None and any(map(_is_whole, parts[1:])):
                return first, parts[1:]
            return whole, []


def _joined(parts: Iterable[Line]) -> bytes:
    return b"\n".join(part.text for part in parts)


def _is_beginning(text: bytes) -> bool:
    """Return whether more lines can make a document of this: it is right up to its end."""
    try:
        decoded = text.decode()
        json.loads(decoded)
    except json.JSONDecodeError as error:
        return error.pos >= len(decoded.rstrip())
    except (ValueError, RecursionError):
        return False
    return True


def _is_whole(line: Line) -> bool:
    """Return whether a line is an object by itself, as in a file of one document a line."""
    bare = line.text.strip()
    return bare[:1] == b"{" and bare[-1:] == b"}" and isinstance(_parsed(bare), dict)


def _parsed(text: bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _depth(text: bytes) -> int:
    """Return how many more brackets a text opens than it closes."""
    tokens = [token for token in TOKEN.findall(text) if len(token) == 1]
    return sum(1 if token in OPENING else -1 for token in tokens)


def _elements(line: Line) -> Iterator[Line]:
    """Yield the objects of an array, each with its own line; anything else as it is."""
    text = line.text
    if text.lstrip()[:1] != b"[":
        yield line
        return
    found = _parsed(text)
    if not isinstance(found, list) or not found or not all(isinstance(e, dict) for e in found):
        yield line
        return
    depth = begin = 0
    number, counted = line.number, 0
    for token in TOKEN.finditer(text):
        if token[0] in (b"{", b"["):
            depth += 1
            if depth == 2:
                begin = token.start()
        elif len(token[0]) == 1:
            depth -= 1
            if depth == 1:
                number += text.count(b"\n", counted, begin)
                counted = begin
                yield replace(line, text=text[begin : token.end()], number=number)
