"""Rows as `decode_batches` gives them, beside what the record of each says when read alone.

Commits have two readers, one for columns and one for a record: that is what is compared here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from assignors.replay.decode.batches import DECODED, decode_batches
from assignors.replay.sources import Raw
from assignors.replay.sources.arrow import batched
from wire.records import Record, decode_record, encode_key
from wire.records.json_form import to_json

GROUP_KEY = encode_key("GROUP_METADATA", {"group": "g"})

Pair = tuple[bytes | None, bytes | None]


def decoded(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """The rows of a batch of keys and values."""
    batches = decode_batches(batched(Raw(key=key, value=value) for key, value in pairs))
    return [row for batch in batches for row in batch.to_pylist()]


def shared(row: dict[str, Any]) -> dict[str, Any]:
    """A row without its classic group, for which there is one reader."""
    return {name: value for name, value in row.items() if name != "classic_group"}


def expected(key: bytes | None, value: bytes | None) -> dict[str, Any]:
    """What a row should be, its classic group apart, from the record read alone."""
    record = decode_record(key, value)
    fields = record.key or {}
    has_json = record.key is not None and record.type is not None and record.type > 2
    return {
        **shared(dict.fromkeys(DECODED.names)),
        "type": record.type,
        "name": record.name,
        "group": fields.get("group", fields.get("groupId")),
        "value_version": record.value_version,
        "is_tombstone": value is None,
        "commit": _commit(record),
        "key_json": _json(record.key) if has_json else None,
        "value_json": _json(record.value) if has_json else None,
        "raw_key": key if record.error else None,
        "raw_value": value if record.error else None,
        "notes": _notes(record.notes),
        "error": str(record.error) if record.error else None,
        "error_kind": record.error.kind.value if record.error else None,
    }


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(to_json(value), ensure_ascii=False)


def _notes(notes: Any) -> list[dict[str, Any]]:
    return [{"code": n.code.value, "offset": n.offset, "text": n.text} for n in notes]


def _commit(record: Record) -> dict[str, Any] | None:
    if record.type not in (0, 1) or record.key is None:
        return None
    value = record.value or {}
    return {
        "topic": record.key["topic"],
        "partition": record.key["partition"],
        "offset": value.get("offset"),
        "leader_epoch": value.get("leaderEpoch"),
        "metadata": value.get("metadata"),
        "commit_timestamp_ms": value.get("commitTimestamp"),
        "expire_timestamp_ms": value.get("expireTimestamp"),
        "topic_id": value.get("topicId"),
    }
