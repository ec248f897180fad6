"""A scenario as JSON: read with the path of whatever is wrong.

    {"version": 1, "until_s": 14400, "topics": {"orders": 24},
     "members": [{"name": "c", "count": 3, "capacity": 2}], "rates": {"distribution": "zipf"},
     "plan": [{"at_s": 3600, "do": "leave", "member": "c1"}]}

What is left out, or null, has the default of `scenario`. A member with a `count` stands for so
many, named `c0`, `c1`, ...
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from assignors.documents.keys import read
from assignors.documents.values import (
    Document,
    DocumentError,
    ErrorCode,
    Place,
    as_int32,
    as_object,
    required,
)
from assignors.names.nearest import suggestion
from assignors.simulation.timed.scenario.kinds import require_members
from assignors.simulation.traffic.scenario import TrafficScenario, Verb

VERSION = 1
STEPS_MAX = 10_000_000


def traffic_from_document(document: object) -> TrafficScenario:
    """Return the scenario that a document describes. Cost: O(its size).

    Raises `DocumentError`, with the path, for what is no scenario, and for one that cannot happen:
    two members of one name, a member that leaves and is not there, a trigger below the tolerance.

    >>> traffic_from_document({"version": 1, "members": []})
    Traceback (most recent call last):
    assignors.documents.values.DocumentError: a group needs a member at members
    """
    given = as_object(document, ())
    version = as_int32(required(given, "version", ()), ("version",))
    if version != VERSION:
        words = f"version {version} is not {VERSION}"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("version",))
    named = {key: value for key, value in given.items() if key != "version"}
    scenario = read(TrafficScenario, named)
    require_possible(scenario)
    return scenario


def document_from_traffic(scenario: TrafficScenario) -> Document:
    """Return the document of a scenario, every field written out: reading it gives the scenario.

    Cost: O(its size).
    """
    return {"version": VERSION, **asdict(scenario)}


def require_possible(scenario: TrafficScenario) -> None:
    """Raise `DocumentError` where there cannot be such a run. Cost: O(its size)."""
    _require_members(scenario)
    _require_actions(scenario)
    _require_numbers(scenario)


def _require_members(scenario: TrafficScenario) -> None:
    require_members([member.name for member in scenario.members])
    for number, member in enumerate(scenario.members):
        for at, topic in enumerate(member.topics):
            _require_known(topic, scenario.topics, "topic", ("members", number, "topics", at))


def _require_actions(scenario: TrafficScenario) -> None:
    there = {member.name for member in scenario.at_start}
    names = {member.name for member in scenario.members}
    in_order = sorted(enumerate(scenario.plan), key=lambda one: one[1].at_s)
    for number, action in in_order:
        place = ("plan", number)
        if action.do is Verb.RATE:
            _require_known(action.topic, scenario.topics, "topic", (*place, "topic"))
            continue
        _require_known(action.member, names, "member", (*place, "member"))
        name = action.member or ""
        if (name in there) is (action.do is Verb.JOIN):
            words = f"{name!r} is {'already' if name in there else 'not'} in the group then"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "member"))
        there ^= {name}


def _require_known(name: str | None, known: Iterable[str], kind: str, place: Place) -> None:
    if name is None:
        raise DocumentError(ErrorCode.MISSING, f"which {kind}?", place)
    if name not in known:
        words = f"no {kind} {name!r}{suggestion(name, known)}"
        raise DocumentError(ErrorCode.UNKNOWN, words, place)


def _require_numbers(scenario: TrafficScenario) -> None:
    leader = scenario.leader
    if leader.trigger < leader.tolerance:
        words = f"{leader.trigger:g} is below the tolerance, {leader.tolerance:g}"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("leader", "trigger"))
    if scenario.count_from_s >= scenario.until_s:
        words = f"{scenario.count_from_s} is not before the end, {scenario.until_s}"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("count_from_s",))
    if scenario.tick_count > STEPS_MAX:
        words = f"{scenario.tick_count} steps of {scenario.tick_s} s; {STEPS_MAX} are possible"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("until_s",))
