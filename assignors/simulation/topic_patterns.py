"""Subscriptions by pattern: which patterns a broker takes, and which names of topics they match.

Brokers match with RE2/J, Java clients with `java.util.regex`. What RE2 lacks is refused, so that a
pattern that is accepted means the same to both.

RE2 takes time linear in the name, while Python's `re` tries one way after the other: `(a+)+-`
keeps it busy for hours. So the pattern is followed here for all ways at once, as a set of places
in the name that it can have come to. A repetition ends where it comes to no new ones, which is
after as many times as the name has letters.

The pattern is read by the parser of `re` itself, which is private. One of our own would be larger
than all of this, and could take a pattern for another one than `re.compile`, which decides what is
accepted; tests compare what both match, so a Python whose parser has changed fails them.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from re import _constants as op  # type: ignore[attr-defined] # the parser's own names
from re import _parser  # type: ignore[attr-defined] # there is no public one
from typing import Any

NOT_IN_RE2 = re.compile(r"\\[1-9Z]|\(\?(?![:P])|\(\?P[=>]|[*+?}]\+")
"""Look-around, references back, conditions, possessive quantifiers, the end before a line feed."""
REPEATED = re.compile(r"\{(\d*),?(\d*)\}")
REPEATED_MAX = 1000
"""RE2's limit."""

Node = tuple[Any, Any]
"""What stands at a place of a pattern, as the parser of `re` names it, and its arguments."""
Places = Collection[int]
"""How many letters of the name are behind."""


def require_pattern(pattern: str) -> None:
    """Raise `re.error` for a pattern that is malformed, or that RE2 would refuse.

    So for what means something else to one of the three, as `[[:alpha:]]` does, and for nesting
    that is too deep for Python.
    """
    if NOT_IN_RE2.search(pattern):
        raise re.error(f"RE2 has nothing like a part of {pattern!r}")
    if any(_is_too_often(each) for both in REPEATED.findall(pattern) for each in both):
        raise re.error(f"RE2 repeats up to {REPEATED_MAX} times")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            re.compile(pattern)
    except FutureWarning as warning:
        raise re.error(str(warning)) from None
    except RecursionError:
        raise re.error("it is nested too deeply") from None


def matching(pattern: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that a pattern matches as a whole, sorted.

    The pattern is one that `require_pattern` takes. Cost: for each name O(length of the pattern)
    steps for each of its letters, times its letters once more for each repetition in another one.

    >>> matching("orders-.*", ["returns", "orders-eu", "old-orders-eu"])
    ('orders-eu',)
    >>> matching("(a+)+-", ["a" * 200, "aa-"])
    ('aa-',)
    """
    nodes = _parser.parse(pattern)
    return tuple(sorted(name for name in names if len(name) in _after(nodes, name, {0})))


def _is_too_often(digits: str) -> bool:
    return len(digits) > len(str(REPEATED_MAX)) or int(digits or 0) > REPEATED_MAX


def _after(nodes: Sequence[Node], name: str, places: Places) -> Places:
    """Return where one can be behind these nodes, who was at one of these places before them."""
    for code, given in nodes:
        if not places:
            break
        if code is op.SUBPATTERN:
            places = _after(given[-1], name, places)
        elif code is op.BRANCH:
            places = set().union(*[_after(branch, name, places) for branch in given[1]])
        elif code in (op.MAX_REPEAT, op.MIN_REPEAT):
            places = _repeated(given, name, places)
        elif code is op.AT:
            places = [place for place in places if _IS_AT[given](name, place)]
        else:
            ends = len(name)
            places = [p + 1 for p in places if p < ends and _is_letter(code, given, name[p])]
    return places


def _repeated(given: tuple[int, int, Sequence[Node]], name: str, places: Places) -> Places:
    """Return where one can be behind `least` to `most` times these nodes."""
    least, most, nodes = given
    now = set(places)
    for _ in range(least):
        before, now = now, set(_after(nodes, name, now))
        if now == before:
            break
    found, new = set(now), now
    for _ in range(min(most - least, len(name))):
        new = {*_after(nodes, name, new)} - found
        if not new:
            break
        found |= new
    return found


def _is_letter(code: Any, given: Any, letter: str) -> bool:  # noqa: ANN401 - see `Node`
    """Return whether a letter is one of those that stand at a place of the pattern."""
    if code is op.ANY:
        return letter != "\n"
    if code is op.LITERAL:
        return letter == chr(given)
    if code is op.NOT_LITERAL:
        return letter != chr(given)
    if code is op.RANGE:
        return bool(given[0] <= ord(letter) <= given[1])
    if code is op.CATEGORY:
        return bool(_IS_OF[given](letter))
    assert code is op.IN, f"{code}: the patterns that are taken have none"
    is_other = given[0][0] is op.NEGATE
    return is_other is not any(_is_letter(kind, each, letter) for kind, each in given[is_other:])


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _is_boundary(name: str, place: int) -> bool:
    before = place > 0 and _is_word(name[place - 1])
    return before is not (place < len(name) and _is_word(name[place]))


_IS_OF: dict[Any, Callable[[str], bool]] = {
    op.CATEGORY_DIGIT: str.isdecimal,
    op.CATEGORY_NOT_DIGIT: lambda letter: not letter.isdecimal(),
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_NOT_SPACE: lambda letter: not letter.isspace(),
    op.CATEGORY_WORD: _is_word,
    op.CATEGORY_NOT_WORD: lambda letter: not _is_word(letter),
}

_IS_AT: dict[Any, Callable[[str, int], bool]] = {
    op.AT_BEGINNING: lambda _, place: place == 0,
    op.AT_BEGINNING_STRING: lambda _, place: place == 0,
    op.AT_END: lambda name, place: name[place:] in ("", "\n"),
    op.AT_BOUNDARY: _is_boundary,
    op.AT_NON_BOUNDARY: lambda name, place: not _is_boundary(name, place),
}
