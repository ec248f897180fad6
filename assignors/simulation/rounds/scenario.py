"""A group's history as data: its first members, its topics, and the events that follow.

A scenario holds all that a run needs, so a run can be repeated from it alone. Members are
named by what stays when they restart; the member id that the coordinator gives them is that
name and a number that counts joins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from assignors.assignor import UserData
from assignors.names.nearest import suggestion
from assignors.names.sequences import as_entries, as_names, as_partitions, take
from wire import TopicPartitions

STRINGS: frozenset[type] = frozenset({str})


class GroupEventKind(StrEnum):
    """What can happen to a group."""

    START = "start"
    """All first members join."""
    JOIN = "join"
    """A new member joins: `GroupEvent.member`."""
    LEAVE = "leave"
    """A member leaves for good."""
    RETURN = "return"
    """A member is expelled, the group settles without it, and it rejoins under a new member id
    with the claims it had before, though it consumes nothing."""
    STATIC_RESTART = "static-restart"
    """A static member comes back under its instance id with a new member id and no claims."""
    SUBSCRIBE = "subscribe"
    """A member changes its subscription; it may go on claiming what it no longer subscribes to."""
    GROW = "grow"
    """A topic is created, or gets more partitions."""
    DELETE = "delete"
    """A topic is deleted."""
    RECREATE = "recreate"
    """A topic is deleted and created again with fewer partitions."""
    CLAIM_FUTURE = "claim-future"
    """A member rejoins with a generation that the group has not reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSpec:
    """A member as it is set up, before it first joins."""

    name: str
    """What stays when it restarts."""
    topics: tuple[str, ...]
    """Its subscription."""
    version: int | None = None
    """Version of the Subscription bytes it writes, 0 to 3; `None`: the leader gets it as a
    `Member`, without bytes."""
    instance_id: str | None = None
    rack_id: str | None = None
    remembers: bool = False
    """It claims its last assignment even where it has stopped consuming it (kafka-python)."""
    owned: TopicPartitions = field(default_factory=dict)
    """What it claims when it first joins, though it consumes nothing."""
    generation: int = -1
    """The generation of that claim; -1: none."""
    is_consuming: bool = False
    """It consumes what it owns when the run begins, with `generation` as its last one: a member of
    a group that is there already."""
    member_id: str | None = None
    """Its member id when the run begins; `None`: made of its name and a number."""
    blob: bytes | None = None
    """Its first Subscription as bytes: these are its first claims and its subscription then."""
    user_data: UserData | None = None
    """What it writes into UserData; `None`: what the group's assignor wants there."""

    def __post_init__(self) -> None:
        """Take lists for tuples; `ValueError` for what is neither."""
        if self.owned or type(self.owned) is not dict:
            take(self, owned=as_partitions(self.owned, "owned"))
        if type(self.topics) is not tuple or not STRINGS.issuperset(map(type, self.topics)):
            take(self, topics=as_names(self.topics, "topics"))


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEvent:
    """One thing that happens to a group; set are the fields that its kind needs."""

    kind: GroupEventKind
    name: str | None = None
    """The member it happens to (`MemberSpec.name`)."""
    member: MemberSpec | None = None
    """The new member of a join."""
    members: tuple[MemberSpec, ...] = ()
    """Several new members, in place of `member`: they join before one rebalance."""
    names: tuple[str, ...] = ()
    """Several members, in place of `name`, to which a leave or a subscribe happens at once."""
    topics: tuple[str, ...] = ()
    """The new subscription."""
    topic: str | None = None
    """The topic that grows, is deleted or recreated."""
    partition_count: int = 0
    """Its partitions afterwards."""

    def __post_init__(self) -> None:
        """Take the value of a kind, and lists for tuples; `ValueError` for what is neither."""
        take(self, kind=_kind(self.kind), topics=as_names(self.topics, "topics"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """All that a run needs."""

    seed: int = 0
    """What it was drawn from, if it was drawn; only reported."""
    topics: Mapping[str, int]
    """Topic -> partition count, at the start."""
    members: tuple[MemberSpec, ...]
    """Who joins at the start, the leader first."""
    generation: int = 0
    """The generation that the group has completed before the run; 0: it is new."""
    events: tuple[GroupEvent, ...] = ()
    """What follows, in this order, each after the group has settled."""

    def __post_init__(self) -> None:
        """Take lists for tuples; `ValueError` for what is neither."""
        if not isinstance(self.topics, Mapping):
            raise ValueError(f"topics: expected name -> partition count, found {self.topics!r}")
        take(
            self,
            members=as_entries(self.members, MemberSpec, "members"),
            events=as_entries(self.events, GroupEvent, "events"),
        )


def _kind(value: str) -> GroupEventKind:
    try:
        return GroupEventKind(value)
    except ValueError:
        words = suggestion(str(value), map(str, GroupEventKind))
        raise ValueError(f"kind: {value!r} is none of an event{words}") from None
