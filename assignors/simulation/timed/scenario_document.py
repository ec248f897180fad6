"""A timed scenario as JSON: read with the path of whatever is wrong, and written in full.

    {"version": 1, "until_ms": 60000, "topics": {"orders": 12},
     "members": [{"name": "c", "count": 3, "topics": ["orders"]}],
     "plan": [{"at_ms": 30000, "do": "crash", "member": "c1"}]}

What is left out has the default of `scenario`. A member with a `count` stands for so many, named
`c0`, `c1`, ...; their instance ids are numbered likewise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from enum import StrEnum
from hashlib import sha256
from json import dumps
from typing import Any, TypeVar

from assignors.documents.values import (
    INT32_MAX,
    Document,
    DocumentError,
    ErrorCode,
    Place,
    as_int32,
    as_list,
    as_object,
    as_string,
    as_strings,
    described,
    required,
)
from assignors.registry import ASSIGNORS
from assignors.simulation.timed.scenario import (
    VERSION,
    Action,
    BrokerConfig,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    Scenario,
    Verb,
)

MEMBERS_MAX = 100_000
PARTITIONS_MAX = 10_000_000
SEED_MAX = 2**63 - 1

E = TypeVar("E", bound=StrEnum)
Reader = Callable[[object, Place], Any]


def scenario_from_document(document: object) -> Scenario:
    """Return the scenario that a document describes. Cost: O(its size).

    Raises `DocumentError`, with the path, for what is no scenario, and for one that cannot happen:
    no members, two of one name, a session shorter than the time between two heartbeats, an
    assignor that the registry does not have, an action for a member or topic that is not there.

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
    scenario = Scenario(
        **{"until_ms": 0, "topics": {}, "members": (), **_read(given, SCENARIO, ())}
    )
    for key in ("until_ms", "topics", "members"):
        required(given, key, ())
    _require_possible(scenario)
    return scenario


def document_from_scenario(scenario: Scenario) -> Document:
    """Return the document of a scenario, every field written out: reading it gives the scenario.

    Cost: O(its size).
    """
    return {"version": VERSION, **asdict(scenario)}


def scenario_hash(scenario: Scenario) -> str:
    """Return what identifies a scenario: the first 16 digits of SHA-256 over its document."""
    text = dumps(document_from_scenario(scenario), sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:16]


def _read(
    given: Mapping[str, object], readers: Mapping[str, Reader], place: Place
) -> dict[str, Any]:
    """Return the values of the fields that are given; a field without a reader is refused."""
    for key in given:
        if key not in readers and key != "version":
            raise DocumentError(ErrorCode.UNKNOWN, f"{key!r} is no field here", (*place, key))
    return {
        key: read(given[key], (*place, key))
        for key, read in readers.items()
        if given.get(key) is not None
    }


# Values


def _natural(value: object, place: Place) -> int:
    number = as_int32(value, place)
    if number < 0:
        raise DocumentError(ErrorCode.OUT_OF_RANGE, f"{number} is negative", place)
    return number


def _seed(value: object, place: Place) -> int:
    if type(value) is not int or not -SEED_MAX <= value <= SEED_MAX:
        words = f"expected an integer of 64 bits, found {described(value)}"
        raise DocumentError(ErrorCode.WRONG_TYPE, words, place)
    return value


def _one_of(kinds: type[E]) -> Callable[[object, Place], E]:
    def read(value: object, place: Place) -> E:
        text = as_string(value, place)
        try:
            return kinds(text)
        except ValueError:
            words = f"{text!r} is none of {', '.join(kinds)}"
            raise DocumentError(ErrorCode.UNKNOWN, words, place) from None

    return read


def _assignor(value: object, place: Place) -> str:
    name = as_string(value, place)
    if name not in ASSIGNORS:
        words = f"no assignor {name!r}; known: {', '.join(ASSIGNORS)}"
        raise DocumentError(ErrorCode.UNKNOWN, words, place)
    return name


def _assignors(value: object, place: Place) -> tuple[str, ...]:
    names = tuple(_assignor(each, (*place, i)) for i, each in enumerate(as_list(value, place)))
    if not names:
        raise DocumentError(ErrorCode.MISSING, "a member needs an assignor", place)
    return names


def _topics(value: object, place: Place) -> dict[str, int]:
    counts = {
        as_string(name, place): _natural(count, (*place, name))
        for name, count in as_object(value, place).items()
    }
    if sum(counts.values()) > PARTITIONS_MAX:
        words = f"{sum(counts.values())} partitions, more than {PARTITIONS_MAX}"
        raise DocumentError(ErrorCode.TOO_LARGE, words, place)
    return counts


def _members(value: object, place: Place) -> tuple[MemberConfig, ...]:
    members: list[MemberConfig] = []
    for number, each in enumerate(as_list(value, place)):
        where = (*place, number)
        given = dict(as_object(each, where))
        for key in ("name", "topics"):
            required(given, key, where)
        count = given.pop("count", None)
        one = MemberConfig(**_read(given, MEMBER, where))
        if count is None:
            members.append(one)
            continue
        copies = _natural(count, (*where, "count"))
        if len(members) + copies > MEMBERS_MAX:
            words = f"more than {MEMBERS_MAX} members"
            raise DocumentError(ErrorCode.TOO_LARGE, words, (*where, "count"))
        static = one.instance_id
        members += (
            replace(
                one, name=f"{one.name}{i}", instance_id=None if static is None else f"{static}{i}"
            )
            for i in range(copies)
        )
    return tuple(members)


def _plan(value: object, place: Place) -> tuple[Action, ...]:
    actions = []
    for number, each in enumerate(as_list(value, place)):
        given = as_object(each, (*place, number))
        for key in ("at_ms", "do"):
            required(given, key, (*place, number))
        actions.append(Action(**_read(given, ACTION, (*place, number))))
    return tuple(actions)


def _settings(kind: type[Any], readers: Mapping[str, Reader]) -> Reader:
    return lambda value, place: kind(**_read(as_object(value, place), readers, place))


TIMES: dict[str, Reader] = {"at_ms": _natural, "partitions": _natural}
ACTION: dict[str, Reader] = {
    **TIMES,
    "do": _one_of(Verb),
    "member": as_string,
    "topics": as_strings,
    "topic": as_string,
}
MEMBER: dict[str, Reader] = {
    **dict.fromkeys((each.name for each in fields(MemberConfig)), _natural),
    "name": as_string,
    "topics": as_strings,
    "assignors": _assignors,
    "instance_id": as_string,
    "rack_id": as_string,
}
BROKER: dict[str, Reader] = {
    **dict.fromkeys((each.name for each in fields(BrokerConfig)), _natural),
    "assignor": _assignor,
}
NETWORK: dict[str, Reader] = dict.fromkeys((each.name for each in fields(NetworkConfig)), _natural)
SCENARIO: dict[str, Reader] = {
    **dict.fromkeys((each.name for each in fields(Scenario)), _natural),
    "name": as_string,
    "seed": _seed,
    "protocol": _one_of(GroupProtocol),
    "topics": _topics,
    "members": _members,
    "plan": _plan,
    "broker": _settings(BrokerConfig, BROKER),
    "network": _settings(NetworkConfig, NETWORK),
}


# What cannot happen


def _require_possible(scenario: Scenario) -> None:
    """Raise `DocumentError` where no such group can exist."""
    if not scenario.members:
        raise DocumentError(ErrorCode.MISSING, "a group needs a member", ("members",))
    names: set[str] = set()
    for number, member in enumerate(scenario.members):
        if member.name in names:
            words = f"two members are named {member.name!r}"
            raise DocumentError(ErrorCode.REPEATED, words, ("members", number, "name"))
        names.add(member.name)
        if member.session_timeout_ms <= member.heartbeat_interval_ms:
            words = (
                f"a session of {member.session_timeout_ms} ms is over before the next heartbeat, "
                f"after {member.heartbeat_interval_ms} ms"
            )
            raise DocumentError(
                ErrorCode.OUT_OF_RANGE, words, ("members", number, "session_timeout_ms")
            )
        if 0 in {member.heartbeat_interval_ms, scenario.broker.consumer_heartbeat_interval_ms}:
            words = "heartbeats need an interval"
            raise DocumentError(
                ErrorCode.OUT_OF_RANGE, words, ("members", number, "heartbeat_interval_ms")
            )
    for number, action in enumerate(scenario.plan):
        _require_known(scenario, names, action, ("plan", number))


def _require_known(scenario: Scenario, names: set[str], action: Action, place: Place) -> None:
    if action.do is Verb.GROW:
        if action.topic not in scenario.topics:
            words = f"there is no topic {action.topic!r}"
            raise DocumentError(ErrorCode.UNKNOWN, words, (*place, "topic"))
        if not 0 < action.partitions <= min(PARTITIONS_MAX, INT32_MAX):
            words = f"a topic cannot have {action.partitions} partitions"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "partitions"))
    elif action.member not in names:
        words = f"there is no member {action.member!r}"
        raise DocumentError(ErrorCode.UNKNOWN, words, (*place, "member"))
