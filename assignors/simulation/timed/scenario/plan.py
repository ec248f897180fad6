"""What happens in a run, and when.

An entry of a plan is one action, or one that stands for many, which it becomes in the scenario:

    {"at_ms": 60000, "do": "crash", "member": "c1"}
    {"at_ms": 60000, "do": "rolling_restart", "away_ms": 10000, "every_ms": 30000}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

from assignors.documents import schemas
from assignors.documents.keys import Kind, read, schema_of, word_of
from assignors.documents.schemas import Schema
from assignors.documents.values import DocumentError, ErrorCode, Place, as_list, as_object
from assignors.names.nearest import suggestion
from assignors.names.sequences import as_names, take
from assignors.simulation.timed.group_protocols import GroupProtocol
from assignors.simulation.timed.scenario.members import MEMBERS_MAX, MemberConfig


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
    """A topic is deleted."""
    PAUSE = "pause"
    """It pauses the partitions of `topic` that it consumes."""
    RESUME = "resume"
    """It ends its pauses of `topic`."""
    CREATE = "create"
    """A topic is created, with so many `partitions`. Members with a pattern learn of it by a
    refresh of metadata."""
    GROW = "grow"
    """A topic gets more partitions: `partitions` in all."""


class PlanEntry:
    """One action, or an entry that becomes several."""

    __slots__ = ()

    def newcomers(
        self,
        members: Sequence[MemberConfig],  # noqa: ARG002 - only some entries add members
        place: Place,  # noqa: ARG002
    ) -> list[MemberConfig]:
        """Return the members that it adds to these. Raises `DocumentError` where it cannot."""
        return []

    def actions(self, members: Sequence[MemberConfig]) -> list[Action]:
        """Return what it does in a group of these members, its newcomers last."""
        raise NotImplementedError


class VerbRow(NamedTuple):
    """Which fields of `Action` a verb has, apart from `at_ms` and `do`."""

    needs: tuple[str, ...]
    may: tuple[str, ...] = ()


VERBS: dict[Verb, VerbRow] = {
    Verb.START: VerbRow(("member",), ("protocol",)),
    Verb.STOP: VerbRow(("member",)),
    Verb.CRASH: VerbRow(("member",)),
    Verb.SUBSCRIBE: VerbRow(("member",), ("topics",)),
    Verb.DELETE: VerbRow(("topic",)),
    Verb.PAUSE: VerbRow(("member", "topic")),
    Verb.RESUME: VerbRow(("member", "topic")),
    Verb.CREATE: VerbRow(("topic",), ("partitions",)),
    Verb.GROW: VerbRow(("topic",), ("partitions",)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Action(PlanEntry):
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

    def actions(self, members: Sequence[MemberConfig]) -> list[Action]:  # noqa: ARG002 - as others
        """Return itself."""
        return [self]


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingRestart(PlanEntry):
    """`rolling_restart`: members are stopped and started again, one after the other."""

    at_ms: int
    """When the first one stops."""
    away_ms: int
    """From the stop of a member to its start."""
    every_ms: int
    """From the stop of one member to the stop of the next."""
    members: tuple[str, ...] = ()
    """Which members, in this order; empty: all that do not wait for the plan to start them."""
    protocol: GroupProtocol | None = None
    """They come back with this protocol, as after an upgrade of their clients."""

    def actions(self, members: Sequence[MemberConfig]) -> list[Action]:
        """Return the stops and starts."""
        everybody = [each.name for each in members if each.starts_at_ms is not None]
        away = _away(self, Verb.STOP, list(self.members) or everybody)
        return [
            replace(each, protocol=self.protocol) if each.do is Verb.START else each
            for each in away
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashLoop(PlanEntry):
    """`crash_loop`: a member crashes and is started again, several times."""

    at_ms: int
    """When it crashes first."""
    member: str
    """Which member."""
    away_ms: int
    """From a crash to the next start."""
    every_ms: int
    """From one crash to the next."""
    times: int
    """How many crashes there are."""

    def actions(self, members: Sequence[MemberConfig]) -> list[Action]:  # noqa: ARG002 - as others
        """Return the crashes and starts."""
        return _away(self, Verb.CRASH, [self.member] * self.times)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleOut(PlanEntry):
    """`scale_out`: new members start, one after the other."""

    at_ms: int
    """When the first one starts."""
    count: int
    """How many members there are. Their names are numbered on: `c10`, `c11`, ... after `c9`."""
    every_ms: int
    """From the start of one member to the start of the next."""
    like: str | None = None
    """The member whose settings they have; null: the last one of `members`."""

    def newcomers(self, members: Sequence[MemberConfig], place: Place) -> list[MemberConfig]:
        """Return members like one of these, their names numbered on."""
        names = {each.name: each for each in members}
        if not members or (self.like is not None and self.like not in names):
            words = f"there is no member {self.like!r}{suggestion(self.like or '', names)}"
            raise DocumentError(ErrorCode.UNKNOWN, words, (*place, "like"))
        if len(members) + self.count > MEMBERS_MAX:
            words = f"more than {MEMBERS_MAX} members"
            raise DocumentError(ErrorCode.TOO_LARGE, words, (*place, "count"))
        like = members[-1] if self.like is None else names[self.like]
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
            for number in range(first, first + self.count)
        ]

    def actions(self, members: Sequence[MemberConfig]) -> list[Action]:
        """Return the starts of its newcomers."""
        newcomers = members[len(members) - self.count :]
        return [
            Action(at_ms=self.at_ms + self.every_ms * turn, do=Verb.START, member=each.name)
            for turn, each in enumerate(newcomers)
        ]


SEVERAL: dict[str, type[Any]] = {
    "rolling_restart": RollingRestart,
    "crash_loop": CrashLoop,
    "scale_out": ScaleOut,
}
"""Words of `do` that stand for several actions."""
DO = word_of([*Verb, *SEVERAL])


def expanded(
    members: Sequence[MemberConfig], plan: Iterable[PlanEntry]
) -> tuple[tuple[MemberConfig, ...], tuple[Action, ...], list[int]]:
    """Return the members and the actions of a plan, and the entry that each action comes from.

    Raises `DocumentError` for a `ScaleOut` like nobody, or of too many members.
    Cost: O(entries x members + actions).
    """
    everybody = list(members)
    actions: list[Action] = []
    entries: list[int] = []
    for number, entry in enumerate(plan):
        everybody += entry.newcomers(everybody, ("plan", number))
        found = entry.actions(everybody)
        actions += found
        entries += [number] * len(found)
    return tuple(everybody), tuple(actions), entries


def _away(entry: RollingRestart | CrashLoop, leaves: Verb, names: Sequence[str]) -> list[Action]:
    """Return the actions of members that go, one after the other, and come back."""
    return [
        Action(at_ms=entry.at_ms + entry.every_ms * turn + after_ms, do=verb, member=name)
        for turn, name in enumerate(names)
        for after_ms, verb in ((0, leaves), (entry.away_ms, Verb.START))
    ]


def _read_plan(value: object, place: Place) -> tuple[PlanEntry, ...]:
    entries: list[PlanEntry] = []
    for number, each in enumerate(as_list(value, place)):
        where = (*place, number)
        given = as_object(each, where)
        if given.get("do") is None:
            raise DocumentError(ErrorCode.MISSING, "'do' is missing", (*where, "do"))
        kind = SEVERAL.get(DO.read(given["do"], (*where, "do")))
        if kind is None:
            entries.append(read(Action, given, where))
        else:
            rest = {key: one for key, one in given.items() if key != "do"}
            entries.append(read(kind, rest, where))
    return tuple(entries)


def _plan_schema() -> Schema:
    several = []
    for word, kind in SEVERAL.items():
        schema = schema_of(kind)
        properties = {"do": schemas.constant(word), **schema["properties"]}
        several.append(
            {**schema, "properties": properties, "required": ["do", *schema["required"]]}
        )
    return schemas.array({"anyOf": [schema_of(Action), *several]})


PLAN = Kind(
    _read_plan,
    _plan_schema,
    (("[]", Action), *(("[]", kind) for kind in SEVERAL.values())),
)
"""A scenario's plan."""
