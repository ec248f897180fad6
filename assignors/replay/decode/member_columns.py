"""Members of classic groups as columns, their bytes opened together.

However the frames of the groups were read, here their members stand side by side, those of a
whole batch, and each column is made at once (`consumer_columns`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from assignors.arrow.codecs import decoded_cooperative_user_data, decoded_sticky_user_data
from assignors.arrow.schemas import DECODED_ASSIGNMENT, DECODED_SUBSCRIPTION, DECODED_USER_DATA
from assignors.replay.decode.buffers import Mask, expanded, nulls
from assignors.replay.decode.consumer_columns import assignment_columns, subscription_columns

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

USER_DATA: Mapping[str, Callable[[pa.Array], pa.StructArray]] = {
    "sticky": decoded_sticky_user_data,
    "cooperative-sticky": decoded_cooperative_user_data,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Members:
    """The members of all groups of a batch: arrays by member."""

    member_id: pa.Array
    instance_id: pa.Array
    client_id: pa.Array
    client_host: pa.Array
    rebalance_timeout_ms: pa.Array
    session_timeout_ms: pa.Array
    subscription: pa.Array
    """Bytes, as `assignment`."""
    assignment: pa.Array
    protocol: npt.NDArray[Any]
    """The group's, as str."""
    is_consumer: Mask
    """Whether the group speaks the consumers' protocol."""


def member_structs(members: Members) -> pa.StructArray:
    """Return `MEMBER` of each member. Cost: linear in their bytes."""
    said, given = members.subscription, members.assignment
    chosen = np.flatnonzero(members.is_consumer)
    subscription = expanded([subscription_columns(_at(said, chosen))], [chosen], len(said))
    assignment = expanded([assignment_columns(_at(given, chosen))], [chosen], len(given))
    columns = [
        members.member_id,
        members.instance_id,
        members.client_id,
        members.client_host,
        members.rebalance_timeout_ms,
        members.session_timeout_ms,
        subscription,
        assignment,
        _user_data(subscription, members.protocol),
        _raw(said, subscription),
        _raw(given, assignment),
    ]
    return pa.StructArray.from_arrays(columns, fields=list(MEMBER))


def _user_data(subscription: pa.StructArray, protocols: npt.NDArray[Any]) -> pa.StructArray:
    """Return the UserData of the members whose protocol has a layout for it."""
    blobs = pc.struct_field(subscription, "user_data")
    parts = []
    rows = []
    for protocol, decode in USER_DATA.items():
        chosen = np.flatnonzero((protocols == protocol) & _is_there(blobs))
        encoded = _at(blobs, chosen).dictionary_encode()
        if len(chosen):
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


def _is_there(column: pa.Array) -> Mask:
    is_valid: Mask = column.is_valid().to_numpy(zero_copy_only=False)
    return is_valid


def _at(column: pa.Array, chosen: npt.NDArray[np.int64]) -> pa.Array:
    return column if len(chosen) == len(column) else column.take(pa.array(chosen))
