"""Requests and responses of Kafka's group protocols, with the fields that decide.

Names are those of Kafka's messages. Times are milliseconds, as on the wire. Fields that decide
nothing here (throttle times, reasons, topic ids) are left out.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from wire import TopicPartitions

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
    id, and for a classic group that is converted before it has chosen an assignor."""
    NONE = 0
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    UNKNOWN_MEMBER_ID = 25
    REBALANCE_IN_PROGRESS = 27
    UNSUPPORTED_VERSION = 35
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69
    MEMBER_ID_REQUIRED = 79
    GROUP_MAX_SIZE_REACHED = 81
    FENCED_INSTANCE_ID = 82
    GROUP_SUBSCRIBED_TO_TOPIC = 86
    UNSTABLE_OFFSET_COMMIT = 88
    FENCED_MEMBER_EPOCH = 110
    UNRELEASED_INSTANCE_ID = 111
    UNSUPPORTED_ASSIGNOR = 112
    STALE_MEMBER_EPOCH = 113
    INVALID_REGULAR_EXPRESSION = 128


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


ClassicRequest = JoinGroup | SyncGroup | Heartbeat | LeaveGroup
ClassicResponse = JoinGroupResponse | SyncGroupResponse | HeartbeatResponse | LeaveGroupResponse
LEAVE_EPOCH = -1
"""The member epoch of a member that leaves."""
STATIC_LEAVE_EPOCH = -2
"""The member epoch of a static member that leaves and will come back."""


class ConsumerHeartbeat(NamedTuple):
    """ConsumerGroupHeartbeat, version 1: the member chooses its id itself."""

    member_id: str
    epoch: int
    """0 to join, the epoch last received, or one of the two to leave."""
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    topics: tuple[str, ...] | None = None
    owned: TopicPartitions | None = None
    client_id: str = ""
    pattern: str | None = None
    """`SubscribedTopicRegex`; empty: none any more."""
    assignor: str | None = None
    """The broker's assignor that it would like, under Kafka's name: `uniform`."""

    @property
    def is_full(self) -> bool:
        """Whether everything is said: then the assignment is in the response."""
        is_subscribed = self.topics is not None or self.pattern is not None
        is_given = is_subscribed and self.owned is not None
        return self.epoch == 0 or (is_given and self.rebalance_timeout_ms != -1)


class ConsumerHeartbeatResponse(NamedTuple):
    """The answer; without `assignment` the one before stands."""

    error: ErrorCode
    member_id: str = ""
    epoch: int = 0
    assignment: TopicPartitions | None = None


Offset = tuple[str, int, int]
"""Topic, partition, offset of the next record to process."""
NO_OFFSET = -1
"""What a fetch answers where nothing is committed."""
NO_PRODUCER = -1
"""The producer id of what belongs to no transaction."""


class OffsetCommit(NamedTuple):
    """OffsetCommit, or TxnOffsetCommit where it has a producer id."""

    member_id: str
    generation: int
    """Generation or member epoch; -1 from a consumer that is in no group."""
    offsets: tuple[Offset, ...]
    instance_id: str | None = None
    producer_id: int = NO_PRODUCER
    version: int = 10

    @property
    def is_transactional(self) -> bool:
        """Whether it belongs to a transaction."""
        return self.producer_id != NO_PRODUCER


class OffsetCommitResponse(NamedTuple):
    """The answer to a commit: all of its partitions are committed, or none."""

    error: ErrorCode


class EndTransaction(NamedTuple):
    """The marker that a transaction has ended, as its coordinator writes it to the partition."""

    producer_id: int
    is_commit: bool


class OffsetFetch(NamedTuple):
    """OffsetFetch of one group's partitions."""

    partitions: tuple[tuple[str, int], ...]
    member_id: str | None = None
    epoch: int = -1
    """The member epoch, from members of a consumer group."""
    requires_stable: bool = False
    """Whether offsets of open transactions are to be waited for (`isolation.level`)."""


class OffsetFetchResponse(NamedTuple):
    """The answer: the offsets asked for, in that order, or why there are none."""

    error: ErrorCode
    offsets: tuple[Offset, ...] = ()
    unstable: frozenset[tuple[str, int]] = frozenset()
    """Partitions with UNSTABLE_OFFSET_COMMIT: a transaction that commits them is open."""


class OffsetDelete(NamedTuple):
    """OffsetDelete: an administrator deletes committed offsets."""

    partitions: tuple[tuple[str, int], ...]


class OffsetDeleteResponse(NamedTuple):
    """The answer: the whole group's error, and the topics that are still subscribed to."""

    error: ErrorCode
    subscribed: frozenset[str] = frozenset()
    """Nothing of these is deleted: GROUP_SUBSCRIBED_TO_TOPIC."""


OffsetsRequest = OffsetCommit | EndTransaction | OffsetFetch | OffsetDelete
OffsetsResponse = OffsetCommitResponse | OffsetFetchResponse | OffsetDeleteResponse
