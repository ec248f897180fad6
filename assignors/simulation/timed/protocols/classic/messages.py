"""Requests, responses and the record of the classic protocol, with the fields that decide.

Names are those of Kafka's messages. Times are milliseconds, as on the wire. What decides nothing
here (throttle times, reasons, topic ids) is left out.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

UNKNOWN_MEMBER_ID = ""
NO_GENERATION_ID = -1
CONSUMER = "consumer"
"""The protocol type of consumers; Connect has another one."""
SKIPS_ASSIGNMENT = 9
"""From this version of JoinGroup on a static leader that comes back hears that it leads, and that
it need not assign (KIP-814)."""


class ErrorCode(IntEnum):
    """Kafka's error codes that a group coordinator answers."""

    UNKNOWN_SERVER_ERROR = -1
    """Where Kafka throws: for an id that was given to a dynamic member and comes with an instance
    id."""
    NONE = 0
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    UNKNOWN_MEMBER_ID = 25
    REBALANCE_IN_PROGRESS = 27
    MEMBER_ID_REQUIRED = 79
    GROUP_MAX_SIZE_REACHED = 81
    FENCED_INSTANCE_ID = 82


class Protocol(NamedTuple):
    """An assignor that a member supports, and its Subscription under it."""

    name: str
    metadata: bytes


class JoinGroup(NamedTuple):
    """JoinGroup, versions 4 to 9: a new dynamic member is first given an id."""

    client_id: str
    member_id: str
    instance_id: str | None
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[Protocol, ...]
    protocol_type: str = CONSUMER
    version: int = SKIPS_ASSIGNMENT


class JoinedMember(NamedTuple):
    """A member as the leader is told of it."""

    member_id: str
    instance_id: str | None
    metadata: bytes


class JoinGroupResponse(NamedTuple):
    """The answer to JoinGroup; `members` is empty for followers."""

    error: ErrorCode
    member_id: str
    generation: int = NO_GENERATION_ID
    protocol: str | None = None
    leader: str = ""
    members: tuple[JoinedMember, ...] = ()
    skip_assignment: bool = False


class SyncGroup(NamedTuple):
    """SyncGroup; `assignments` is (member id, Assignment bytes) pairs, empty but for the leader."""

    member_id: str
    instance_id: str | None
    generation: int
    protocol: str | None = None
    assignments: tuple[tuple[str, bytes], ...] = ()
    protocol_type: str | None = CONSUMER


class SyncGroupResponse(NamedTuple):
    """The answer to SyncGroup."""

    error: ErrorCode
    assignment: bytes = b""
    protocol: str | None = None


class Heartbeat(NamedTuple):
    """Heartbeat of a classic member."""

    member_id: str
    instance_id: str | None
    generation: int


class HeartbeatResponse(NamedTuple):
    """The answer to Heartbeat."""

    error: ErrorCode


class LeaveGroup(NamedTuple):
    """LeaveGroup of one member; with an empty member id it is removed by its instance id."""

    member_id: str
    instance_id: str | None = None


class LeaveGroupResponse(NamedTuple):
    """The answer to LeaveGroup, for its one member."""

    error: ErrorCode


class RecordedMember(NamedTuple):
    """A member in the record of its group."""

    member_id: str
    instance_id: str | None
    client_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    subscription: bytes
    """Under the chosen protocol."""
    assignment: bytes


class GroupRecord(NamedTuple):
    """The record of a classic group: everything that the next coordinator has to know."""

    generation: int
    protocol_type: str | None
    protocol: str | None
    leader: str | None
    members: tuple[RecordedMember, ...]
    since_ms: int = -1
    """When the group came into its state, by the broker's clock; -1: the group's own steps have no
    clock, only who keeps its offsets has one."""


class GroupTombstone(NamedTuple):
    """The record that deletes a classic group."""


Request = JoinGroup | SyncGroup | Heartbeat | LeaveGroup
Response = JoinGroupResponse | SyncGroupResponse | HeartbeatResponse | LeaveGroupResponse
