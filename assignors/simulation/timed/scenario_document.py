"""A timed scenario as JSON: read with the path of whatever is wrong, and written in full.

    {"version": 1, "until_ms": 60000, "topics": {"orders": 12},
     "members": [{"name": "c", "count": 3, "topics": ["orders"]}],
     "plan": [{"at_ms": 30000, "do": "crash", "member": "c1"}]}

What is left out has the default of `scenario`. A member with a `count` stands for so many, named
`c0`, `c1`, ... (or from `numbered_from` on), which start `starts_every_ms` one after the other;
their instance ids are numbered likewise. An entry of the plan may stand for several actions, as
`rolling_restart` does.

A document is data, so no name in it imports anything by itself: an assignor of one's own
(`package.module:object`) is taken only where the caller allows that name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from hashlib import sha256
from json import dumps

from assignors.documents.keys import brief, read
from assignors.documents.values import (
    Document,
    DocumentError,
    ErrorCode,
    Place,
    as_int32,
    as_list,
    as_object,
    required,
)
from assignors.own_assignors.importing import is_import_path
from assignors.simulation.timed.possible import require_possible, require_read
from assignors.simulation.timed.scenario import VERSION, Scenario
from assignors.simulation.timed.scenario.members import MEMBERS
from assignors.simulation.timed.scenario.plan import PLAN, expanded
from assignors.simulation.timed.scenario.whole import everybody


def scenario_from_document(
    document: object,
    *,
    own_assignors: Collection[str] = (),
    protocols: Collection[str] = (),
    models: Collection[str] = (),
) -> Scenario:
    """Return the scenario that a document describes. Cost: O(its size).

    `own_assignors` are those outside the registry that it may name; they are imported. `protocols`
    are those under which it will be played too, `models` execution models of the coordinator.

    Raises `DocumentError`, with the path, for what is no scenario, and for one that cannot happen:
    no members, two of one name, a session shorter than the time between two heartbeats, an
    assignor that there is not or that may not be imported, an action for a member or topic that is
    not there, a field that neither its own protocols nor `protocols` read.

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
    scenario = read(Scenario, {key: one for key, one in given.items() if key != "version"})
    try:
        for name, place in _own(scenario):
            require_allowed(name, own_assignors, place)
        require_read(scenario, protocols, models)
        require_possible(scenario)
    except DocumentError as error:
        place = _in_document(error.place, given)
        raise DocumentError(error.kind, error.text, place) from None
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
    return {"version": VERSION, **brief(scenario)}


def scenario_hash(scenario: Scenario) -> str:
    """Return what identifies a scenario: the first 16 digits of SHA-256 over its brief document.

    A field that a later version brings does not change it where it has its default.
    """
    text = dumps(brief_document(scenario), sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:16]


def _in_document(place: Place, given: Mapping[str, object]) -> Place:
    """Return a place in a scenario as the place in its document, whose entries may be several."""
    if len(place) < 2 or place[0] not in {"members", "plan"}:
        return place
    entries: list[int] = []
    members = MEMBERS.read(given["members"], ("members",))
    if place[0] == "plan":
        *_, entries = expanded(members, PLAN.read(given["plan"], ("plan",)))
    else:
        for number, one in enumerate(as_list(given["members"], ("members",))):
            count = as_object(one, ()).get("count")
            entries += [number] * (1 if count is None else as_int32(count, ()))
    at = place[1]
    assert isinstance(at, int)
    return (place[0], entries[at] if at < len(entries) else at, *place[2:])
