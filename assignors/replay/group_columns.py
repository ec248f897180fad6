"""Classic groups as columns: one struct a generation, its members a list in it.

The frame of a group is read record by record; its members are then put side by side, those of
all groups of a batch, and their bytes are opened together (`consumer_columns`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assignors.replay.buffers import expanded, offsets_of
from assignors.replay.consumer_columns import assignment_columns, subscription_columns
from assignors.simulation.batches import (
    DECODED_ASSIGNMENT,
    DECODED_SUBSCRIPTION,
    DECODED_USER_DATA,
    decoded_cooperative_user_data,
    decoded_sticky_user_data,
)
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
there where something in them was odd, or their protocol is not the consumers'."""

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
}

_ALWAYS = ("memberId", "clientId", "clientHost", "sessionTimeout", "subscription", "assignment")
"""What a member has in every version of the record."""


def classic_groups(values: Sequence[Mapping[str, Any]]) -> pa.StructArray:
    """Return `CLASSIC_GROUP` of each GROUP_METADATA value, as `wire.records` read it.

    Cost: linear in their bytes.
    """
    counts = np.array([len(value["members"]) for value in values], np.int64)
    columns = [
        pa.array([value["protocolType"] for value in values], pa.string()),
        pa.array([value["generation"] for value in values], pa.int32()),
        pa.array([value["protocol"] for value in values], pa.string()),
        pa.array([value["leader"] for value in values], pa.string()),
        pa.array([value.get("currentStateTimestamp") for value in values], pa.int64()),
        pa.ListArray.from_arrays(offsets_of(counts), _members(values, counts)),
    ]
    return pa.StructArray.from_arrays(columns, fields=list(CLASSIC_GROUP))


def _members(values: Sequence[Mapping[str, Any]], counts: np.ndarray[Any, Any]) -> pa.StructArray:
    members = [member for value in values for member in value["members"]]
    fields = zip(*map(itemgetter(*_ALWAYS), members), strict=True) if members else [()] * 6
    member_id, client_id, host, session_timeout, subscriptions, assignments = fields
    said, given = pa.array(subscriptions, pa.binary()), pa.array(assignments, pa.binary())
    speaks = np.repeat([value["protocolType"] == CONSUMER for value in values], counts)
    chosen = np.flatnonzero(speaks)
    subscription = expanded([subscription_columns(_at(said, chosen))], [chosen], len(said))
    assignment = expanded([assignment_columns(_at(given, chosen))], [chosen], len(given))
    protocols = np.repeat(np.array([value["protocol"] or "" for value in values], object), counts)
    columns = [
        pa.array(member_id, pa.string()),
        pa.array([member.get("groupInstanceId") for member in members], pa.string()),
        pa.array(client_id, pa.string()),
        pa.array(host, pa.string()),
        pa.array([member.get("rebalanceTimeout") for member in members], pa.int32()),
        pa.array(session_timeout, pa.int32()),
        subscription,
        assignment,
        _user_data(subscription, protocols),
        _raw(said, subscription),
        _raw(given, assignment),
    ]
    return pa.StructArray.from_arrays(columns, fields=list(MEMBER))


def _user_data(subscription: pa.StructArray, protocols: np.ndarray[Any, Any]) -> pa.StructArray:
    """Return the UserData of the members whose protocol has a layout for it."""
    blobs = pc.struct_field(subscription, "user_data")
    parts = [pa.array([], DECODED_USER_DATA)]
    rows = [np.zeros(0, np.int64)]
    for protocol, decode in USER_DATA.items():
        chosen = np.flatnonzero(protocols == protocol)
        encoded = _at(blobs, chosen).dictionary_encode()
        parts.append(decode(encoded.dictionary).take(encoded.indices))
        rows.append(chosen)
    return expanded(parts, rows, len(blobs))


def _raw(blobs: pa.BinaryArray, decoded: pa.StructArray) -> pa.BinaryArray:
    """Return the blobs that were not read, or not without a note; the others null."""
    notes = pc.list_value_length(pc.struct_field(decoded, "notes"))
    is_odd = pc.fill_null(pc.not_equal(notes, 0), fill_value=True)
    is_unread = pc.is_valid(pc.struct_field(decoded, "error"))
    return pc.if_else(pc.or_(is_odd, is_unread), blobs, pa.scalar(None, pa.binary()))


def _at(column: pa.Array, chosen: np.ndarray[Any, Any]) -> pa.Array:
    return column if len(chosen) == len(column) else column.take(pa.array(chosen))
