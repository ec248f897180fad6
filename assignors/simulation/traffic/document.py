"""A scenario as JSON: read with the path of whatever is wrong.

    {"version": 1, "until_s": 14400, "topics": {"orders": 24},
     "members": [{"name": "c", "count": 3, "capacity": 2}], "rates": {"distribution": "zipf"},
     "plan": [{"at_s": 3600, "do": "leave", "member": "c1"}]}

What is left out, or null, has the default of `scenario`. A member with a `count` stands for so
many, named `c0`, `c1`, ...
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from assignors.documents.values import (
    Document,
    DocumentError,
    ErrorCode,
    Place,
    as_int32,
    as_integer,
    as_list,
    as_object,
    as_real,
    as_string,
    as_strings,
    described,
    required,
)
from assignors.names.nearest import suggestion
from assignors.simulation.timed.scenario.reading import (
    Nullable,
    Reader,
    one_of,
    read_fields,
    require_members,
    settings_reader,
)
from assignors.simulation.traffic.scenario import (
    Distribution,
    LeaderConfig,
    RateConfig,
    TrafficAction,
    TrafficMember,
    TrafficScenario,
    Verb,
    WeightSource,
)

VERSION = 1
YEAR_S = 366 * 86_400
PARTITIONS_MAX = 1_000_000
MEMBERS_MAX = 10_000
STEPS_MAX = 10_000_000


@dataclass(frozen=True, slots=True)
class Range:
    """Reads a number from `low` to `high`; a whole one where `is_whole`."""

    low: float
    high: float
    is_whole: bool = False

    def __call__(self, value: object, place: Place) -> Any:  # noqa: ANN401 - int or float
        """Return the number. Raises `DocumentError` for another type, or one out of the range."""
        number = (
            as_integer(value, place, "a whole number") if self.is_whole else as_real(value, place)
        )
        if not self.low <= number <= self.high:
            words = f"{described(number)} is not between {self.low:g} and {self.high:g}"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, place)
        return number


SHARE = Range(0, 1)
FACTOR = Range(0, 1_000)
SECONDS = Range(1, YEAR_S, is_whole=True)

RATES: dict[str, Reader] = {
    "distribution": one_of(Distribution),
    "spread": Range(0, 1_000_000),
    "drift": Range(0, 3),
    "drift_period_s": SECONDS,
    "noise": Range(0, 3),
    "noise_s": SECONDS,
    "bursts_a_day": Range(0, 1_000),
    "burst_factor": FACTOR,
    "burst_s": SECONDS,
}
LEADER: dict[str, Reader] = {
    "samples_every_s": SECONDS,
    "decides_every_s": Range(0, YEAR_S, is_whole=True),
    "budget": Nullable(Range(0, PARTITIONS_MAX, is_whole=True)),
    "weights": one_of(WeightSource),
    "horizon_s": Range(1, YEAR_S),
    "half_life_s": Range(1, YEAR_S),
    "error": Range(0, 3),
    "tolerance": Range(0, 1_000),
    "trigger": Range(0, 1_000),
}
MEMBER: dict[str, Reader] = {
    "name": as_string,
    "capacity": Range(1, 1_000_000, is_whole=True),
    "topics": as_strings,
}
ACTION: dict[str, Reader] = {
    "at_s": Range(0, YEAR_S, is_whole=True),
    "do": one_of(Verb),
    "member": as_string,
    "topic": as_string,
    "factor": FACTOR,
}


def _topics(value: object, place: Place) -> dict[str, int]:
    read = Range(0, PARTITIONS_MAX, is_whole=True)
    counts = {
        as_string(name, place): read(count, (*place, name))
        for name, count in as_object(value, place).items()
    }
    if sum(counts.values()) > PARTITIONS_MAX:
        words = f"{sum(counts.values())} partitions, more than {PARTITIONS_MAX}"
        raise DocumentError(ErrorCode.TOO_LARGE, words, place)
    return counts


def _members(value: object, place: Place) -> tuple[TrafficMember, ...]:
    members: list[TrafficMember] = []
    for number, each in enumerate(as_list(value, place)):
        where = (*place, number)
        given = dict(as_object(each, where))
        required(given, "name", where)
        count = given.pop("count", None)
        one = TrafficMember(**read_fields(given, MEMBER, where))
        copies = [one]
        if count is not None:
            many = Range(1, MEMBERS_MAX, is_whole=True)(count, (*where, "count"))
            copies = [replace(one, name=f"{one.name}{copy}") for copy in range(many)]
        members += copies
        if len(members) > MEMBERS_MAX:
            words = f"more than {MEMBERS_MAX} members"
            raise DocumentError(ErrorCode.TOO_LARGE, words, where)
    return tuple(members)


def _plan(value: object, place: Place) -> tuple[TrafficAction, ...]:
    actions = []
    for number, each in enumerate(as_list(value, place)):
        where = (*place, number)
        given = as_object(each, where)
        for key in ("at_s", "do"):
            required(given, key, where)
        actions.append(TrafficAction(**read_fields(given, ACTION, where)))
    return tuple(actions)


READERS: dict[str, Reader] = {
    "name": as_string,
    "until_s": SECONDS,
    "count_from_s": Range(0, YEAR_S, is_whole=True),
    "tick_s": Range(1, 3600, is_whole=True),
    "topics": _topics,
    "members": _members,
    "plan": _plan,
    "rates": settings_reader(RateConfig, RATES),
    "records_per_s": Range(1, 1_000_000_000, is_whole=True),
    "use": Range(0.001, 100),
    "warm_up_s": Range(0, 86_400),
    "behind_share": SHARE,
    "behind_s": Range(0, YEAR_S, is_whole=True),
    "leader": settings_reader(LeaderConfig, LEADER),
}
assert READERS.keys() == {each.name for each in fields(TrafficScenario)}


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
    scenario = TrafficScenario(**read_fields(named, READERS, ()))
    require_possible(scenario)
    return scenario


def document_from_traffic(scenario: TrafficScenario) -> Document:
    """Return the document of a scenario, every field written out: reading it gives the scenario.

    Cost: O(its size).
    """
    return {"version": VERSION, **asdict(scenario)}


def require_possible(scenario: TrafficScenario) -> None:
    """Raise `DocumentError` where there cannot be such a run. Cost: O(its size)."""
    for check in (_members_have_names, _actions_can_happen, _numbers_fit):
        check(scenario)


def _members_have_names(scenario: TrafficScenario) -> None:
    require_members([member.name for member in scenario.members])
    for number, member in enumerate(scenario.members):
        for at, topic in enumerate(member.topics):
            _require_known(topic, scenario.topics, "topic", ("members", number, "topics", at))


def _actions_can_happen(scenario: TrafficScenario) -> None:
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


def _numbers_fit(scenario: TrafficScenario) -> None:
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
