"""Bytes of `__consumer_offsets` as the records of a group (`offsets_topic` writes them).

Records name topics by their ids, groups by their names: `TopicNames` knows both. Of share and
streams groups, which nobody plays here, there are no records to make: `read_record` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from assignors.model import Cluster
from assignors.server.spec import made_id
from assignors.simulation.timed.offsets_topic import STATES
from assignors.simulation.timed.protocols.effects import Record
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
)
from wire import ErrorKind, WireError
from wire.layout import NO_ID
from wire.records import decode_record

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


# A function for each type: key, value, names of topics -> record


def _offset(key: Fields, value: Fields | None, _: TopicNames) -> Record:
    if value is None:
        return OffsetRecord(key["topic"], key["partition"], None)
    return OffsetRecord(key["topic"], key["partition"], value["offset"], value["commitTimestamp"])


def _classic(_key: Fields, value: Fields | None, _: TopicNames) -> Record:
    if value is None:
        return GroupTombstone()
    return GroupRecord(
        generation=value["generation"],
        protocol_type=value["protocolType"] or None,
        protocol=value["protocol"],
        leader=value["leader"],
        members=tuple(map(_classic_member, value["members"])),
        since_ms=value.get("currentStateTimestamp", -1),
    )


def _classic_member(value: Fields) -> RecordedMember:
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


def _epoch(_key: Fields, value: Fields | None, _: TopicNames) -> Record:
    return GroupEpochRecord(None if value is None else value["epoch"])


def _partitions(_key: Fields, _value: Fields | None, _: TopicNames) -> Record:
    return GroupTopicsTombstone()  # what older brokers wrote there is not read any more


def _member(key: Fields, value: Fields | None, _: TopicNames) -> Record:
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


def _target_epoch(_key: Fields, value: Fields | None, _: TopicNames) -> Record:
    if value is None:
        return TargetEpochRecord(None)
    return TargetEpochRecord(value["assignmentEpoch"], value.get("assignmentTimestamp", 0))


def _target(key: Fields, value: Fields | None, topics: TopicNames) -> Record:
    if value is None:
        return TargetRecord(key["memberId"], None)
    partitions = {
        topics.name_of(each["topicId"]): tuple(each["partitions"])
        for each in value["topicPartitions"]
    }
    return TargetRecord(key["memberId"], partitions)


def _current(key: Fields, value: Fields | None, topics: TopicNames) -> Record:
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
        assigned=_with_epochs(value["assignedPartitions"], epoch, topics),
        revoking=_with_epochs(value["partitionsPendingRevocation"], epoch, topics),
    )


def _with_epochs(listed: list[Fields], epoch: int, topics: TopicNames) -> EpochsByPartition:
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


def _pattern(key: Fields, value: Fields | None, _: TopicNames) -> Record:
    if value is None:
        return PatternRecord(key["regularExpression"])
    return PatternRecord(
        key["regularExpression"], tuple(value["topics"]), value["version"], value["timestamp"]
    )


OLD_KEYS = OFFSETS | {"GROUP_METADATA"}
"""Their keys call a group `group`, not `groupId`."""
READERS: dict[str, Callable[[Fields, Fields | None, TopicNames], Record]] = {
    "LEGACY_OFFSET_COMMIT": _offset,
    "OFFSET_COMMIT": _offset,
    "GROUP_METADATA": _classic,
    "CONSUMER_GROUP_METADATA": _epoch,
    "CONSUMER_GROUP_PARTITION_METADATA": _partitions,
    "CONSUMER_GROUP_MEMBER_METADATA": _member,
    "CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA": _target_epoch,
    "CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER": _target,
    "CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT": _current,
    "CONSUMER_GROUP_REGULAR_EXPRESSION": _pattern,
}
"""Name of a record type -> its reader. A type more is a function and a row."""
