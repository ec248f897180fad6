"""What a decoded row should be, from its record read alone: the slow way, dict by dict."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from assignors.replay.decode.batches import DECODED, decode_batches
from assignors.replay.sources import Raw, batched
from wire.records import Record, decode_record, encode_key, members_of
from wire.records.json_form import to_json

GROUP_KEY = encode_key("GROUP_METADATA", {"group": "g"})

Pair = tuple[bytes | None, bytes | None]


def decoded(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """The rows of a batch of keys and values."""
    batches = decode_batches(batched(Raw(key=key, value=value) for key, value in pairs))
    return [row for batch in batches for row in batch.to_pylist()]


def expected(key: bytes | None, value: bytes | None) -> dict[str, Any]:
    """What a row should be, from the record read alone."""
    record = decode_record(key, value)
    fields = record.key or {}
    has_json = record.key is not None and record.type is not None and record.type > 2
    return {
        **dict.fromkeys(DECODED.names),
        "type": record.type,
        "name": record.name,
        "group": fields.get("group", fields.get("groupId")),
        "value_version": record.value_version,
        "is_tombstone": value is None,
        "commit": _commit(record),
        "classic_group": _classic(record),
        "key_json": _json(record.key) if has_json else None,
        "value_json": _json(record.value) if has_json else None,
        "raw_key": key if record.error else None,
        "raw_value": value if record.error else None,
        "notes": _notes(record.notes),
        "error": str(record.error) if record.error else None,
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


def _classic(record: Record) -> dict[str, Any] | None:
    if record.type != 2 or record.value is None:
        return None
    value = record.value
    opened: Sequence[Any] = members_of(record) or [None] * len(value["members"])
    return {
        "protocol_type": value["protocolType"],
        "generation": value["generation"],
        "protocol": value["protocol"],
        "leader": value["leader"],
        "state_timestamp_ms": value.get("currentStateTimestamp"),
        "members": [
            _member(member, inner) for member, inner in zip(value["members"], opened, strict=True)
        ],
    }


def _member(member: dict[str, Any], inner: Any) -> dict[str, Any]:
    said = None if inner is None else _subscription(inner.subscription)
    given = None if inner is None else _assignment(inner.assignment)
    user_data = None
    if inner is not None and inner.user_data is not None and said and said["user_data"] is not None:
        user_data = {
            "owned": _partitions(inner.user_data.value and inner.user_data.value.owned),
            "generation": inner.user_data.value and inner.user_data.value.generation,
            "notes": _notes(inner.user_data.notes),
            "error": str(inner.user_data.error) if inner.user_data.error else None,
        }
    return {
        "member_id": member["memberId"],
        "instance_id": member.get("groupInstanceId"),
        "client_id": member["clientId"],
        "client_host": member["clientHost"],
        "rebalance_timeout_ms": member.get("rebalanceTimeout"),
        "session_timeout_ms": member["sessionTimeout"],
        "subscription": said,
        "assignment": given,
        "user_data": user_data,
        "raw_subscription": _raw(member["subscription"], said),
        "raw_assignment": _raw(member["assignment"], given),
    }


def _raw(blob: bytes, struct: dict[str, Any] | None) -> bytes | None:
    return blob if struct is None or struct["notes"] or struct["error"] else None


def _subscription(found: Any) -> dict[str, Any]:
    value = found.value
    return {
        "version": value and value.version,
        "topics": None if value is None else list(value.topics),
        "user_data": value and value.user_data,
        "owned": _partitions(value and value.owned),
        "generation": value and value.generation,
        "rack": value and value.rack_id,
        "notes": _notes(found.notes),
        "error": str(found.error) if found.error else None,
    }


def _assignment(found: Any) -> dict[str, Any]:
    value = found.value
    return {
        "version": value and value.version,
        "partitions": _partitions(value and value.partitions),
        "user_data": value and value.user_data,
        "notes": _notes(found.notes),
        "error": str(found.error) if found.error else None,
    }


def _partitions(partitions: Any) -> list[dict[str, Any]] | None:
    if partitions is None:
        return None
    return [{"topic": topic, "partitions": list(n)} for topic, n in partitions.items()]
