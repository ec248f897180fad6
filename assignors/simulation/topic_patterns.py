"""Subscriptions by pattern: which patterns a broker takes, and which names of topics they match.

Brokers match with RE2/J, Java clients with `java.util.regex`. What RE2 lacks is refused, so that a
pattern that is accepted means the same to both.

RE2 takes time linear in the name, while Python's `re` tries one alternative after the other:
`(a+)+-` keeps it busy for hours. So all alternatives are followed at once, as the set of places in
the name that a match can have reached. `re` says which patterns are well-formed, and which letters
a class such as `[^a-z]` has.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from functools import lru_cache

NOT_IN_RE2 = re.compile(r"\\[1-9Z]|\(\?(?![:P])|\(\?P[=>]|[*+?}]\+")
"""Look-around, references back, conditions, possessive quantifiers, the end before a line feed."""
REPEATED = re.compile(r"\{(\d*),?(\d*)\}")
REPEATED_MAX = 1000
"""RE2's limit."""
TOKEN = re.compile(
    r"""\((?:\?:|\?P<\w+>)?                       # the start of a group
    | [*+?]\?? | \{(?:\d*,\d*|\d+)\}\??         # how often
    | \[\^?\]?(?:\\.|[^\]\\])*\]               # a class
    | \\(?:x..|u.{4}|U.{8}|N\{[^}]*\}|0[0-7]{0,2}|.)
    | .""",
    re.DOTALL | re.VERBOSE,
)

Follow = Callable[[str, set[int]], set[int]]
"""From a name, and how many of its letters are behind, to how many can be behind afterwards."""


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
    follow = _followed(pattern)
    return tuple(sorted(name for name in names if len(name) in follow(name, {0})))


def _is_too_often(digits: str) -> bool:
    return len(digits) > len(str(REPEATED_MAX)) or int(digits or 0) > REPEATED_MAX


@lru_cache(maxsize=64)
def _followed(pattern: str) -> Follow:
    """Return what follows a pattern that `re` can read."""
    tokens = TOKEN.findall(pattern)[::-1]
    follow = _alternatives(tokens)
    assert not tokens, f"{pattern!r}: a parenthesis that `re` does not refuse"
    return follow


def _alternatives(tokens: list[str]) -> Follow:
    """Return what follows the alternatives up to the end of a group; `tokens` are in reverse."""
    branches = [_sequence(tokens)]
    while tokens and tokens[-1] == "|":
        tokens.pop()
        branches.append(_sequence(tokens))
    return lambda name, places: set().union(*(branch(name, places) for branch in branches))


def _sequence(tokens: list[str]) -> Follow:
    steps: list[Follow] = []
    while tokens and tokens[-1] not in {"|", ")"}:
        token = tokens.pop()
        if token[0] == "(":
            steps.append(_alternatives(tokens))
            tokens.pop()
        elif token in _IS_AT:
            steps.append(_place(_IS_AT[token]))
        elif steps and (times := _times(token)) is not None:
            steps.append(_repeated(steps.pop(), *times))
        else:
            steps.append(_letter(re.compile(token)))

    def follow(name: str, places: set[int]) -> set[int]:
        for step in steps:
            places = step(name, places)
        return places

    return follow


def _times(token: str) -> tuple[int, int | None] | None:
    """Return how often a quantifier repeats, at least and at most; `None` for another token."""
    if token[0] in "*+?":
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[token[0]]
    if len(token) < 3 or token[0] != "{":
        return None
    least, comma, most = token.rstrip("?")[1:-1].partition(",")
    return int(least or 0), int(most) if most else (None if comma else int(least))


def _letter(kind: re.Pattern[str]) -> Follow:
    return lambda name, places: {
        place + 1 for place in places if place < len(name) and kind.fullmatch(name[place])
    }


def _place(is_at: Callable[[str, int], bool]) -> Follow:
    return lambda name, places: {place for place in places if is_at(name, place)}


def _repeated(step: Follow, least: int, most: int | None) -> Follow:
    """Return what follows `least` to `most` times a step."""

    def follow(name: str, places: set[int]) -> set[int]:
        now = places
        for _ in range(least):
            before, now = now, step(name, now)
            if now == before:
                break
        found, new = set(now), now
        for _ in range(len(name) if most is None else min(most - least, len(name))):
            new = step(name, new) - found
            if not new:
                break
            found |= new
        return found

    return follow


def _is_boundary(name: str, place: int) -> bool:
    around = [False, *(letter.isalnum() or letter == "_" for letter in name), False]
    return around[place] is not around[place + 1]


_IS_AT: dict[str, Callable[[str, int], bool]] = {
    "^": lambda _, place: place == 0,
    r"\A": lambda _, place: place == 0,
    "$": lambda name, place: name[place:] in ("", "\n"),
    r"\b": _is_boundary,
    r"\B": lambda name, place: not _is_boundary(name, place),
}
