"""What happens in a run, and when, and how a scenario writes it.

An entry of a plan is one action, or a verb that becomes many of them when the document is read:

    {"at_ms": 60000, "do": "crash", "member": "c1"}
    {"at_ms": 60000, "rolling_restart": {"away_ms": 10000, "every_ms": 30000}}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from enum import StrEnum

from assignors.documents.values import (
    DocumentError,
    ErrorCode,
    Place,
    as_list,
    as_object,
    required,
)
from assignors.names.nearest import suggestion
from assignors.names.sequences import as_names, take
from assignors.simulation.timed.scenario.members import MEMBERS_MAX, MemberConfig
from assignors.simulation.timed.scenario.protocols import GroupProtocol
from assignors.simulation.timed.scenario.reading import (
    Reader,
    as_natural,
    as_text,
    as_texts,
    one_of,
    read_fields,
)


class Verb(StrEnum):
    """What can happen to a member or a topic."""

    START = "start"
    """The member's process starts."""
    STOP = "stop"
    """It closes its consumer: a dynamic member leaves the group, a static one falls silent."""
    CRASH = "crash"
    """Its process ends; the coordinator finds out by the session timeout."""
    SUBSCRIBE = "subscribe"
    """It subscribes to other topics: `topics`."""
    DELETE = "delete"
    """A topic is deleted: nobody reads anything of it any more, and members learn of it as of a new
    one."""
    PAUSE = "pause"
    """It pauses the partitions of `topic` that it consumes."""
    RESUME = "resume"
    """It ends its pauses of `topic`."""
    CREATE = "create"
    """A topic is created, with so many `partitions`. Members that subscribe by a pattern learn of
    it when they refresh their metadata, or the coordinator does."""
    GROW = "grow"
    """A topic has so many `partitions` from now on. Members learn of it when they refresh their
    metadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing that happens, at a time that the scenario sets."""

    at_ms: int
    """When."""
    do: Verb
    """What."""
    member: str | None = None
    """To whom; a topic is changed for everybody."""
    protocol: GroupProtocol | None = None
    """Of `start`: the member starts with this protocol, as after an upgrade of its client."""
    topics: tuple[str, ...] = ()
    """Of `subscribe`: the new subscription."""
    topic: str | None = None
    """Which topic, of what is done to one."""
    partitions: int = 0
    """Of `create` and `grow`: how many partitions it has then."""

    def __post_init__(self) -> None:
        """Take lists for tuples; `ValueError` for what is neither."""
        take(self, topics=as_names(self.topics, "topics"))


READERS: dict[str, Reader] = {
    **dict.fromkeys((each.name for each in fields(Action)), as_natural),
    "do": one_of(Verb),
    "member": as_text,
    "protocol": one_of(GroupProtocol),
    "topics": as_texts,
    "topic": as_text,
}
"""Field -> what reads it; a field that is not named here is a natural number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingRestart:
    """Members are stopped and started again, one after the other."""

    away_ms: int
    """From the stop of a member to its start."""
    every_ms: int
    """From the stop of one member to the stop of the next."""
    members: tuple[str, ...] = ()
    """Which members, in this order; empty: all that do not wait for the plan to start them."""
    protocol: GroupProtocol | None = None
    """They come back with this protocol, as after an upgrade of their clients."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashLoop:
    """A member crashes and is started again, several times."""

    member: str
    """Which member."""
    away_ms: int
    """From a crash to the next start."""
    every_ms: int
    """From one crash to the next."""
    times: int
    """How many crashes there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleOut:
    """New members start, one after the other."""

    count: int
    """How many members there are. Their names are numbered on: `c10`, `c11`, ... after `c9`."""
    every_ms: int
    """From the start of one member to the start of the next."""
    like: str | None = None
    """The member whose settings they have; null: the last one of `members`."""


Group = RollingRestart | CrashLoop | ScaleOut
GROUPS: dict[str, tuple[type[Group], dict[str, Reader]]] = {
    name: (kind, {**dict.fromkeys((each.name for each in fields(kind)), as_natural), **readers})
    for name, kind, readers in (
        (
            "rolling_restart",
            RollingRestart,
            {"members": as_texts, "protocol": one_of(GroupProtocol)},
        ),
        ("crash_loop", CrashLoop, {"member": as_text}),
        ("scale_out", ScaleOut, {"like": as_text}),
    )
}
"""Verbs that become several actions, with the readers of their fields."""


def read_plan(value: object, place: Place) -> tuple[tuple[int, Action | Group], ...]:
    """Return the entries of a plan with their times. Cost: O(entries)."""
    entries: list[tuple[int, Action | Group]] = []
    for number, each in enumerate(as_list(value, place)):
        where = (*place, number)
        given = as_object(each, where)
        verb = next((key for key in GROUPS if key in given), None)
        if verb is None:
            for key in ("at_ms", "do"):
                required(given, key, where)
            action = Action(**read_fields(given, READERS, where))
            entries.append((action.at_ms, action))
            continue
        kind, readers = GROUPS[verb]
        settings = as_object(given[verb], (*where, verb))
        needed = [each.name for each in fields(kind) if each.default is MISSING]
        for key in needed:
            required(settings, key, (*where, verb))
        required(given, "at_ms", where)
        group = kind(**read_fields(settings, readers, (*where, verb)))
        rest = {key: given[key] for key in given if key != verb}
        entries.append((read_fields(rest, {"at_ms": as_natural}, where)["at_ms"], group))
    return tuple(entries)


def expanded(
    members: Sequence[MemberConfig], entries: Iterable[tuple[int, Action | Group]]
) -> tuple[tuple[MemberConfig, ...], tuple[Action, ...]]:
    """Return the members and the plan in which each verb has become its actions.

    Raises `DocumentError` for a member that is not there, and for too many members.
    Cost: O(members x entries + actions).
    """
    everybody, plan = list(members), []
    for number, (at_ms, entry) in enumerate(entries):
        if isinstance(entry, Action):
            plan.append(entry)
        elif isinstance(entry, ScaleOut):
            newcomers = _newcomers(everybody, entry, ("plan", number, "scale_out"))
            everybody += newcomers
            plan += [
                Action(at_ms=at_ms + entry.every_ms * turn, do=Verb.START, member=each.name)
                for turn, each in enumerate(newcomers)
            ]
        else:
            plan += _away_and_back(everybody, at_ms, entry)
    return tuple(everybody), tuple(plan)


def _away_and_back(
    members: Sequence[MemberConfig], at_ms: int, entry: RollingRestart | CrashLoop
) -> list[Action]:
    """Return the actions of members that go and come back."""
    if isinstance(entry, CrashLoop):
        names, leaves, protocol = [entry.member] * entry.times, Verb.CRASH, None
    else:
        everybody = [each.name for each in members if each.starts_at_ms is not None]
        names, leaves, protocol = list(entry.members) or everybody, Verb.STOP, entry.protocol
    plan = []
    for turn, name in enumerate(names):
        away_ms = at_ms + entry.every_ms * turn
        plan.append(Action(at_ms=away_ms, do=leaves, member=name))
        back_ms = away_ms + entry.away_ms
        plan.append(Action(at_ms=back_ms, do=Verb.START, member=name, protocol=protocol))
    return plan


def _newcomers(
    members: Sequence[MemberConfig], entry: ScaleOut, place: Place
) -> list[MemberConfig]:
    """Return the members that a scale-out adds."""
    names = {each.name: each for each in members}
    if not members or (entry.like is not None and entry.like not in names):
        words = f"there is no member {entry.like!r}{suggestion(entry.like or '', names)}"
        raise DocumentError(ErrorCode.UNKNOWN, words, (*place, "like"))
    if len(members) + entry.count > MEMBERS_MAX:
        raise DocumentError(
            ErrorCode.TOO_LARGE, f"more than {MEMBERS_MAX} members", (*place, "count")
        )
    like = members[-1] if entry.like is None else names[entry.like]
    kind = like.name.rstrip("0123456789")
    numbers = [name.removeprefix(kind) for name in names if name.startswith(kind)]
    first = max((int(each) + 1 for each in numbers if each.isdecimal()), default=0)
    static = None if like.instance_id is None else like.instance_id.rstrip("0123456789")
    return [
        replace(
            like,
            name=f"{kind}{number}",
            instance_id=None if static is None else f"{static}{number}",
            starts_at_ms=None,
        )
        for number in range(first, first + entry.count)
    ]
