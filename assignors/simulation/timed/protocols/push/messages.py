"""Requests and responses of the push protocol, with the fields that decide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import NamedTuple

from wire import TopicPartitions

Partition = tuple[str, int]
Grants = Mapping[Partition, int]
"""Partition -> the number of its grant; 0 where grants have no numbers."""


class PushError(IntEnum):
    """Why the coordinator refuses a request; Kafka's codes."""

    NONE = 0
    UNKNOWN_MEMBER_ID = 25
    GROUP_MAX_SIZE_REACHED = 81


class JoinGroup(NamedTuple):
    """A new member joins, or one that is known changes its subscription."""

    client_id: str
    member_id: str
    """Empty for a new member."""
    topics: tuple[str, ...]
    rack_id: str | None
    session_timeout_ms: int
    rebalance_timeout_ms: int


class JoinGroupResponse(NamedTuple):
    """The member's id."""

    error: PushError
    member_id: str = ""


class Heartbeat(NamedTuple):
    """A member is alive and has the assignment of this version."""

    member_id: str
    version: int


class AwaitAssignment(NamedTuple):
    """A heartbeat that is answered once there is news after this version: the way to push."""

    member_id: str
    version: int


class HeartbeatResponse(NamedTuple):
    """What has changed for a member since the version that it has; if nothing has, all defaults."""

    error: PushError = PushError.NONE
    version: int = 0
    epoch: int = 0
    """The group epoch."""
    assigned: Grants | None = None
    """All that it may consume; `None`: nothing has changed."""
    removed: Grants = MappingProxyType({})
    """What it has to give up, until its notification arrives."""


class PartitionCommittedNotification(NamedTuple):
    """A member has given up partitions and has committed their offsets."""

    member_id: str
    partitions: Grants


class PartitionCommittedResponse(NamedTuple):
    """The notification has arrived."""

    error: PushError = PushError.NONE


class LeaveGroup(NamedTuple):
    """A member leaves; it has given up everything."""

    member_id: str


class LeaveGroupResponse(NamedTuple):
    """The member has left."""

    error: PushError = PushError.NONE


class Fetch(NamedTuple):
    """A member's fetches, all of them up to the next one that is refused: that one is answered."""

    member_id: str


class FetchResponse(NamedTuple):
    """A fetch is refused for these partitions."""

    refused: Grants
    error: PushError = PushError.NONE


Request = (
    JoinGroup | Heartbeat | AwaitAssignment | PartitionCommittedNotification | LeaveGroup | Fetch
)
Response = (
    JoinGroupResponse
    | HeartbeatResponse
    | PartitionCommittedResponse
    | LeaveGroupResponse
    | FetchResponse
)


def by_topic(partitions: Iterable[Partition]) -> TopicPartitions:
    """Return partitions as topic -> numbers, both sorted.

    >>> by_topic([("u", 1), ("t", 3), ("u", 0)])
    {'t': (3,), 'u': (0, 1)}
    """
    found: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        found.setdefault(topic, []).append(number)
    return {topic: tuple(numbers) for topic, numbers in found.items()}
