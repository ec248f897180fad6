"""Documents with something wrong: a scenario's, changed in one place or in several."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from assignors.simulation.timed.explore.random_scenarios import Document, Place

NUMBERS = (-1, 0, 1, 7, 2**31 - 1, 2**31, 2**63, -(10**30), 10**400, 0.0, 1.5, 1e308)
NOT_FINITE = (float("nan"), float("inf"))
TEXTS = ("", "c0", "t", "é", "\ud800", "classic", "consumer", "push", "t" * 40_000)
PATTERNS = ("(", "*", "t{9999999999}", "(" * 20_000, "[[:alpha:]]", "t(?!x)", r"\p{L}", r"t\Z")
LISTS: tuple[list[Any], ...] = ([], [[]], ["t"], ["t", "t"], [None], [0], [-1])
OBJECTS: tuple[Document, ...] = ({}, {"t": 1}, {"t": -1}, {"t": [0, 0]}, {"\ud800": []}, {"": 0})
ODD = (None, True, False, *NUMBERS, *NOT_FINITE, *TEXTS, *PATTERNS, *LISTS, *OBJECTS)


@st.composite
def mutated(draw: st.DrawFn, document: Document) -> Document:
    """The document with one value or up to three as they may not be, or missing, or too many."""
    changed = deepcopy(document)
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        # Values that stand as deep as others are drawn as often: most are of members.
        found = [place for place in _places(changed) if place]
        depth = draw(st.sampled_from(sorted({len(place) for place in found})))
        *way, last = draw(st.sampled_from([place for place in found if len(place) == depth]))
        part: Any = changed
        key: Any = last
        for step in way:
            part = part[step]
        match draw(st.sampled_from(["another", "another", "another", "missing", "unknown"])):
            case "another":
                part[key] = draw(st.sampled_from(ODD))
            case "missing" if len(changed) > 1:
                del part[key]
            case "unknown" if isinstance(part, dict):
                part[f"{key}s"] = part[key]
            case _ if isinstance(part, list):
                part.append(part[key])
    return deepcopy(changed)


def _places(value: object, place: Place = ()) -> Iterator[Place]:
    yield place
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(each, (*place, key))
