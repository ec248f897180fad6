"""Raw records to decoded records, a batch of Arrow columns at a time.

Every row of the input is a row of the output, in the same order. Fields that all record types
have are columns of their own. A commit is in `commit`; a classic group is in `classic_group`, with
its members' bytes decoded. All other types are in `key_json` and `value_json` in the form of
Kafka's console formatter. A record that cannot be read has a reason in `error`, a code in
`error_kind`, and its bytes in `raw_key` and `raw_value`. `wire.records` reads each record, here as
in a replay.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from assignors.arrow.schemas import NOTES
from assignors.replay.decode.classic_groups import CLASSIC_GROUP, classic_groups
from assignors.replay.decode.logged_records import group_in
from assignors.replay.sources.arrow.batches import RAW, slices, uniform
from wire import ErrorKind
from wire.records import Record, decode_record
from wire.records.json_form import to_json

SLICE_BYTES = 16 << 20
"""Keys and values decoded at a time, in bytes."""

COORDINATES = ("topic", "partition", "offset", "timestamp", "timestampType", "transaction")
"""The columns of a source that the result has too."""

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
"""A commit. A tombstone has only topic and partition, which are in its key."""

DECODED = pa.schema(
    [
        *(RAW.field(name) for name in COORDINATES),
        ("type", pa.int32()),
        ("name", pa.string()),
        ("group", pa.string()),
        ("value_version", pa.int32()),
        ("is_tombstone", pa.bool_()),
        ("commit", COMMIT),
        ("classic_group", CLASSIC_GROUP),
        ("key_json", pa.string()),
        ("value_json", pa.string()),
        ("raw_key", pa.binary()),
        ("raw_value", pa.binary()),
        ("notes", NOTES),
        ("error", pa.string()),
        ("error_kind", pa.string()),
    ]
)
"""One row a record. `name` is Kafka's (`OFFSET_COMMIT`), `UNKNOWN` for a type it does not have."""

RECORD = pa.struct([field for field in DECODED if field.name not in COORDINATES])
"""A decoded record as one struct: `DECODED` without where the record was."""

COMMIT_TYPES = (0, 1)
CLASSIC_TYPE = 2

_COMMIT_FIELDS = {
    # name in Kafka's value -> ours
    "offset": "offset",
    "leaderEpoch": "leader_epoch",
    "metadata": "metadata",
    "commitTimestamp": "commit_timestamp_ms",
    "expireTimestamp": "expire_timestamp_ms",
    "topicId": "topic_id",
}


def decode_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the records of raw batches as batches of `DECODED`.

    Columns of `RAW` may be missing. Raises `SourceError` where one is of another kind.
    Memory: an input batch, and what `SLICE_BYTES` of it become.
    """
    for batch in batches:
        raw = uniform(batch, "decoding")
        for first, count, _ in slices(raw, SLICE_BYTES):
            yield decode_batch(raw.slice(first, count))


def decode_batch(raw: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch with the columns of `RAW` decoded: `DECODED`, row for row.

    >>> from assignors.replay.sources.arrow import batched
    >>> from assignors.replay.sources import Raw
    >>> [raw] = batched([Raw(key=bytes.fromhex("0002000167"), value=None)])
    >>> decode_batch(raw).select(["name", "group", "is_tombstone"]).to_pylist()
    [{'name': 'GROUP_METADATA', 'group': 'g', 'is_tombstone': True}]
    """
    keys, values, flaws = (raw.column(name).to_pylist() for name in ("key", "value", "error"))
    records = [
        decode_record(key, value) if flaw is None else None
        for key, value, flaw in zip(keys, values, flaws, strict=True)
    ]
    columns: dict[str, pa.Array] = {name: raw.column(name) for name in COORDINATES}
    groups = [_classic_group(record) for record in records]
    columns["classic_group"] = classic_groups(groups)
    rows = [_row(record, flaw) for record, flaw in zip(records, flaws, strict=True)]
    for field in DECODED:
        if field.name not in columns:
            columns[field.name] = pa.array([row.get(field.name) for row in rows], field.type)
    return pa.RecordBatch.from_arrays([columns[name] for name in DECODED.names], schema=DECODED)


def decoded_records(keys: pa.Array, values: pa.Array) -> pa.Array:
    """Return the records with these keys and values as `RECORD` structs, row for row.

    A null value is a tombstone; a record without a key, or one that cannot be read, has `error`.
    Raises `SourceError` where a column is neither binary nor text. Cost: as `decode_batch`.

    >>> keys = pa.array([bytes.fromhex("0002000167"), b""])
    >>> decoded = decoded_records(keys, pa.nulls(2, pa.binary()))
    >>> [(row["name"], row["group"], row["error"]) for row in decoded.to_pylist()]
    [('GROUP_METADATA', 'g', None), ('UNKNOWN', None, 'key: 0 bytes hold no type (byte 0)')]
    """
    # Spark takes a function for an aggregate unless its annotations say `pa.Array`.
    raw = pa.RecordBatch.from_arrays([keys, values], names=["key", "value"])
    decoded = pa.Table.from_batches(decode_batches([raw]), schema=DECODED).drop(COORDINATES)
    return pa.concat_arrays([pa.array([], RECORD), *decoded.to_struct_array().chunks])


def _row(record: Record | None, flaw: str | None) -> dict[str, Any]:
    """Return the columns of a record, without its coordinates and its classic group."""
    if record is None:
        return {"error": flaw, "error_kind": ErrorKind.TRUNCATED.value, "notes": []}
    is_plain = record.type in (*COMMIT_TYPES, CLASSIC_TYPE) or record.type is None
    has_json = not is_plain and record.key is not None
    return {
        "type": record.type,
        "name": record.name,
        "group": group_in(record.key),
        "value_version": record.value_version,
        "is_tombstone": record.is_tombstone,
        "commit": _commit(record),
        "key_json": _json(record.key) if has_json else None,
        "value_json": _json(record.value) if has_json else None,
        "raw_key": record.key_bytes if record.error else None,
        "raw_value": record.value_bytes if record.error else None,
        "notes": [
            {"code": note.code.value, "offset": note.offset, "text": note.text}
            for note in record.notes
        ],
        "error": None if record.error is None else str(record.error),
        "error_kind": None if record.error is None else record.error.kind.value,
    }


def _classic_group(record: Record | None) -> Mapping[str, Any] | None:
    is_classic = record is not None and record.type == CLASSIC_TYPE
    return record.value if record is not None and is_classic else None


def _commit(record: Record) -> dict[str, Any] | None:
    if record.type not in COMMIT_TYPES or record.key is None:
        return None
    value = record.value or {}
    fields = {ours: value.get(name) for name, ours in _COMMIT_FIELDS.items()}
    return {"topic": record.key["topic"], "partition": record.key["partition"], **fields}


def _json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(to_json(value), ensure_ascii=False)
