"""Classic groups as a column: one struct a generation, its members a list in it.

This is the column `classic_group` that `decode_records` gives on Spark. The records are read by
`wire.records`, the members' bytes by the codecs of `wire`, each distinct one once: members write
the same from one generation to the next. The members of a whole batch stand side by side, so
that each field of theirs becomes an Arrow array in one step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from assignors.arrow.codecs import (
    decoded_assignments,
    decoded_cooperative_user_data,
    decoded_sticky_user_data,
    decoded_subscriptions,
)
from assignors.arrow.schemas import DECODED_ASSIGNMENT, DECODED_SUBSCRIPTION, DECODED_USER_DATA
from assignors.replay.decode.binary_columns import Index, Mask, expanded, nulls, offsets_of
from wire.records.members import CONSUMER

MEMBER = pa.struct(
    [
        ("member_id", pa.string()),
        ("instance_id", pa.string()),
        ("client_id", pa.string()),
        ("client_host", pa.string()),
        ("rebalance_timeout_ms", pa.int32()),
        ("session_timeout_ms", pa.int32()),
        ("subscription", DECODED_SUBSCRIPTION),
        ("assignment", DECODED_ASSIGNMENT),
        ("user_data", DECODED_USER_DATA),
        ("raw_subscription", pa.binary()),
        ("raw_assignment", pa.binary()),
    ]
)
"""A member. `user_data` is that of the Subscription under a sticky protocol; the raw bytes are
there where something in them was odd, or the group's protocol type is not `consumer`."""

CLASSIC_GROUP = pa.struct(
    [
        ("protocol_type", pa.string()),
        ("generation", pa.int32()),
        ("protocol", pa.string()),
        ("leader", pa.string()),
        ("state_timestamp_ms", pa.int64()),
        ("members", pa.list_(MEMBER)),
    ]
)

USER_DATA: Mapping[str, Callable[[pa.Array], pa.StructArray]] = {
    "sticky": decoded_sticky_user_data,
    "cooperative-sticky": decoded_cooperative_user_data,
    "weighted": decoded_sticky_user_data,
    "cooperative-weighted": decoded_cooperative_user_data,
}
"""The protocols whose UserData has a known layout."""

_FRAME = {
    # our name -> the name in Kafka's value
    "protocol_type": "protocolType",
    "generation": "generation",
    "protocol": "protocol",
    "leader": "leader",
    "state_timestamp_ms": "currentStateTimestamp",
}
_MEMBER = {
    "member_id": "memberId",
    "instance_id": "groupInstanceId",
    "client_id": "clientId",
    "client_host": "clientHost",
    "rebalance_timeout_ms": "rebalanceTimeout",
    "session_timeout_ms": "sessionTimeout",
}


def classic_groups(values: Sequence[Mapping[str, Any]]) -> pa.StructArray:
    """Return `CLASSIC_GROUP` of each GROUP_METADATA value, as `wire.records` read it.

    Fields that a version of the record does not have are null. Cost: linear in the bytes.

    >>> groups = classic_groups([
    ...     {"protocolType": "", "generation": 7, "protocol": None, "leader": None, "members": []}
    ... ])
    >>> groups[0]["generation"].as_py(), len(groups[0]["members"])
    (7, 0)
    """
    counts = np.array([len(value["members"]) for value in values], np.int64)
    columns = _columns(values, _FRAME, CLASSIC_GROUP)
    members = [member for value in values for member in value["members"]]
    is_consumer = _of_members([value["protocolType"] == CONSUMER for value in values], counts)
    protocols = _of_members([value["protocol"] for value in values], counts)
    structs = _members(members, is_consumer.astype(np.bool_), protocols)
    lists = pa.ListArray.from_arrays(offsets_of(counts), structs)
    return pa.StructArray.from_arrays([*columns, lists], fields=list(CLASSIC_GROUP))


def _members(
    members: Sequence[Mapping[str, Any]], is_consumer: Mask, protocols: npt.NDArray[Any]
) -> pa.StructArray:
    """Return `MEMBER` of each."""
    chosen = np.flatnonzero(is_consumer)
    said = pa.array([member["subscription"] for member in members], pa.binary())
    given = pa.array([member["assignment"] for member in members], pa.binary())
    subscription = _decoded(said, chosen, decoded_subscriptions)
    assignment = _decoded(given, chosen, decoded_assignments)
    columns = [
        *_columns(members, _MEMBER, MEMBER),
        subscription,
        assignment,
        _user_data(subscription, protocols),
        _raw(said, subscription),
        _raw(given, assignment),
    ]
    return pa.StructArray.from_arrays(columns, fields=list(MEMBER))


def _columns(
    rows: Sequence[Mapping[str, Any]], names: Mapping[str, str], shape: pa.DataType
) -> list[pa.Array]:
    return [
        pa.array([row.get(theirs) for row in rows], shape.field(ours).type)
        for ours, theirs in names.items()
    ]


def _of_members(of_groups: Sequence[Any], counts: Index) -> npt.NDArray[Any]:
    """Return what is known of each group as an array by member."""
    return np.repeat(np.array(of_groups, object), counts)


def _decoded(
    blobs: pa.Array, chosen: Index, decode: Callable[[pa.Array], pa.StructArray]
) -> pa.StructArray:
    """Return the structs of the chosen blobs, null for the others; equal ones are read once."""
    encoded = _at(blobs, chosen).dictionary_encode()
    structs = decode(encoded.dictionary).take(encoded.indices)
    return expanded([structs], [chosen], len(blobs))


def _user_data(subscription: pa.StructArray, protocols: npt.NDArray[Any]) -> pa.StructArray:
    """Return the UserData of the members whose protocol has a layout for it."""
    blobs = pc.struct_field(subscription, "user_data")
    is_there = blobs.is_valid().to_numpy(zero_copy_only=False)
    parts = []
    rows = []
    for protocol, decode in USER_DATA.items():
        chosen = np.flatnonzero((protocols == protocol) & is_there)
        if len(chosen):
            encoded = _at(blobs, chosen).dictionary_encode()
            parts.append(decode(encoded.dictionary).take(encoded.indices))
            rows.append(chosen)
    return expanded(parts, rows, len(blobs)) if parts else nulls(len(blobs), DECODED_USER_DATA)


def _raw(blobs: pa.Array, decoded: pa.StructArray) -> pa.Array:
    """Return the blobs that were not read, or not without a note; the others null."""
    notes = pc.list_value_length(pc.struct_field(decoded, "notes"))
    is_odd = pc.fill_null(pc.not_equal(notes, 0), fill_value=True)
    is_unread = pc.is_valid(pc.struct_field(decoded, "error"))
    chosen = np.flatnonzero(pc.and_(pc.or_(is_odd, is_unread), pc.is_valid(blobs)))
    return expanded([_at(blobs, chosen)], [chosen], len(blobs))


def _at(column: pa.Array, chosen: Index) -> pa.Array:
    return column if len(chosen) == len(column) else column.take(pa.array(chosen))
