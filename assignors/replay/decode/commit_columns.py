"""Offset commits of a whole batch, decoded in columns with a few array operations.

Nearly every record of `__consumer_offsets` is a commit, and every commit has one of five
layouts. So the fields of all rows are read at once, at positions that follow from the lengths
in the rows themselves, and a row counts as read only if its last field ends exactly where its
bytes do. Any other (cut, longer, a null where none may be, unknown tags, text that is no UTF-8)
is left to `wire.records`, which handles every malformed case. Tests check that both read a plain
commit alike.

    key    type 2 | group 2 + n | topic 2 + n | partition 4
    value  version 2 | offset 8 | leader epoch 4 (3+) | metadata | commit time 8 |
           expire time 8 (1) | tags (4): none, or tag 0 with the topic id of 16 bytes

Metadata has a length of two bytes, in version 4 a varint. Source: KIP-848's
`OffsetCommitKey.json`, `OffsetCommitValue.json`.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from assignors.replay.decode.binary_columns import Bytes, Index, Mask, bytes_of, nulled

LEGACY_TYPE = 0
COMMIT_TYPE = 1

COMMIT = pa.struct(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("leader_epoch", pa.int32()),
        ("metadata", pa.string()),
        ("commit_timestamp_ms", pa.int64()),
        ("expire_timestamp_ms", pa.int64()),
        ("topic_id", pa.string()),
    ]
)
"""A commit; of a tombstone only topic and partition, which its key has."""

_ID_SIZE = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Commits:
    """The rows that are plain commits or tombstones of one, and what is in them."""

    rows: Index
    """Their places in the batch, ascending."""
    group: pa.Array
    version: npt.NDArray[np.int32]
    """Of the value; -1 for a tombstone."""
    commit: pa.StructArray
    """`COMMIT`, one element a row."""


def commit_columns(keys: pa.BinaryArray, values: pa.BinaryArray, candidates: Mask) -> Commits:
    """Return the commits among the `candidates`, rows whose key says type 0 or 1.

    Rows that are no plain commits are not in the result.
    Cost: O(rows + bytes), a constant number of array operations.
    """
    key = _keys(keys, np.flatnonzero(candidates))
    blobs = bytes_of(values)
    while True:
        value = _values(blobs.rows(key.rows), key.type)
        is_read = value.is_read | ~blobs.is_valid[key.rows]
        if is_read.all():
            metadata, is_bad = blobs.strings(value.metadata_at, value.metadata_length)
            is_read = ~is_bad
            if is_read.all():
                return _commits(key, value, blobs, metadata)
        key = key.of(is_read)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Keys:
    """Plain keys. All but the partition is the same in many, and is read once."""

    rows: Index
    type: Index
    partition: npt.NDArray[np.int32]
    prefix: Index
    """Which of the distinct prefixes each has."""
    group: pa.StringArray
    """Of each distinct prefix, as `topic`."""
    topic: pa.StringArray

    def of(self, chosen: Mask) -> _Keys:
        """Return some of the keys."""
        return replace(
            self,
            rows=self.rows[chosen],
            type=self.type[chosen],
            partition=self.partition[chosen],
            prefix=self.prefix[chosen],
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Values:
    is_read: Mask
    version: Index
    metadata_at: Index
    metadata_length: Index
    """0 where there is no value."""
    tail: Index
    """First byte behind the commit time."""
    has_topic_id: Mask


def _keys(keys: pa.BinaryArray, rows: Index) -> _Keys:
    """Return the plain ones among some of the keys."""
    if len(rows) < len(keys):
        keys = keys.take(pa.array(rows))
    places = bytes_of(keys)
    distinct = pc.binary_slice(keys, 0, -4).dictionary_encode()
    prefix = distinct.indices.fill_null(0).to_numpy()
    start = bytes_of(distinct.dictionary)
    group_length = start.int16(start.start + 2)
    topic_at = start.start + 4 + group_length + 2
    topic_length = start.int16(topic_at - 2)
    is_plain = (group_length >= 0) & (topic_length >= 0) & (topic_at + topic_length == start.end)
    group, is_bad_group = start.strings(start.start + 4, np.where(is_plain, group_length, 0))
    topic, is_bad_topic = start.strings(topic_at, np.where(is_plain, topic_length, 0))
    is_plain &= ~is_bad_group & ~is_bad_topic
    every = _Keys(
        rows=rows,
        type=places.int16(places.start),
        partition=places.int32(places.end - 4),
        prefix=prefix,
        group=group,
        topic=topic,
    )
    return every.of(places.is_valid & is_plain[prefix])


def _values(value: Bytes, key_type: Index) -> _Values:
    version = value.int16(value.start)
    length_at = value.start + 10 + 4 * (version >= 3)
    length = value.int16(length_at)
    metadata_at = length_at + 2
    is_flexible = version == 4
    if is_flexible.any():
        low = value.uint8(length_at)
        high = value.uint8(length_at + 1)
        is_short = low < 0x80
        compact = np.where(is_short, low, (low & 0x7F) | (high << 7)) - 1
        compact[~is_short & (high >= 0x80)] = -1  # longer than 16,383 bytes
        length = np.where(is_flexible, compact, length)
        metadata_at = np.where(is_flexible, length_at + 1 + ~is_short, metadata_at)
    tail = metadata_at + length + 8
    has_topic_id = is_flexible & (value.uint8(tail) == 1)
    has_topic_id &= (value.uint8(tail + 1) == 0) & (value.uint8(tail + 2) == 16)
    has_no_tags = is_flexible & (value.uint8(tail) == 0)
    end = tail + np.select([has_topic_id, has_no_tags, version == 1], [19, 1, 8], 0)
    is_read = value.is_valid & (version >= 0) & (length >= 0) & (end == value.end)
    is_read &= (version <= 4) & (~is_flexible | has_topic_id | has_no_tags)
    # Version 0 of the legacy type has the layout of version 0; it has no others.
    is_read &= (key_type == COMMIT_TYPE) | (version == 0)
    return _Values(
        is_read=is_read,
        version=np.where(value.is_valid, version, -1),
        metadata_at=metadata_at,
        metadata_length=np.where(value.is_valid, length, 0),
        tail=tail,
        has_topic_id=has_topic_id & value.is_valid,
    )


def _commits(key: _Keys, value: _Values, values: Bytes, metadata: pa.Array) -> Commits:
    start = values.start[key.rows]
    version = value.version
    is_gone = version < 0
    prefix = pa.array(key.prefix)
    columns = [
        key.topic.take(prefix),
        pa.array(key.partition),
        pa.array(values.int64(start + 2), mask=is_gone),
        pa.array(values.int32(start + 10), mask=version < 3),
        nulled(metadata, is_gone),
        pa.array(values.int64(value.tail - 8), mask=is_gone),
        pa.array(values.int64(value.tail), mask=version != 1),
        _topic_ids(values, value),
    ]
    return Commits(
        rows=key.rows,
        group=key.group.take(prefix),
        version=version.astype(np.int32),
        commit=pa.StructArray.from_arrays(columns, fields=list(COMMIT)),
    )


def _topic_ids(values: Bytes, value: _Values) -> pa.Array:
    """Return the ids as text, where there are any; Kafka leaves out an id of zeros too."""
    has_id = value.has_topic_id
    if not has_id.any():
        return pa.nulls(len(has_id), pa.string())
    ids = values.fixed(value.tail + 3, _ID_SIZE, has_id).dictionary_encode()
    # A topic's id stands in each of its commits: only distinct ones are written out.
    texts = pa.array([_uuid_text(found) for found in ids.dictionary.to_pylist()], pa.string())
    return texts.take(ids.indices)


def _uuid_text(found: bytes) -> str | None:
    return urlsafe_b64encode(found).rstrip(b"=").decode() if found.strip(b"\0") else None
