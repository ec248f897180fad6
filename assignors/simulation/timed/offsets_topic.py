"""Records of groups as bytes of `__consumer_offsets`, as a broker writes them, and back.

`replay` reads a run that is written so like the log of a real cluster: what it finds can be held
against the ledger, which knows who really consumed what.

Records name topics by their ids, groups by their names: `TopicNames` knows both. Of share and
streams groups, which nobody plays here, there are no records to make: `read_record` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from assignors.model import Cluster
from assignors.server.spec import made_id
from assignors.simulation.timed.protocols.effects import MILLISECOND, Record
from assignors.simulation.timed.protocols.kafka.messages import Protocol
from assignors.simulation.timed.protocols.kafka.records import (
    ClassicMetadata,
    CurrentRecord,
    EpochsByPartition,
    GroupEpochRecord,
    GroupRecord,
    GroupTombstone,
    GroupTopicsTombstone,
    MemberRecord,
    OffsetRecord,
    PatternRecord,
    RecordedMember,
    TargetEpochRecord,
    TargetRecord,
    is_transactional,
)
from assignors.simulation.timed.protocols.kafka.restore import Restored, apply
from wire import ErrorKind, WireError
from wire.layout import NO_ID
from wire.records import decode_record, encode_key, encode_value

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


UNNAMED = "id:"
"""Stands before the id of a topic whose name is not known; no topic is called so."""
OFFSETS = frozenset({"OFFSET_COMMIT", "LEGACY_OFFSET_COMMIT"})
NAMES_OF_STATES = {number: name for name, number in STATES.items()}
NO_CLASSIC_METADATA = {"sessionTimeoutMs": 0, "supportedProtocols": ()}
"""What a member's record has where the tag is not there; `null` is another thing."""
Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TopicNames:
    """Which topic has which id."""

    ids: Mapping[str, str] = field(default_factory=dict)
    """Name -> id, 22 characters of base64url; a topic that is not here has the id that is made of
    its name (`made_id`)."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Id -> name."""

    @classmethod
    def of(cls, ids: Mapping[str, str]) -> TopicNames:
        """Return the names for these ids, by name. Cost: O(topics)."""
        return cls(dict(ids), {topic_id: name for name, topic_id in ids.items()})

    @classmethod
    def of_cluster(cls, cluster: Cluster) -> TopicNames:
        """Return the names of a cluster's topics. Cost: O(topics)."""
        return cls.of(
            {name: topic.topic_id or made_id(name) for name, topic in cluster.topics.items()}
        )

    def name_of(self, topic_id: str) -> str:
        """Return the name of a topic; one that is not known is called by its id."""
        return self.names.get(topic_id) or UNNAMED + topic_id

    def id_of(self, name: str) -> str:
        """Return the id of a topic.

        >>> names = TopicNames.of({"orders": "AAAAAAAAAAAAAAAAAAAABQ"})
        >>> names.id_of(names.name_of("AAAAAAAAAAAAAAAAAAAABg"))
        'AAAAAAAAAAAAAAAAAAAABg'
        """
        if name.startswith(UNNAMED):
            return name.removeprefix(UNNAMED)
        return self.ids.get(name) or made_id(name)


class GroupsRecord(NamedTuple):
    """A record, and whose it is."""

    group: str
    record: Record


def read_record(key: bytes | None, value: bytes | None, topics: TopicNames) -> GroupsRecord:
    """Return the record in these bytes; `value` is `None` for a tombstone.

    Raises `WireError` for what cannot be read, for types that are not known, and for records of
    groups that are not played. Cost: O(bytes).
    """
    found = decode_record(key, value, keep_bytes=False)
    if found.error is not None:
        raise found.error
    assert found.key is not None
    read = READERS.get(found.name)
    if read is None:
        raise WireError(ErrorKind.UNKNOWN_TYPE, f"key: {found.name} is of no group that is played")
    group = found.key["group" if found.name in OLD_KEYS else "groupId"]
    return GroupsRecord(group, read(found.key, found.value, topics))


def group_of(key: bytes | None) -> str | None:
    """Return the group that a key is about; `None` where it cannot be read, or names none."""
    fields = decode_record(key, None, keep_bytes=False).key or {}
    name = fields.get("group", fields.get("groupId"))
    return name if isinstance(name, str) else None


def is_offset(key: bytes) -> bool:
    """Return whether a key is that of a committed offset. Cost: O(1)."""
    return key[:2] in {b"\0\0", b"\0\1"}


def topic_ids(records: Iterable[tuple[bytes | None, bytes | None]]) -> dict[str, str]:
    """Return the ids of topics that committed offsets name with them. Cost: O(bytes).

    No other record has both. Where a topic was created anew its newest id counts.
    """
    found: dict[str, str] = {}
    for key, value in records:
        if key is not None and value is not None and is_offset(key):
            read = decode_record(key, value, keep_bytes=False)
            topic_id = (read.value or {}).get("topicId", NO_ID)
            if read.key is not None and topic_id != NO_ID:
                found[read.key["topic"]] = topic_id
    return found


# A function for each type of record: key, value, names of topics -> record


def _read_offset(key: Fields, value: Fields | None, _: TopicNames) -> Record:
    if value is None:
        return OffsetRecord(key["topic"], key["partition"], None)
    return OffsetRecord(key["topic"], key["partition"], value["offset"], value["commitTimestamp"])


def _read_classic(_key: Fields, value: Fields | None, _: TopicNames) -> Record:
    if value is None:
        return GroupTombstone()
    return GroupRecord(
        generation=value["generation"],
        protocol_type=value["protocolType"] or None,
        protocol=value["protocol"],
        leader=value["leader"],
        members=tuple(map(_read_classic_member, value["members"])),
        since_ms=value.get("currentStateTimestamp", -1),
    )


def _read_classic_member(value: Fields) -> RecordedMember:
    rebalance, session = value.get("rebalanceTimeout", -1), value["sessionTimeout"]
    return RecordedMember(
        member_id=value["memberId"],
        instance_id=value.get("groupInstanceId"),
        client_id=value["clientId"],
        session_timeout_ms=session,
        rebalance_timeout_ms=session if rebalance == -1 else rebalance,
        subscription=value["subscription"],
        assignment=value["assignment"],
    )


def _read_epoch(_key: Fields, value: Fields | None, _: TopicNames) -> Record:
    return GroupEpochRecord(None if value is None else value["epoch"])


def _read_partitions(_key: Fields, _value: Fields | None, _: TopicNames) -> Record:
    return GroupTopicsTombstone()  # what older brokers wrote there is not read any more


def _read_member(key: Fields, value: Fields | None, _: TopicNames) -> Record:
    if value is None:
        return MemberRecord(key["memberId"], None)
    classic = value.get("classicMemberMetadata", NO_CLASSIC_METADATA)
    return MemberRecord(
        member_id=key["memberId"],
        topics=tuple(value["subscribedTopicNames"]),
        instance_id=value["instanceId"],
        rebalance_timeout_ms=value["rebalanceTimeoutMs"],
        rack_id=value["rackId"],
        client_id=value["clientId"],
        pattern=value["subscribedTopicRegex"] or "",
        assignor=value["serverAssignor"],
        classic=None
        if classic is None
        else ClassicMetadata(
            classic["sessionTimeoutMs"],
            tuple(
                Protocol(each["name"], each["metadata"]) for each in classic["supportedProtocols"]
            ),
        ),
    )


def _read_target_epoch(_key: Fields, value: Fields | None, _: TopicNames) -> Record:
    if value is None:
        return TargetEpochRecord(None)
    return TargetEpochRecord(value["assignmentEpoch"], value.get("assignmentTimestamp", 0))


def _read_target(key: Fields, value: Fields | None, topics: TopicNames) -> Record:
    if value is None:
        return TargetRecord(key["memberId"], None)
    partitions = {
        topics.name_of(each["topicId"]): tuple(each["partitions"])
        for each in value["topicPartitions"]
    }
    return TargetRecord(key["memberId"], partitions)


def _read_current(key: Fields, value: Fields | None, topics: TopicNames) -> Record:
    if value is None:
        return CurrentRecord(key["memberId"])
    epoch, number = value["memberEpoch"], value["state"]
    if number not in NAMES_OF_STATES:
        text = f"value: no state of a member has the number {number}"
        raise WireError(ErrorKind.UNKNOWN_TYPE, text)
    return CurrentRecord(
        member_id=key["memberId"],
        epoch=epoch,
        previous_epoch=value["previousMemberEpoch"],
        state=NAMES_OF_STATES[number],
        assigned=_read_with_epochs(value["assignedPartitions"], epoch, topics),
        revoking=_read_with_epochs(value["partitionsPendingRevocation"], epoch, topics),
    )


def _read_with_epochs(listed: list[Fields], epoch: int, topics: TopicNames) -> EpochsByPartition:
    """Return the epoch of each partition; that of the member where the record has none (KIP-1251).

    Source: `Utils.assignmentFromTopicPartitions` of Kafka 4.4.
    """
    found: dict[str, dict[int, int]] = {}
    for each in listed:
        numbers, epochs = each["partitions"], each.get("assignmentEpochs")
        if epochs is None or len(epochs) != len(numbers):
            epochs = [max(epoch, 0)] * len(numbers)
        found[topics.name_of(each["topicId"])] = dict(zip(numbers, epochs, strict=True))
    return found


def _read_pattern(key: Fields, value: Fields | None, _: TopicNames) -> Record:
    if value is None:
        return PatternRecord(key["regularExpression"])
    return PatternRecord(
        key["regularExpression"], tuple(value["topics"]), value["version"], value["timestamp"]
    )


OLD_KEYS = OFFSETS | {"GROUP_METADATA"}
"""Their keys call a group `group`, not `groupId`."""
READERS: dict[str, Callable[[Fields, Fields | None, TopicNames], Record]] = {
    "LEGACY_OFFSET_COMMIT": _read_offset,
    "OFFSET_COMMIT": _read_offset,
    "GROUP_METADATA": _read_classic,
    "CONSUMER_GROUP_METADATA": _read_epoch,
    "CONSUMER_GROUP_PARTITION_METADATA": _read_partitions,
    "CONSUMER_GROUP_MEMBER_METADATA": _read_member,
    "CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA": _read_target_epoch,
    "CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER": _read_target,
    "CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT": _read_current,
    "CONSUMER_GROUP_REGULAR_EXPRESSION": _read_pattern,
}
"""Name of a record type -> its reader. A type more is a function and a row."""


class Odd(NamedTuple):
    """A record that is left out, and why."""

    offset: int
    reason: str


class ReadLog(NamedTuple):
    """What the log of a partition contains."""

    groups: dict[str, Restored]
    """The groups that its records make, by name: as of its end."""
    odd: list[Odd]


def read_log(log: Iterable[LogEntry], topics: TopicNames) -> ReadLog:
    """Return what the records of one partition contain; they come in order.

    A record that cannot be read, or of which no group can be made, is named with its offset, and
    left out: the records around it count as they would without it. Kafka's own loader leaves out
    what has a type that it does not know, and gives up the partition at everything else.
    Cost: O(bytes).
    """
    groups: dict[str, Restored] = {}
    odd: list[Odd] = []
    for row in log:
        try:
            name, record = read_record(row.key, row.value, topics)
            apply(groups.setdefault(name, Restored()), record)
        except (WireError, ValueError) as error:
            odd.append(Odd(row.offset, str(error)))
    return ReadLog(groups, odd)
