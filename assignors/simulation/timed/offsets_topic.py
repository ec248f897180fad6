"""A run as the records of `__consumer_offsets`, byte for byte as a broker writes them.

`replay` reads them like those of a real cluster, so what it finds can be held against the ledger,
which knows who really consumed what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from assignors.server.spec import made_id
from assignors.simulation.timed.protocols.effects import MILLISECOND, Record
from assignors.simulation.timed.protocols.kafka.records import (
    CurrentRecord,
    EpochsByPartition,
    GroupEpochRecord,
    GroupRecord,
    GroupTombstone,
    GroupTopicsTombstone,
    MemberRecord,
    OffsetRecord,
    PatternRecord,
    TargetEpochRecord,
    TargetRecord,
    is_transactional,
)
from wire.records import encode_key, encode_value

TOPIC = "__consumer_offsets"
STATES = {"Stable": 0, "UnrevokedPartitions": 1, "UnreleasedPartitions": 2}
HOST = "/127.0.0.1"
Parts = tuple[str, dict[str, Any], int, dict[str, Any] | None]
"""Name of the record type, key, version of the value, value or `None` for a tombstone."""


class LogEntry(NamedTuple):
    """A record as it stands in the log."""

    offset: int
    timestamp_ms: int
    """Since 1970."""
    key: bytes | None
    """`None` stands in no log that a broker writes, and may be in one that is read."""
    value: bytes | None


def log_entries(
    records: Iterable[tuple[int, Record]], *, group: str, starts_at_ms: int = 0
) -> Iterator[list[LogEntry]]:
    """Yield a run's records as they stand in the log: what is written at one moment is one batch.

    What a transaction has committed is left out: none of a run ends well, so no reader that skips
    aborted transactions sees it.
    `records` are (microseconds since the run began, record); `starts_at_ms` is when that was, in
    milliseconds since 1970. Cost: O(bytes).
    """
    offset = 0
    lasting = (each for each in records if not is_transactional(each[1]))
    for at_us, together in groupby(lasting, key=itemgetter(0)):
        batch = [
            LogEntry(
                number,
                starts_at_ms + at_us // MILLISECOND,
                *key_and_value(dated(record, starts_at_ms), group),
            )
            for number, (_, record) in enumerate(together, start=offset)
        ]
        offset += len(batch)
        yield batch


def dated(record: Record, starts_at_ms: int) -> Record:
    """Return a record of a run that began at `starts_at_ms`, its own times since 1970 as well.

    >>> dated(OffsetRecord("t", 0, 7, at_ms=250), 1_767_225_600_000).at_ms
    1767225600250
    """
    if isinstance(record, GroupRecord):
        is_known = record.since_ms >= 0
        return record._replace(since_ms=starts_at_ms + record.since_ms) if is_known else record
    if isinstance(record, OffsetRecord | TargetEpochRecord | PatternRecord):
        return record._replace(at_ms=starts_at_ms + record.at_ms)
    return record


def key_and_value(
    record: Record, group: str, topic_id: Callable[[str], str] = made_id
) -> tuple[bytes, bytes | None]:
    """Return the bytes of a record; the value is `None` for a tombstone.

    `topic_id` returns the id of a topic, 22 characters of base64url. Cost: O(bytes).
    """
    name, key, version, value = _parts(record, group, topic_id)
    written = None if value is None else encode_value(name, version, value)
    return encode_key(name, key), written


def _parts(record: Record, group: str, topic_id: Callable[[str], str]) -> Parts:  # noqa: PLR0911 - one for each type of record
    if isinstance(record, OffsetRecord):
        offset_key = {"group": group, "topic": record.topic, "partition": record.partition}
        return "OFFSET_COMMIT", offset_key, 4, _offset(record, topic_id)
    if isinstance(record, GroupRecord | GroupTombstone):
        value = _classic(record) if isinstance(record, GroupRecord) else None
        return "GROUP_METADATA", {"group": group}, 3, value
    key = {"groupId": group}
    if isinstance(record, PatternRecord):
        key["regularExpression"] = record.pattern
        return "CONSUMER_GROUP_REGULAR_EXPRESSION", key, 0, _pattern(record)
    if isinstance(record, GroupEpochRecord):
        value = None if record.epoch is None else {"epoch": record.epoch}
        return "CONSUMER_GROUP_METADATA", key, 0, value
    if isinstance(record, TargetEpochRecord):
        return "CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA", key, 0, _target_epoch(record)
    if isinstance(record, GroupTopicsTombstone):
        return "CONSUMER_GROUP_PARTITION_METADATA", key, 0, None
    key["memberId"] = record.member_id
    if isinstance(record, MemberRecord):
        return "CONSUMER_GROUP_MEMBER_METADATA", key, 0, _member(record)
    if isinstance(record, TargetRecord):
        return "CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER", key, 0, _target(record, topic_id)
    return "CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT", key, 0, _current(record, topic_id)


def _offset(record: OffsetRecord, topic_id: Callable[[str], str]) -> dict[str, Any] | None:
    if record.offset is None:
        return None
    return {
        "offset": record.offset,
        "leaderEpoch": -1,
        "metadata": "",
        "commitTimestamp": record.at_ms,
        "topicId": topic_id(record.topic),
    }


def _target_epoch(record: TargetEpochRecord) -> dict[str, Any] | None:
    if record.epoch is None:
        return None
    return {"assignmentEpoch": record.epoch, "assignmentTimestamp": record.at_ms}


def _target(record: TargetRecord, topic_id: Callable[[str], str]) -> dict[str, Any] | None:
    if record.partitions is None:
        return None
    return {
        "topicPartitions": [
            {"topicId": topic_id(topic), "partitions": list(numbers)}
            for topic, numbers in record.partitions.items()
        ]
    }


def _pattern(record: PatternRecord) -> dict[str, Any] | None:
    if record.topics is None:
        return None
    return {"topics": list(record.topics), "version": record.version, "timestamp": record.at_ms}


def _classic(record: GroupRecord) -> dict[str, Any]:
    return {
        "protocolType": record.protocol_type or "",
        "generation": record.generation,
        "protocol": record.protocol,
        "leader": record.leader,
        "currentStateTimestamp": record.since_ms,
        "members": [
            {
                "memberId": each.member_id,
                "groupInstanceId": each.instance_id,
                "clientId": each.client_id,
                "clientHost": HOST,
                "rebalanceTimeout": each.rebalance_timeout_ms,
                "sessionTimeout": each.session_timeout_ms,
                "subscription": each.subscription,
                "assignment": each.assignment,
            }
            for each in record.members
        ],
    }


def _member(record: MemberRecord) -> dict[str, Any] | None:
    if record.topics is None:
        return None
    return {
        "instanceId": record.instance_id,
        "rackId": record.rack_id,
        "clientId": record.client_id,
        "clientHost": HOST,
        "subscribedTopicNames": list(record.topics),
        "subscribedTopicRegex": record.pattern,
        "rebalanceTimeoutMs": record.rebalance_timeout_ms,
        "serverAssignor": record.assignor,
        "classicMemberMetadata": None
        if record.classic is None
        else {
            "sessionTimeoutMs": record.classic.session_timeout_ms,
            "supportedProtocols": [
                {"name": each.name, "metadata": each.metadata} for each in record.classic.protocols
            ],
        },
    }


def _current(record: CurrentRecord, topic_id: Callable[[str], str]) -> dict[str, Any] | None:
    if record.epoch is None:
        return None
    return {
        "memberEpoch": record.epoch,
        "previousMemberEpoch": record.previous_epoch,
        "state": STATES[record.state],
        "assignedPartitions": _with_epochs(record.assigned, topic_id),
        "partitionsPendingRevocation": _with_epochs(record.revoking, topic_id),
    }


def _with_epochs(held: EpochsByPartition, topic_id: Callable[[str], str]) -> list[dict[str, Any]]:
    return [
        {
            "topicId": topic_id(topic),
            "partitions": list(numbers),
            "assignmentEpochs": list(numbers.values()),
        }
        for topic, numbers in held.items()
    ]
