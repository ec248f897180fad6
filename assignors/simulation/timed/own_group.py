"""A group of yours on a clock, in one line: what it has, and what happens to it.

    members=12 topics=orders:48,payments:24 poll=2s away=15s every=30s

It becomes a scenario document. The group has a minute to settle before costs count; then comes a
rolling restart, or what `do` says. Times have a unit: `100ms`, `15s`, `2m`, `1h`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Annotated

from assignors.documents import schemas
from assignors.documents.keys import NATURAL_MAX, Kind, as_natural, as_text, read
from assignors.documents.values import Document, DocumentError, ErrorCode, Place, described
from assignors.model import Group
from assignors.simulation.timed.scenario import VERSION

SETTLED_MS = 60_000
"""When costs begin to count, and something happens."""
SETTLES_MS = 120_000
"""How long the run goes on after the last action, at least."""
STARTED_MS = 10_000
"""All members start within this time."""
SETTING = re.compile(r"([A-Za-z_]+)=(.*)")
DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
UNIT_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


class Happening(StrEnum):
    """What happens to the group."""

    ROLLING_RESTART = "rolling_restart"
    """Every member is stopped and started again, one after the other."""
    CRASH_LOOP = "crash_loop"
    """The first member crashes and is started again, several times."""
    SCALE_OUT = "scale_out"
    """New members start, one after the other."""
    NOTHING = "nothing"
    """The group stays as it is, for ten minutes."""


def _as_duration(value: object, place: Place) -> int:
    found = DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        words = f"expected a time with its unit, as 15s or 100ms, found {described(value)}"
        raise DocumentError(ErrorCode.WRONG_TYPE, words, place)
    return as_natural(round(float(found[1]) * UNIT_MS[found[2]]), place)


def _as_count(value: object, place: Place) -> int:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 10:
        return as_natural(int(value), place)
    return as_natural(value, place)


def _as_topics(value: object, place: Place) -> dict[str, int]:
    if isinstance(value, Mapping):
        return {as_text(name, place): _as_count(n, (*place, name)) for name, n in value.items()}
    counts = {}
    for each in as_text(value, place).split(","):
        name, _, count = each.rpartition(":")
        if not name:
            words = f"expected topics as orders:48,payments:24, found {described(each)}"
            raise DocumentError(ErrorCode.WRONG_TYPE, words, place)
        counts[name] = _as_count(count, (*place, name))
    return counts


def _as_answer(value: object, place: Place) -> bool:
    known = {True: True, False: False, "yes": True, "no": False, "true": True, "false": False}
    if not isinstance(value, str | bool) or value not in known:
        words = f"expected yes or no, found {described(value)}"
        raise DocumentError(ErrorCode.WRONG_TYPE, words, place)
    return known[value]


Duration = Annotated[int, Kind(_as_duration, lambda: schemas.STRING)]
Count = Annotated[int, Kind(_as_count, lambda: schemas.INTEGER)]
Topics = Annotated[dict[str, int], Kind(_as_topics, lambda: schemas.STRING)]
Answer = Annotated[bool, Kind(_as_answer, lambda: schemas.STRING)]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnGroup:
    """A group and what happens to it; `None`: as a member has it by default."""

    members: Count = 10
    """How many members there are."""
    topics: Topics = field(default_factory=lambda: {"orders": 100})
    """Partitions of each topic, `orders:48,payments:24`; every member subscribes to all."""
    static: Answer = False
    """Whether members are static (`group.instance.id`)."""
    poll: Duration | None = None
    """The longest time from one poll of a member to the next."""
    heartbeat: Duration | None = None
    """`heartbeat.interval.ms`, and the broker's under KIP-848."""
    session: Duration | None = None
    """`session.timeout.ms`, and the broker's under KIP-848."""
    rate: Count = 20
    """Records a second, written to each partition; members commit every five seconds. 0: none."""
    do: Happening = Happening.ROLLING_RESTART
    """What happens."""
    away: Duration = 10_000
    """From the stop or crash of a member to its start."""
    every: Duration = 30_000
    """From one restart, crash or start to the next."""
    times: Count = 5
    """How many crashes there are."""
    new: Count = 5
    """How many members a scale-out adds."""


READ_BY: dict[str, frozenset[Happening]] = {
    "away": frozenset({Happening.ROLLING_RESTART, Happening.CRASH_LOOP}),
    "every": frozenset(Happening) - {Happening.NOTHING},
    "times": frozenset({Happening.CRASH_LOOP}),
    "new": frozenset({Happening.SCALE_OUT}),
}
"""Keys that not everything that can happen has."""


def is_settings(text: str) -> bool:
    """Return whether a text begins as settings do: with a key and `=`.

    >>> is_settings("members=12 away=15s"), is_settings("rolling-restart")
    (True, False)
    """
    return SETTING.match(text.strip()) is not None


def own_group_document(
    settings: str | Mapping[str, object], start: Group | None = None
) -> Document:
    """Return the scenario document of a group in one line. Cost: O(its size + members of `start`).

    `settings` are `members=12 away=15s`, or those keys with their values. Members, subscriptions
    and topics of `start` take the place of `members` and `topics`. Its members claim what they own
    as they join, so a sticky assignor of the classic protocol leaves it to them; under KIP-848
    members join with nothing, and the broker assigns everything. Raises `DocumentError` for an
    unknown key, a value that is none, and a key that has no effect together with the others.

    >>> own_group_document("members=3 away=15s every=1m")["plan"]
    [{'at_ms': 60000, 'do': 'rolling_restart', 'away_ms': 15000, 'every_ms': 60000}]
    """
    given = _parsed(settings) if isinstance(settings, str) else dict(settings)
    own = read(OwnGroup, given)
    for key, kinds in READ_BY.items():
        if key in given and own.do not in kinds:
            words = f"{own.do.value} has no {key!r}"
            raise DocumentError(ErrorCode.UNKNOWN, words, (key,))
    if start is not None:
        for key in ("members", "topics"):
            if key in given:
                words = f"{key!r} are those of the group that the run starts from"
                raise DocumentError(ErrorCode.REPEATED, words, (key,))
    members = _members(own, start)
    count = sum(int(str(each.get("count", 1))) for each in members)
    first = "c0" if start is None else "".join(one.member_id for one in start.members[:1])
    plan, last_ms = _plan(own, first, count)
    session_ms = own.session or 0
    document: Document = {
        "version": VERSION,
        "name": "own group",
        "until_ms": min(last_ms + max(SETTLES_MS, 2 * session_ms), NATURAL_MAX),
        "count_from_ms": SETTLED_MS,
        "topics": own.topics
        if start is None
        else {name: topic.partition_count for name, topic in start.cluster.topics.items()},
        "members": members,
        "plan": plan,
    }
    broker = {
        key: value
        for key, value in (
            ("consumer_heartbeat_interval_ms", own.heartbeat),
            ("consumer_session_timeout_ms", own.session),
        )
        if value is not None
    }
    if broker:
        document["broker"] = broker
    if own.rate:
        document["processing"] = {"records_per_second": own.rate}
    return document


def _parsed(text: str) -> dict[str, object]:
    given: dict[str, object] = {}
    for word in text.split():
        found = SETTING.fullmatch(word)
        if found is None:
            words = f"{word!r} is no KEY=VALUE; keys: {', '.join(_keys())}"
            raise DocumentError(ErrorCode.UNKNOWN, words)
        if found[1] in given:
            raise DocumentError(ErrorCode.REPEATED, f"{found[1]!r} is given twice", (found[1],))
        given[found[1]] = found[2]
    return given


def _keys() -> list[str]:
    return [each.name for each in fields(OwnGroup)]


def _members(own: OwnGroup, start: Group | None) -> list[Document]:
    """Return the entries of `members`."""
    settings: Document = {
        key: value
        for key, value in (
            ("poll_ms", own.poll),
            ("heartbeat_interval_ms", own.heartbeat),
            ("session_timeout_ms", own.session),
        )
        if value is not None
    }
    if start is None:
        return [
            {
                "name": "c",
                "count": own.members,
                "starts_every_ms": _apart_ms(own.members),
                "topics": list(own.topics),
                **({"instance_id": "c"} if own.static else {}),
                **settings,
            }
        ]
    return [
        {
            "name": one.member_id,
            "starts_at_ms": number * _apart_ms(len(start.members)),
            "topics": list(one.topics),
            "instance_id": one.instance_id or (one.member_id if own.static else None),
            "rack_id": one.rack_id,
            "owned": {topic: list(numbers) for topic, numbers in one.owned.items()},
            **settings,
        }
        for number, one in enumerate(start.members)
    ]


def _apart_ms(count: int) -> int:
    """Return how long after one member the next one starts."""
    return min(100, STARTED_MS // max(count, 1))


def _plan(own: OwnGroup, first: str, count: int) -> tuple[list[Document], int]:
    """Return the plan, and when its last action is."""
    entry: Document = {"at_ms": SETTLED_MS, "do": own.do.value}
    times = {Happening.CRASH_LOOP: own.times, Happening.SCALE_OUT: own.new}.get(own.do, count)
    last_ms = SETTLED_MS + own.every * max(times - 1, 0)
    if own.do is Happening.NOTHING:
        return [], SETTLED_MS + 600_000 - SETTLES_MS
    if own.do is Happening.SCALE_OUT:
        return [{**entry, "count": own.new, "every_ms": own.every}], last_ms
    entry |= {"away_ms": own.away, "every_ms": own.every}
    if own.do is Happening.CRASH_LOOP:
        entry |= {"member": first, "times": own.times}
    return [entry], last_ms + own.away
