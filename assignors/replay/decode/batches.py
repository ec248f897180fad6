"""Raw records to decoded records, a batch of Arrow columns at a time.

Every row of the input is a row of the output, in its order, whatever is in it. What is common
to all records stands in columns of its own; a commit is in `commit`, a classic group in
`classic_group` with its members' bytes decoded. All other types, twenty and seldom frequent, are
in `key_json` and `value_json` in the form of Kafka's console formatter. A record that could not
be read has a reason in `error` and its bytes in `raw_key` and `raw_value`.

Nearly every record is a commit: commits are decoded in columns (`commit_columns`). The rest, and
commits that are not plain, go through `wire.records` one by one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from assignors.arrow.schemas import NOTES
from assignors.replay.decode.binary_columns import (
    Bytes,
    Index,
    Mask,
    bytes_of,
    expanded,
    nulls,
    offsets_of,
)
from assignors.replay.decode.classic_groups import CLASSIC_GROUP, classic_groups
from assignors.replay.decode.commit_columns import COMMIT, COMMIT_TYPE, LEGACY_TYPE, commit_columns
from assignors.replay.sources.arrow.batches import RAW, slices, uniform
from wire.records import RECORD_TYPES, UNKNOWN, Record, decode_record
from wire.records.json_form import to_json

SLICE_BYTES = 16 << 20
"""A batch is decoded in slices of about so many bytes of keys and values."""

COORDINATES = ("topic", "partition", "offset", "timestamp", "timestampType", "transaction")
"""The columns of a source that the result has too."""

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
    ]
)
"""One row a record. `name` is Kafka's (`OFFSET_COMMIT`), `UNKNOWN` for a type it does not have."""

RECORD = pa.struct([field for field in DECODED if field.name not in COORDINATES])
"""A decoded record as one struct: `DECODED` without where the record was."""

CLASSIC_TYPE = 2

_NAMES = {found.number: found.name for found in RECORD_TYPES}
_NO_TYPE = -(1 << 31)
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
    keys, values = bytes_of(raw.column("key")), bytes_of(raw.column("value"))
    types = _types(keys)
    flaws = raw.column("error")
    is_record = flaws.is_null().to_numpy(zero_copy_only=False)
    is_commit = (types == COMMIT_TYPE) | (types == LEGACY_TYPE)
    commits = commit_columns(raw.column("key"), raw.column("value"), is_commit & is_record)
    is_rest = np.ones(raw.num_rows, np.bool_)
    is_rest[commits.rows] = False
    rest = _rest(raw, np.flatnonzero(is_rest))
    version = pa.array(commits.version, mask=commits.version < 0)
    columns: dict[str, pa.Array] = {name: raw.column(name) for name in COORDINATES}
    columns["type"] = pa.array(types, mask=types == _NO_TYPE)
    columns["name"] = _names(types, is_record)
    columns["is_tombstone"] = pa.array(~values.is_valid, mask=~is_record)
    columns["group"] = rest.beside(rest.groups(), (commits.group, commits.rows))
    columns["value_version"] = rest.beside(rest.versions(), (version, commits.rows))
    columns["commit"] = rest.beside(rest.commits(), (commits.commit, commits.rows))
    columns["classic_group"] = rest.spread(rest.classic_groups())
    columns["key_json"], columns["value_json"] = rest.json()
    columns["raw_key"], columns["raw_value"] = rest.raw()
    columns["notes"] = rest.notes()
    columns["error"] = rest.spread(pa.array(rest.errors, pa.string()))
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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rest:
    """The rows that were decoded one by one, and columns of the whole batch made of them."""

    row_count: int
    """Of the batch."""
    rows: Index
    records: Sequence[Record]
    """Empty ones where the source could not read the row."""
    errors: Sequence[str | None]

    def spread(self, column: pa.Array) -> pa.Array:
        """Return a column of these rows as one of the batch, null elsewhere."""
        return self.beside(column)

    def beside(self, column: pa.Array, *others: tuple[pa.Array, Index]) -> pa.Array:
        """Return a column of these rows, and others of other rows, as one of the batch."""
        parts = [part for part in ((column, self.rows), *others) if len(part[0])]
        if not parts:
            return nulls(self.row_count, column.type)
        columns, rows = zip(*parts, strict=True)
        return expanded(columns, rows, self.row_count)

    def groups(self) -> pa.Array:
        """Return the group that each record is about."""
        names = [
            None if record.key is None else record.key.get("group", record.key.get("groupId"))
            for record in self.records
        ]
        return pa.array(names, pa.string())

    def versions(self) -> pa.Array:
        """Return the version of each value."""
        return pa.array([record.value_version for record in self.records], pa.int32())

    def commits(self) -> pa.StructArray:
        """Return `COMMIT` of those that are one."""
        return pa.array([_commit(record) for record in self.records], COMMIT)

    def classic_groups(self) -> pa.StructArray:
        """Return `CLASSIC_GROUP` of those that are one."""
        chosen = [place for place, record in enumerate(self.records) if _is_classic(record)]
        if not chosen:
            return nulls(len(self.rows), CLASSIC_GROUP)
        values = [self.records[place].value or {} for place in chosen]
        return expanded([classic_groups(values)], [np.array(chosen)], len(self.rows))

    def json(self) -> tuple[pa.Array, pa.Array]:
        """Return keys and values as JSON, of the types that have no column of their own."""
        pairs = [
            (_json(record.key), _json(record.value)) if _has_json(record) else (None, None)
            for record in self.records
        ]
        keys, values = zip(*pairs, strict=True) if pairs else ((), ())
        return (
            self.spread(pa.array(keys, pa.string())),
            self.spread(pa.array(values, pa.string())),
        )

    def raw(self) -> tuple[pa.Array, pa.Array]:
        """Return the bytes of what could not be read."""
        keys = [record.key_bytes if record.error else None for record in self.records]
        values = [record.value_bytes if record.error else None for record in self.records]
        return (
            self.spread(pa.array(keys, pa.binary())),
            self.spread(pa.array(values, pa.binary())),
        )

    def notes(self) -> pa.ListArray:
        """Return the notes of every row of the batch, no notes where nothing was odd."""
        counts = np.zeros(self.row_count, np.int64)
        counts[self.rows] = [len(record.notes) for record in self.records]
        notes = [
            {"code": note.code.value, "offset": note.offset, "text": note.text}
            for record in self.records
            for note in record.notes
        ]
        return pa.ListArray.from_arrays(offsets_of(counts), pa.array(notes, NOTES.value_type))


def _rest(raw: pa.RecordBatch, rows: Index) -> _Rest:
    places = pa.array(rows)
    columns = [raw.column(name).take(places).to_pylist() for name in ("key", "value", "error")]
    records = []
    errors = []
    for key, value, flaw in zip(*columns, strict=True):
        record = decode_record(key, value) if flaw is None else Record()
        records.append(record)
        errors.append(flaw if record.error is None else str(record.error))
    return _Rest(row_count=raw.num_rows, rows=rows, records=records, errors=errors)


def _types(keys: Bytes) -> npt.NDArray[np.int32]:
    """Return the number at the start of each key."""
    has_type = keys.is_valid & (keys.end - keys.start >= 2)
    return np.where(has_type, keys.int16(keys.start), _NO_TYPE).astype(np.int32)


def _names(types: npt.NDArray[np.int32], is_record: Mask) -> pa.Array:
    """Return the name of each record's type; null where there is no record."""
    numbers, places = np.unique(types, return_inverse=True)
    names = pa.array([_NAMES.get(number, UNKNOWN) for number in numbers.tolist()], pa.string())
    return names.take(pa.array(places, mask=~is_record))


def _has_json(record: Record) -> bool:
    return record.type is not None and record.type > CLASSIC_TYPE and record.key is not None


def _is_classic(record: Record) -> bool:
    return record.type == CLASSIC_TYPE and record.value is not None


def _commit(record: Record) -> dict[str, Any] | None:
    if record.type not in (LEGACY_TYPE, COMMIT_TYPE) or record.key is None:
        return None
    value = record.value or {}
    fields = {ours: value.get(name) for name, ours in _COMMIT_FIELDS.items()}
    return {"topic": record.key["topic"], "partition": record.key["partition"], **fields}


def _json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(to_json(value), ensure_ascii=False)
