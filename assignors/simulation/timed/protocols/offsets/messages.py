"""Requests about committed offsets, their responses, and their records.

One partition's part of a request is (topic, partition, offset). A commit with a producer id belongs
to a transaction (TxnOffsetCommit): it counts once the transaction has ended well.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

Offset = tuple[str, int, int]
"""Topic, partition, offset of the next record to process."""
NO_OFFSET = -1
"""What a fetch answers where nothing is committed."""
NO_PRODUCER = -1
"""The producer id of what belongs to no transaction."""


class CommitError(IntEnum):
    """Kafka's error codes that a coordinator answers to requests about offsets."""

    NONE = 0
    ILLEGAL_GENERATION = 22
    UNKNOWN_MEMBER_ID = 25
    REBALANCE_IN_PROGRESS = 27
    UNSUPPORTED_VERSION = 35
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69
    FENCED_INSTANCE_ID = 82
    GROUP_SUBSCRIBED_TO_TOPIC = 86
    UNSTABLE_OFFSET_COMMIT = 88
    STALE_MEMBER_EPOCH = 113


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

    error: CommitError


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

    error: CommitError
    offsets: tuple[Offset, ...] = ()
    unstable: frozenset[tuple[str, int]] = frozenset()
    """Partitions with UNSTABLE_OFFSET_COMMIT: a transaction that commits them is open."""


class OffsetDelete(NamedTuple):
    """OffsetDelete: an administrator deletes committed offsets."""

    partitions: tuple[tuple[str, int], ...]


class OffsetDeleteResponse(NamedTuple):
    """The answer: the whole group's error, and the topics that are still subscribed to."""

    error: CommitError
    subscribed: frozenset[str] = frozenset()
    """Nothing of these is deleted: GROUP_SUBSCRIBED_TO_TOPIC."""


class OffsetRecord(NamedTuple):
    """OffsetCommit: a committed offset, `None` to delete it."""

    topic: str
    partition: int
    offset: int | None
    at_ms: int = 0
    """When it was committed, by the broker's clock."""
    producer_id: int = NO_PRODUCER


def is_transactional(record: object) -> bool:
    """Return whether a record of any kind counts only once its transaction has ended well."""
    return isinstance(record, OffsetRecord) and record.producer_id != NO_PRODUCER


Request = OffsetCommit | EndTransaction | OffsetFetch | OffsetDelete
Response = OffsetCommitResponse | OffsetFetchResponse | OffsetDeleteResponse
