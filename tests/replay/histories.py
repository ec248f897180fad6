"""Records of groups that were never there, made by our own encoders; and those that were.

`classic` and the functions below it write one record each, so that a test reads as the log
would. Times are small numbers, offsets follow the order of the list.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assignors.replay.decode.logged_records import LoggedRecord
from wire import (
    Subscription,
    TopicPartitions,
    encode_assignment,
    encode_subscription,
)
from wire.records import decode_record, encode_key, encode_value

DATA = Path(__file__).parent / "data"

TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAA{}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Says:
    """What a classic member says and gets, as a test writes it down."""

    gets: TopicPartitions = field(default_factory=dict)
    topics: tuple[str, ...] = ("t",)
    owns: TopicPartitions = field(default_factory=dict)
    generation: int = -1
    instance_id: str | None = None
    client_id: str = "client"
    host: str = "/10.0.0.1"
    subscription: bytes | None = None
    """Bytes instead of all that it says."""
    assignment: bytes | None = None
    """Bytes instead of what it gets."""


def captured(name: str) -> list[LoggedRecord]:
    """The records of a file in `data`."""
    with gzip.open(DATA / f"{name}.jsonl.gz") as lines:
        return [_entry(json.loads(line)) for line in lines]


def state() -> dict[str, Any]:
    """What the broker of `real` said of its groups."""
    found: dict[str, Any] = json.loads(gzip.decompress((DATA / "real.state.json.gz").read_bytes()))
    return found


def in_order(entries: Iterable[LoggedRecord], partition: int = 0) -> list[LoggedRecord]:
    """The entries with offsets, as a partition has them."""
    return [replace(e, partition=partition, offset=offset) for offset, e in enumerate(entries)]


def classic(
    at_ms: int,
    generation: int,
    members: Mapping[str, Says],
    *,
    group: str = "g",
    protocol: str | None = "range",
    protocol_type: str = "consumer",
    leader: str | None = None,
    state_ms: int = -1,
) -> LoggedRecord:
    """A GROUP_METADATA record; the first member leads."""
    value = {
        "protocolType": protocol_type,
        "generation": generation,
        "protocol": protocol if members else None,
        "leader": leader or next(iter(members), None),
        "currentStateTimestamp": state_ms,
        "members": [_member(member_id, says) for member_id, says in members.items()],
    }
    return record(at_ms, "GROUP_METADATA", {"group": group}, value, version=3)


def gone(at_ms: int, *, group: str = "g") -> LoggedRecord:
    """The tombstone of a classic group."""
    return record(at_ms, "GROUP_METADATA", {"group": group}, None)


def commit(
    at_ms: int,
    topic: str,
    partition: int,
    offset: int | None,
    *,
    group: str = "g",
    topic_id: str | None = None,
) -> LoggedRecord:
    """An OFFSET_COMMIT record, or the tombstone of one."""
    key = {"group": group, "topic": topic, "partition": partition}
    if offset is None:
        return record(at_ms, "OFFSET_COMMIT", key, None)
    value = {
        "offset": offset,
        "leaderEpoch": -1,
        "metadata": "",
        "commitTimestamp": at_ms,
        **({} if topic_id is None else {"topicId": topic_id}),
    }
    return record(at_ms, "OFFSET_COMMIT", key, value, version=3 if topic_id is None else 4)


def epoch(at_ms: int, number: int | None, *, group: str = "g") -> LoggedRecord:
    """A CONSUMER_GROUP_METADATA record, or its tombstone."""
    value = None if number is None else {"epoch": number}
    return record(at_ms, "CONSUMER_GROUP_METADATA", {"groupId": group}, value)


def member(
    at_ms: int, member_id: str, topics: tuple[str, ...] | None, *, group: str = "g", regex: str = ""
) -> LoggedRecord:
    """A CONSUMER_GROUP_MEMBER_METADATA record, or its tombstone."""
    value = None
    if topics is not None:
        value = {
            "instanceId": None,
            "rackId": None,
            "clientId": f"client-{member_id}",
            "clientHost": "/10.0.0.1",
            "subscribedTopicNames": list(topics),
            "subscribedTopicRegex": regex,
            "rebalanceTimeoutMs": 1000,
            "serverAssignor": None,
        }
    key = {"groupId": group, "memberId": member_id}
    return record(at_ms, "CONSUMER_GROUP_MEMBER_METADATA", key, value)


def target(at_ms: int, number: int, *, group: str = "g") -> LoggedRecord:
    """A CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA record."""
    value = {"assignmentEpoch": number}
    return record(at_ms, "CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA", {"groupId": group}, value)


def target_of(
    at_ms: int, member_id: str, share: TopicPartitions | None, *, group: str = "g"
) -> LoggedRecord:
    """A CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER record, or its tombstone; topics are ids."""
    value = None if share is None else {"topicPartitions": _by_id(share)}
    key = {"groupId": group, "memberId": member_id}
    return record(at_ms, "CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER", key, value)


def current(
    at_ms: int,
    member_id: str,
    member_epoch: int,
    share: TopicPartitions | None,
    *,
    group: str = "g",
    state: int = 0,
    revoking: TopicPartitions | None = None,
) -> LoggedRecord:
    """A CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT record, or its tombstone; topics are ids."""
    value = None
    if share is not None:
        value = {
            "memberEpoch": member_epoch,
            "previousMemberEpoch": member_epoch - 1,
            "state": state,
            "assignedPartitions": _by_id(share),
            "partitionsPendingRevocation": _by_id(revoking or {}),
        }
    key = {"groupId": group, "memberId": member_id}
    return record(at_ms, "CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT", key, value)


def record(
    at_ms: int, name: str, key: Mapping[str, Any], value: Mapping[str, Any] | None, version: int = 0
) -> LoggedRecord:
    """Any record, through our own bytes."""
    blob = None if value is None else encode_value(name, version, value)
    read = decode_record(encode_key(name, key), blob)
    assert read.error is None, read.error
    return LoggedRecord(record=read, at_ms=at_ms)


def _member(member_id: str, says: Says) -> dict[str, Any]:
    said = Subscription(topics=says.topics, owned=says.owns, generation=says.generation)
    return {
        "memberId": member_id,
        "groupInstanceId": says.instance_id,
        "clientId": says.client_id,
        "clientHost": says.host,
        "rebalanceTimeout": 30_000,
        "sessionTimeout": 6_000,
        "subscription": encode_subscription(said)
        if says.subscription is None
        else says.subscription,
        "assignment": encode_assignment(says.gets) if says.assignment is None else says.assignment,
    }


def _by_id(share: TopicPartitions) -> list[dict[str, Any]]:
    return [{"topicId": topic, "partitions": list(numbers)} for topic, numbers in share.items()]


def _entry(fields: Mapping[str, Any]) -> LoggedRecord:
    value = fields["value"]
    return LoggedRecord(
        record=decode_record(b64decode(fields["key"]), None if value is None else b64decode(value)),
        at_ms=fields["timestamp"],
        partition=fields["partition"],
        offset=fields["offset"],
    )
