"""How long a client waits for a JoinGroup or SyncGroup that is not answered, and what it does then.

Each is a property of a dialect (`dialect.Dialect`); the source of every value is in `time_limits`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Timeout(StrEnum):
    """A timeout that a client is configured with; the values are fields of a scenario's member."""

    SESSION = "session_timeout_ms"
    REBALANCE = "rebalance_timeout_ms"
    REQUEST = "request_timeout_ms"


class Wait(NamedTuple):
    """So long a client waits for an answer: one of its timeouts, and a time on top of it."""

    timeout: Timeout
    grace_ms: int = 0


JAVA_JOIN = (Wait(Timeout.REBALANCE, 5000), Wait(Timeout.REQUEST))
"""Of Java's client, kafka-python and kafkajs."""
FOR_A_REQUEST = (Wait(Timeout.REQUEST),)


class Beats(StrEnum):
    """When a client sends heartbeats that has sent SyncGroup."""

    MEANWHILE = "meanwhile"
    """An interval after the answer to JoinGroup, though it waits for that to SyncGroup; and when it
    has heard nothing for a session timeout, it opens another connection."""
    WHEN_DUE = "when due"
    """While it waits it sends none, and looks for nothing else. What falls due meanwhile follows
    the answer."""
    AT_ONCE = "at once"
    """The same, but one always follows the answer."""
    ANEW = "anew"
    """The same, but the first one follows an interval after the answer."""


class Unanswered(StrEnum):
    """What a client does when it has waited long enough, or has lost its connection."""

    JOINS = "joins again"
    """It joins again as the member that it is, and keeps what it has."""
    NEW_AT_FIRST = "new at first"
    """The same; but before its first assignment it starts anew, without its member id and without
    a LeaveGroup (kafkajs)."""
    REVOKES = "revokes"
    """It ends its session, which takes all it has in peace, and joins again as the member that it
    is (Sarama)."""
    LOSES = "loses"
    """It sends the same request again as long as that can be answered within a session timeout of
    the first time. Then it gives up all it has as lost, and joins again as the member that it is
    (franz-go)."""
