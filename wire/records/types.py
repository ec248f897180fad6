"""The record types of `__consumer_offsets`: number, name, layout of key and value.

The number is the int16 at the start of the key. 9 and 18 belonged to previews and are unknown to
Kafka 4.4; numbers from 24 on are not in use.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from wire.layout import Layout
from wire.layout.reading import Reader, compile_reader
from wire.layout.writing import Writer, compile_writer
from wire.records import classic_group, consumer_group, offset_commit, share_group, streams_group


@dataclass(frozen=True, slots=True)
class RecordType:
    """A record type: its number and name in `CoordinatorRecordType`, its tables."""

    number: int
    name: str
    key: Layout
    value: Layout


RECORD_TYPES = (
    RecordType(
        0,
        "LEGACY_OFFSET_COMMIT",
        offset_commit.LEGACY_OFFSET_COMMIT_KEY,
        offset_commit.LEGACY_OFFSET_COMMIT,
    ),
    RecordType(1, "OFFSET_COMMIT", offset_commit.OFFSET_COMMIT_KEY, offset_commit.OFFSET_COMMIT),
    RecordType(2, "GROUP_METADATA", classic_group.GROUP_METADATA_KEY, classic_group.GROUP_METADATA),
    RecordType(
        3,
        "CONSUMER_GROUP_METADATA",
        consumer_group.CONSUMER_GROUP_METADATA_KEY,
        consumer_group.CONSUMER_GROUP_METADATA,
    ),
    RecordType(
        4,
        "CONSUMER_GROUP_PARTITION_METADATA",
        consumer_group.CONSUMER_GROUP_PARTITION_METADATA_KEY,
        consumer_group.CONSUMER_GROUP_PARTITION_METADATA,
    ),
    RecordType(
        5,
        "CONSUMER_GROUP_MEMBER_METADATA",
        consumer_group.CONSUMER_GROUP_MEMBER_METADATA_KEY,
        consumer_group.CONSUMER_GROUP_MEMBER_METADATA,
    ),
    RecordType(
        6,
        "CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA",
        consumer_group.CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA_KEY,
        consumer_group.CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA,
    ),
    RecordType(
        7,
        "CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER",
        consumer_group.CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY,
        consumer_group.CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
    ),
    RecordType(
        8,
        "CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT",
        consumer_group.CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY,
        consumer_group.CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    ),
    RecordType(
        10,
        "SHARE_GROUP_MEMBER_METADATA",
        share_group.SHARE_GROUP_MEMBER_METADATA_KEY,
        share_group.SHARE_GROUP_MEMBER_METADATA,
    ),
    RecordType(
        11,
        "SHARE_GROUP_METADATA",
        share_group.SHARE_GROUP_METADATA_KEY,
        share_group.SHARE_GROUP_METADATA,
    ),
    RecordType(
        12,
        "SHARE_GROUP_TARGET_ASSIGNMENT_METADATA",
        share_group.SHARE_GROUP_TARGET_ASSIGNMENT_METADATA_KEY,
        share_group.SHARE_GROUP_TARGET_ASSIGNMENT_METADATA,
    ),
    RecordType(
        13,
        "SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER",
        share_group.SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY,
        share_group.SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER,
    ),
    RecordType(
        14,
        "SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT",
        share_group.SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY,
        share_group.SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    ),
    RecordType(
        15,
        "SHARE_GROUP_STATE_PARTITION_METADATA",
        share_group.SHARE_GROUP_STATE_PARTITION_METADATA_KEY,
        share_group.SHARE_GROUP_STATE_PARTITION_METADATA,
    ),
    RecordType(
        16,
        "CONSUMER_GROUP_REGULAR_EXPRESSION",
        consumer_group.CONSUMER_GROUP_REGULAR_EXPRESSION_KEY,
        consumer_group.CONSUMER_GROUP_REGULAR_EXPRESSION,
    ),
    RecordType(
        17,
        "STREAMS_GROUP_METADATA",
        streams_group.STREAMS_GROUP_METADATA_KEY,
        streams_group.STREAMS_GROUP_METADATA,
    ),
    RecordType(
        19,
        "STREAMS_GROUP_MEMBER_METADATA",
        streams_group.STREAMS_GROUP_MEMBER_METADATA_KEY,
        streams_group.STREAMS_GROUP_MEMBER_METADATA,
    ),
    RecordType(
        20,
        "STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA",
        streams_group.STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA_KEY,
        streams_group.STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA,
    ),
    RecordType(
        21,
        "STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER",
        streams_group.STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY,
        streams_group.STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER,
    ),
    RecordType(
        22,
        "STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT",
        streams_group.STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY,
        streams_group.STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    ),
    RecordType(
        23,
        "STREAMS_GROUP_TOPOLOGY",
        streams_group.STREAMS_GROUP_TOPOLOGY_KEY,
        streams_group.STREAMS_GROUP_TOPOLOGY,
    ),
)
"""A row each: a new record type is a row here and a table in its file."""

BY_NUMBER = {found.number: found for found in RECORD_TYPES}
BY_NAME = {found.name: found for found in RECORD_TYPES}


@cache
def key_reader(number: int) -> Reader:
    """Return the reader of a type's keys, put together when first asked for."""
    return compile_reader(BY_NUMBER[number].key, 0)


@cache
def value_reader(number: int, version: int) -> Reader:
    """Return the reader of one version of a type's values, likewise."""
    return compile_reader(BY_NUMBER[number].value, version)


@cache
def redpanda_reader(version: int) -> Reader:
    """Return the reader of GROUP_METADATA values as Redpanda writes them."""
    return compile_reader(classic_group.REDPANDA_GROUP_METADATA, version)


@cache
def key_writer(name: str) -> Writer:
    """Return the writer of a type's keys."""
    return compile_writer(BY_NAME[name].key, 0)


@cache
def value_writer(name: str, version: int) -> Writer:
    """Return the writer of one version of a type's values."""
    return compile_writer(BY_NAME[name].value, version)
