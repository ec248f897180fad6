"""A timed scenario as JSON: read with the path of whatever is wrong, and written in full.

    {"version": 1, "until_ms": 60000, "topics": {"orders": 12},
     "members": [{"name": "c", "count": 3, "topics": ["orders"]}],
     "plan": [{"at_ms": 30000, "do": "crash", "member": "c1"}]}

What is left out has the default of `scenario`. A member with a `count` stands for so many, named
`c0`, `c1`, ... (or from `numbered_from` on), which start `starts_every_ms` one after the other;
their instance ids are numbered likewise. Verbs of a plan, as `rolling_restart`, become actions.

A document is data, so no name in it imports anything by itself: an assignor of one's own
(`package.module:object`) is taken only where the caller allows that name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import MISSING, Field, asdict, fields, is_dataclass
from hashlib import sha256
from json import dumps
from typing import Any

from assignors.documents.values import (
    Document,
    DocumentError,
    ErrorCode,
    Place,
    as_int32,
    as_object,
    required,
)
from assignors.own_assignors.importing import is_import_path
from assignors.simulation.timed.scenario import VERSION, Scenario
from assignors.simulation.timed.scenario.plan import expanded
from assignors.simulation.timed.scenario.possible import require_possible
from assignors.simulation.timed.scenario.reading import read_fields
from assignors.simulation.timed.scenario.whole import READERS, everybody


def scenario_from_document(document: object, *, own_assignors: Collection[str] = ()) -> Scenario:
    """Return the scenario that a document describes. Cost: O(its size).

    `own_assignors` are those outside the registry that it may name; they are imported.

    Raises `DocumentError`, with the path, for what is no scenario, and for one that cannot happen:
    no members, two of one name, a session shorter than the time between two heartbeats, an
    assignor that there is not or that may not be imported, an action for a member or topic that is
    not there.

    >>> scenario_from_document({"version": 1, "until_ms": 1, "topics": {}, "members": []})
    Traceback (most recent call last):
    assignors.documents.values.DocumentError: a group needs a member at members
    """
    given = as_object(document, ())
    version = as_int32(required(given, "version", ()), ("version",))
    if version != VERSION:
        raise DocumentError(
            ErrorCode.OUT_OF_RANGE, f"version {version} is not {VERSION}", ("version",)
        )
    named = {key: value for key, value in given.items() if key != "version"}
    read = {
        "until_ms": 0,
        "topics": {},
        "members": (),
        "plan": (),
        **read_fields(named, READERS, ()),
    }
    read["members"], read["plan"] = expanded(read["members"], read["plan"])
    scenario = Scenario(**read)
    for key in ("until_ms", "topics", "members"):
        required(given, key, ())
    for name, place in _own(scenario):
        require_allowed(name, own_assignors, place)
    require_possible(scenario)
    return scenario


def own_assignors_of(scenario: Scenario) -> frozenset[str]:
    """Return the assignors outside the registry that members list. Cost: O(members)."""
    return frozenset(name for name, _ in _own(scenario))


def require_allowed(name: str, own_assignors: Collection[str], place: Place) -> None:
    """Raise `DocumentError` for an assignor that would be imported and is not allowed."""
    if is_import_path(name) and name not in own_assignors:
        words = (
            f"{name!r} is not imported, as scenarios are data; if you trust it, allow it with"
            f" own_assignors (--own-assignor {name})"
        )
        raise DocumentError(ErrorCode.UNKNOWN, words, place)


def _own(scenario: Scenario) -> Iterator[tuple[str, Place]]:
    for place, member in everybody(scenario):
        for position, name in enumerate(member.assignors):
            if is_import_path(name):
                yield name, (*place, "assignors", position)


def document_from_scenario(scenario: Scenario) -> Document:
    """Return the document of a scenario, every field written out: reading it gives the scenario.

    Cost: O(its size).
    """
    return {"version": VERSION, **asdict(scenario)}


def brief_document(scenario: Scenario) -> Document:
    """Return the document of a scenario without the fields that have their defaults.

    Reading it gives the scenario. Cost: O(its size).
    """
    return {"version": VERSION, **_brief(scenario)}


def scenario_hash(scenario: Scenario) -> str:
    """Return what identifies a scenario: the first 16 digits of SHA-256 over its brief document.

    A field that a later version brings does not change it where it has its default.
    """
    text = dumps(brief_document(scenario), sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:16]


def _brief(settings: Any) -> dict[str, Any]:  # noqa: ANN401 - a dataclass
    return {
        each.name: _written(value)
        for each in fields(settings)
        if (value := getattr(settings, each.name)) != _default(each)
    }


def _default(one: Field[Any]) -> object:
    """Return the default of a field; `MISSING` of one that must be given."""
    return one.default if one.default_factory is MISSING else one.default_factory()


def _written(value: Any) -> Any:  # noqa: ANN401 - a field of any type
    if is_dataclass(value):
        return _brief(value)
    if isinstance(value, tuple):
        return [_written(each) for each in value]
    return value
