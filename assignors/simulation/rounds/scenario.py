"""A group's history as data: who is there at first, and what happens then.

A scenario holds all that a run needs, so a run can be repeated from it alone. Members are
named by what stays when they restart; the member id that the coordinator gives them is made
from that name and a count of their lives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from wire import TopicPartitions


class EventKind(StrEnum):
    """What can happen to a group."""

    START = "start"
    """All first members join."""
    JOIN = "join"
    LEAVE = "leave"
    RETURN = "return"
    """A member is thrown out, the group goes on without it, and it comes back with the claims
    it remembers from before, though it consumes nothing."""
    STATIC_RESTART = "static-restart"
    """A static member comes back under its instance id, empty-handed."""
    SUBSCRIBE = "subscribe"
    """A member changes what it asks for; it may go on claiming what it no longer asks for."""
    GROW = "grow"
    DELETE = "delete"
    RECREATE = "recreate"
    """A topic is deleted and made again with fewer partitions."""
    CLAIM_FUTURE = "claim-future"
    """A member rejoins with a generation that the group has not reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSpec:
    """A member as it is set up."""

    name: str
    topics: tuple[str, ...]
    version: int | None = None
    """Version of the Subscription bytes it writes; `None`: it is handed over as a struct."""
    instance_id: str | None = None
    rack_id: str | None = None
    remembers: bool = False
    """It claims its last assignment even where it has stopped consuming it (kafka-python)."""
    owned: TopicPartitions = field(default_factory=dict)
    """What it claims when it first joins, though it consumes nothing."""
    generation: int = -1
    user_data: bytes | None = None
    blob: bytes | None = None
    """Its first Subscription as real bytes; these are what it claims and asks for then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happens; the fields that its kind needs are set."""

    kind: EventKind
    name: str | None = None
    member: MemberSpec | None = None
    topics: tuple[str, ...] = ()
    topic: str | None = None
    partition_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """All that a run needs."""

    seed: int = 0
    topics: Mapping[str, int]
    members: tuple[MemberSpec, ...]
    events: tuple[Event, ...] = ()
