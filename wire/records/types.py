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


NAMES = {
    0: "LEGACY_OFFSET_COMMIT",
    1: "OFFSET_COMMIT",
    2: "GROUP_METADATA",
    3: "CONSUMER_GROUP_METADATA",
    4: "CONSUMER_GROUP_PARTITION_METADATA",
    5: "CONSUMER_GROUP_MEMBER_METADATA",
    6: "CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA",
    7: "CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER",
    8: "CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT",
    10: "SHARE_GROUP_MEMBER_METADATA",
    11: "SHARE_GROUP_METADATA",
    12: "SHARE_GROUP_TARGET_ASSIGNMENT_METADATA",
    13: "SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER",
    14: "SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT",
    15: "SHARE_GROUP_STATE_PARTITION_METADATA",
    16: "CONSUMER_GROUP_REGULAR_EXPRESSION",
    17: "STREAMS_GROUP_METADATA",
    19: "STREAMS_GROUP_MEMBER_METADATA",
    20: "STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA",
    21: "STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER",
    22: "STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT",
    23: "STREAMS_GROUP_TOPOLOGY",
}
"""Number -> name in `CoordinatorRecordType`. A new type is a row here and two layouts in its file:
that of its value under this name, that of its key under this name with `_KEY` behind it."""

_FILES = (offset_commit, classic_group, consumer_group, share_group, streams_group)
_LAYOUTS: dict[str, Layout] = {
    name: layout
    for file in _FILES
    for name, layout in vars(file).items()
    if isinstance(layout, Layout)
}

RECORD_TYPES = tuple(
    RecordType(number, name, _LAYOUTS[f"{name}_KEY"], _LAYOUTS[name])
    for number, name in NAMES.items()
)
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
