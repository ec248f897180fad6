"""The heartbeat of the consumer group protocol and its response.

In a request `None` means "as before": a member repeats nothing that has not changed.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from wire import TopicPartitions

LEAVE_EPOCH = -1
"""The member epoch of a member that leaves."""
STATIC_LEAVE_EPOCH = -2
"""The member epoch of a static member that leaves and will come back."""


class ConsumerError(IntEnum):
    """Kafka's error codes that a consumer group's coordinator answers."""

    UNKNOWN_SERVER_ERROR = -1
    """Where Kafka throws: it converts a classic group that has chosen no assignor yet."""
    NONE = 0
    UNKNOWN_MEMBER_ID = 25
    GROUP_ID_NOT_FOUND = 69
    GROUP_MAX_SIZE_REACHED = 81
    FENCED_INSTANCE_ID = 82
    FENCED_MEMBER_EPOCH = 110
    UNRELEASED_INSTANCE_ID = 111
    UNSUPPORTED_ASSIGNOR = 112
    INVALID_REGULAR_EXPRESSION = 128


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

    error: ConsumerError
    member_id: str = ""
    epoch: int = 0
    assignment: TopicPartitions | None = None
