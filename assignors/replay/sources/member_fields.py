"""Subscriptions and Assignments that `kafka-dump-log` prints field by field, written again.

A Subscription has the fields of its version and no others, so its version is known. The fields of
an Assignment are the same in all versions. The guess of the leader's library goes by both versions
(`history.fingerprint`), and no library writes version 2 with Subscription 3, or version 3 with an
older one: these are written, so nothing is guessed from a version that nobody knows.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from assignors.documents.values import (
    as_int32,
    as_int32s,
    as_list,
    as_object,
    as_string,
    as_strings,
    optional_string,
    required,
)
from wire.writing import (
    INT16,
    INT32,
    int32_list_bytes,
    nullable_bytes,
    nullable_string_bytes,
    string_bytes,
    topics_bytes,
)

_SINCE = (("rackId", 3), ("generationId", 2), ("ownedPartitions", 1))
"""The youngest field that is printed says which version a Subscription has."""


def with_member_bytes(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a value whose members have their bytes in base64, as formatters print.

    Raises `ValueError` where a Subscription or an Assignment has other fields than Kafka prints.
    """
    members = fields.get("members")
    if not isinstance(members, list) or not any(map(_is_in_fields, members)):
        return fields
    return {**fields, "members": [_member(member) for member in members]}


def _is_in_fields(member: object) -> bool:
    return isinstance(member, dict) and any(
        isinstance(member.get(name), dict) for name in ("subscription", "assignment")
    )


def _member(member: object) -> object:
    if not isinstance(member, dict):
        return member
    written = dict(member)
    subscription, assignment = member.get("subscription"), member.get("assignment")
    version = 3
    if isinstance(subscription, dict):
        version = next((since for name, since in _SINCE if name in subscription), 0)
        written["subscription"] = b64encode(_subscription(subscription, version)).decode()
    if isinstance(assignment, dict):
        blob = INT16(2 if version == 3 else 3) + _partitions(assignment, "assignedPartitions")
        written["assignment"] = b64encode(blob + _user_data(assignment)).decode()
    return written


def _subscription(fields: Mapping[str, object], version: int) -> bytes:
    topics = as_strings(required(fields, "topics", ()), ("topics",))
    chunks = [INT16(version), topics_bytes(topics, keep_order=True), _user_data(fields)]
    if version >= 1:
        chunks.append(_partitions(fields, "ownedPartitions"))
    if version >= 2:
        generation = required(fields, "generationId", ())
        chunks.append(INT32(as_int32(generation, ("generationId",))))
    if version >= 3:
        chunks.append(nullable_string_bytes(optional_string(fields, "rackId")))
    return b"".join(chunks)


def _partitions(fields: Mapping[str, object], name: str) -> bytes:
    """Return the bytes of a list as it is: clients repeat topics, and name some without numbers."""
    entries = as_list(required(fields, name, ()), (name,))
    chunks = [INT32(len(entries))]
    for position, entry in enumerate(entries):
        place = (name, position)
        part = as_object(entry, place)
        chunks.append(string_bytes(as_string(part.get("topic"), (*place, "topic"))))
        numbers = as_int32s(part.get("partitions"), (*place, "partitions"))
        chunks.append(int32_list_bytes(numbers))
    return b"".join(chunks)


def _user_data(fields: Mapping[str, object]) -> bytes:
    text = optional_string(fields, "userData")
    return nullable_bytes(None if text is None else b64decode(text, validate=True))
