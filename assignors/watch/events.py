"""What a watch says: an alert is opened, repeated, resolved.

The id of an alert is a hash of its group, life, kind and subject, and of the time at which it
opened. So a watch that was killed and started again sends the same id, and a receiver that knows
the id already loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any

ID_LENGTH = 16
"""Hexadecimal digits of an id."""


class Event(StrEnum):
    """What happened to an alert."""

    OPENED = "opened"
    """Its condition has held for as long as its rule demands."""
    REPEATED = "repeated"
    """It occurred again while it was open."""
    RESOLVED = "resolved"
    """Its condition has been gone for as long as its rule demands."""


class WatchKind(StrEnum):
    """Kinds of alerts that are no finding of `replay`: no record says them."""

    STUCK = "stuck"
    """A round that does not complete, a member that does not reconcile, or commits that stop."""
    MEMBER_FLAPS = "member-flaps"
    """A member slot joins again and again and does not stay."""
    WATCH_BEHIND = "watch-behind"
    """The watch itself is behind the end of the topic."""
    WATCH_BLIND = "watch-blind"
    """The watch sees no committed records while the topic grows: a transaction hangs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One event of one alert. Times are epoch milliseconds of the topic."""

    event: Event
    id: str
    """Stable: the same in `opened`, `repeated` and `resolved`, and after a restart."""
    group: str
    """Empty for alerts of the watch itself."""
    life: int
    """Which life of the group, counted from 1."""
    kind: str
    """A kind of finding, or a `WatchKind`."""
    severity: str
    """How bad it is; `critical` and `high` may wake somebody."""
    opened_ms: int
    """When the alert opened."""
    at_ms: int
    """When this event happened."""
    evidence: str
    """A sentence, as `replay` has it."""
    since_ms: int = 0
    """When the condition began, before it was held for as long as the rule demands."""
    what_to_do: str = ""
    """Advice; empty where there is none."""
    leader: str | None = None
    """The leader that caused it: client id, host, guessed library; `None` where none did."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    """The numbers that met the rule: `count`, `occurrences`, `for_ms`."""
    partitions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The partitions that it touches."""
    members: tuple[str, ...] = ()
    """Ids of the members that it touches."""
    withdrawn: bool = False
    """In `resolved`: later records show that it was none."""


def alert_id(group: str, life: int, kind: str, subject: str, opened_ms: int) -> str:
    """Return the id of an alert: 16 hexadecimal digits.

    >>> alert_id("billing", 1, "unassigned", "", 0)
    '5df36e8dd51f287c'
    """
    key = "\0".join((group, str(life), kind, subject, str(opened_ms)))
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:ID_LENGTH]


def as_document(alert: Alert) -> dict[str, Any]:
    """Return an event as a JSON object: the fields of `Alert`, partitions as pairs."""
    partitions = [[topic, list(numbers)] for topic, numbers in alert.partitions.items()]
    return {**asdict(alert), "partitions": partitions, "members": list(alert.members)}
