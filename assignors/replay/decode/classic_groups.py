"""Classic groups as a column: one struct a generation, with a list of its members.

This is the column `classic_group` that `decode_records` gives on Spark. `wire.records` reads the
records and the codecs of `assignors.arrow` the members' bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from assignors.arrow.codecs import (
    decoded_assignments,
    decoded_cooperative_user_data,
    decoded_sticky_user_data,
    decoded_subscriptions,
)
from assignors.arrow.schemas import DECODED_ASSIGNMENT, DECODED_SUBSCRIPTION, DECODED_USER_DATA
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
"""Protocols whose UserData has a known layout -> its codec."""

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


def classic_groups(values: Sequence[Mapping[str, Any] | None]) -> pa.StructArray:
    """Return `CLASSIC_GROUP` of each GROUP_METADATA value as `wire.records` read it; null stays.

    Fields that a version of the record does not have are null. Cost: linear in the bytes.

    >>> groups = classic_groups([
    ...     {"protocolType": "", "generation": 7, "protocol": None, "leader": None, "members": []}
    ... ])
    >>> groups[0]["generation"].as_py(), len(groups[0]["members"])
    (7, 0)
    """
    members: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = [
        (value, member) for value in values if value is not None for member in value["members"]
    ]
    counts = [0 if value is None else len(value["members"]) for value in values]
    lists = pa.ListArray.from_arrays(
        pa.array(list(accumulate(counts, initial=0)), pa.int32()), _members(members)
    )
    columns = [*_columns([value or {} for value in values], _FRAME, CLASSIC_GROUP), lists]
    is_null = pa.array([value is None for value in values], pa.bool_())
    return pa.StructArray.from_arrays(columns, fields=list(CLASSIC_GROUP), mask=is_null)


def _members(members: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> pa.StructArray:
    """Return `MEMBER` of each member, which comes with its group."""
    said = pa.array([member["subscription"] for _, member in members], pa.binary())
    given = pa.array([member["assignment"] for _, member in members], pa.binary())
    is_consumer = pa.array([group["protocolType"] == CONSUMER for group, _ in members], pa.bool_())
    subscription = decoded_subscriptions(_where(is_consumer, said))
    assignment = decoded_assignments(_where(is_consumer, given))
    columns = [
        *_columns([member for _, member in members], _MEMBER, MEMBER),
        subscription,
        assignment,
        _user_data(subscription, [group["protocol"] for group, _ in members]),
        _where(_is_odd(subscription), said),
        _where(_is_odd(assignment), given),
    ]
    return pa.StructArray.from_arrays(columns, fields=list(MEMBER))


def _columns(
    rows: Sequence[Mapping[str, Any]], names: Mapping[str, str], shape: pa.DataType
) -> list[pa.Array]:
    return [
        pa.array([row.get(theirs) for row in rows], shape.field(ours).type)
        for ours, theirs in names.items()
    ]


def _user_data(subscription: pa.StructArray, protocols: Sequence[str | None]) -> pa.Array:
    """Return the UserData of the members whose protocol has a layout for it."""
    blobs = pc.struct_field(subscription, "user_data")
    column = pa.nulls(len(blobs), DECODED_USER_DATA)
    for protocol, decode in USER_DATA.items():
        if protocol in protocols:
            is_of = pa.array([each == protocol for each in protocols], pa.bool_())
            column = pc.coalesce(column, decode(_where(is_of, blobs)))
    return column


def _is_odd(decoded: pa.StructArray) -> pa.Array:
    """Return where bytes were not read, or not without a note."""
    notes = pc.list_value_length(pc.struct_field(decoded, "notes"))
    has_notes = pc.fill_null(pc.not_equal(notes, 0), fill_value=True)
    return pc.or_(has_notes, pc.is_valid(pc.struct_field(decoded, "error")))


def _where(is_chosen: pa.Array, blobs: pa.Array) -> pa.Array:
    # With a scalar null Arrow keeps the bytes of null rows, which then go back to the JVM.
    return pc.if_else(is_chosen, blobs, pa.nulls(len(blobs), pa.binary()))
