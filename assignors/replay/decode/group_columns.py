"""Classic groups as columns: one struct a generation, its members a list in it.

The groups of a batch are walked in step, member by member: the first of each, then the second.
That gives where each field of each member stands, so that a column is read at once. Only the
members' own bytes are cut out one by one, as they are long and there is nothing to do but copy.

Versions 2 and 3, which every broker since 2.1 writes, are read so; other versions, and what is
not plain from the first to the last byte, come as values of `wire.records` and give the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from assignors.replay.decode.buffers import Bytes, Index, Mask, nulled, offsets_of
from assignors.replay.decode.lockstep import TOGETHER_MIN, LockstepReader
from assignors.replay.decode.member_columns import MEMBER, Members, member_structs
from wire.records.members import CONSUMER

CLASSIC_TYPE = 2

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

STEPS_CHEAP = 64
"""So many steps cost less than the detour, however few groups are left in them."""

_ALWAYS = ("memberId", "clientId", "clientHost", "sessionTimeout", "subscription", "assignment")
"""What a member has in every version of the record."""

_Stretch: TypeAlias = tuple[Index, Index]
"""Where stretches of bytes begin, and their lengths; negative for null."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Groups:
    """The rows that are plain classic groups, and what is in them."""

    rows: Index
    """Their places in the batch, ascending."""
    group: pa.Array
    version: npt.NDArray[np.int32]
    classic_group: pa.StructArray
    """`CLASSIC_GROUP`, one element a row."""


def group_columns(keys: Bytes, values: Bytes, candidates: Mask) -> Groups:
    """Return the groups among the `candidates`, rows whose key says type 2.

    Rows that are not plain, or too few to be walked in step, are not in the result.
    Cost: O(bytes), and O(most members) array operations.
    """
    rows = np.flatnonzero(candidates & keys.is_valid & values.is_valid)
    steps_max: int | None = None
    while len(rows) >= TOGETHER_MIN:
        walk = LockstepReader(values.rows(rows))
        key = LockstepReader(keys.rows(rows), keys.start[rows] + 2)
        name = key.text()
        walk.need(key.is_plain & (key.at == key.blobs.end))
        frame = _frame(walk)
        count = walk.int32()
        walk.need((count >= 0) & (count <= walk.blobs.end - walk.at))
        if steps_max is None:
            # Settled once: each round would leave out the longest that are left.
            steps_max = _steps_max(count[walk.is_plain])
        walk.need(count <= steps_max)
        members = _members(walk, frame.version, count)
        walk.need(walk.at == walk.blobs.end)
        if walk.is_plain.all():
            texts = [_text(keys, name), *(_text(values, each) for each in frame.texts)]
            parts = [_text(values, each) for each in members.texts]
            walk.need(~np.logical_or.reduce([is_bad for _, is_bad in texts]))
            for _, is_bad in parts:
                walk.refuse(members.group[is_bad])
            if walk.is_plain.all():
                columns = [column for column, _ in (*texts, *parts)]
                return _groups(rows, values, frame, members, columns)
        rows = rows[walk.is_plain]
    nothing = pa.array([], pa.string())
    return Groups(
        rows=np.zeros(0, np.int64),
        group=nothing,
        version=np.zeros(0, np.int32),
        classic_group=pa.array([], CLASSIC_GROUP),
    )


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
    ]
    members = [member for value in values for member in value["members"]]
    fields = zip(*map(itemgetter(*_ALWAYS), members), strict=True) if members else [()] * 6
    member_id, client_id, host, session_timeout, subscriptions, assignments = fields
    side_by_side = Members(
        member_id=pa.array(member_id, pa.string()),
        instance_id=pa.array([each.get("groupInstanceId") for each in members], pa.string()),
        client_id=pa.array(client_id, pa.string()),
        client_host=pa.array(host, pa.string()),
        rebalance_timeout_ms=pa.array(
            [each.get("rebalanceTimeout") for each in members], pa.int32()
        ),
        session_timeout_ms=pa.array(session_timeout, pa.int32()),
        subscription=pa.array(subscriptions, pa.binary()),
        assignment=pa.array(assignments, pa.binary()),
        protocol=_repeated(columns[2], counts),
        is_consumer=_repeated(columns[0], counts) == CONSUMER,
    )
    return _structs(columns, counts, side_by_side)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Frame:
    """The fields in front of the members: arrays by group."""

    version: Index
    generation: Index
    timestamp_ms: Index
    texts: tuple[_Stretch, _Stretch, _Stretch]
    """Protocol type, protocol, leader."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _MemberPlaces:
    """Where the fields of each member stand: group by group, each in its order."""

    group: Index
    texts: tuple[_Stretch, _Stretch, _Stretch, _Stretch]
    """Member id, instance id, client id, host."""
    rebalance_timeout_ms: Index
    session_timeout_ms: Index
    subscription: _Stretch
    assignment: _Stretch


def _frame(walk: LockstepReader) -> _Frame:
    version = walk.int16()
    walk.need((version == 2) | (version == 3))
    protocol_type = walk.text()
    generation = walk.int32()
    protocol = walk.nullable_text()
    leader = walk.nullable_text()
    return _Frame(
        version=version,
        generation=generation,
        timestamp_ms=walk.int64(),
        texts=(protocol_type, protocol, leader),
    )


def _steps_max(counts: Index) -> int:
    """Return how many steps pay: as many as the longest groups but a few need, or a few dozen."""
    if len(counts) < TOGETHER_MIN:
        return STEPS_CHEAP
    return max(STEPS_CHEAP, int(np.partition(counts, -TOGETHER_MIN)[-TOGETHER_MIN]))


def _members(walk: LockstepReader, version: Index, count: Index) -> _MemberPlaces:
    """Step over the members of every group."""
    steps = [(np.zeros(0, np.int64),) * 15]
    active = np.flatnonzero(walk.is_plain & (count > 0))
    while len(active):
        part = LockstepReader(walk.blobs.rows(active), walk.at[active])
        fields = (
            *part.text(),
            *part.nullable_text(version[active] >= 3),
            *part.text(),
            *part.text(),
            part.int32(),
            part.int32(),
            *part.data(),
            *part.data(),
        )
        walk.at[active] = part.at
        walk.is_plain[active] = part.is_plain
        steps.append((active, *fields))
        active = active[part.is_plain & (count[active] > len(steps) - 1)]
    group, *columns = (np.concatenate(column) for column in zip(*steps, strict=True))
    order = np.argsort(group, kind="stable")
    ordered = [column[order] for column in columns]
    return _MemberPlaces(
        group=group[order],
        texts=(
            (ordered[0], ordered[1]),
            (ordered[2], ordered[3]),
            (ordered[4], ordered[5]),
            (ordered[6], ordered[7]),
        ),
        rebalance_timeout_ms=ordered[8],
        session_timeout_ms=ordered[9],
        subscription=(ordered[10], ordered[11]),
        assignment=(ordered[12], ordered[13]),
    )


def _groups(
    rows: Index, values: Bytes, frame: _Frame, members: _MemberPlaces, texts: list[pa.Array]
) -> Groups:
    """Return the groups, all of them plain, with their texts: name, frame and members."""
    group, protocol_type, protocol, leader, member_id, instance_id, client_id, host = texts
    counts = np.bincount(members.group, minlength=len(rows))
    columns = [
        protocol_type,
        pa.array(frame.generation.astype(np.int32)),
        protocol,
        leader,
        pa.array(frame.timestamp_ms),
    ]
    side_by_side = Members(
        member_id=member_id,
        instance_id=instance_id,
        client_id=client_id,
        client_host=host,
        rebalance_timeout_ms=pa.array(members.rebalance_timeout_ms.astype(np.int32)),
        session_timeout_ms=pa.array(members.session_timeout_ms.astype(np.int32)),
        subscription=values.cut(*members.subscription),
        assignment=values.cut(*members.assignment),
        protocol=_repeated(protocol, counts),
        is_consumer=_repeated(protocol_type, counts) == CONSUMER,
    )
    return Groups(
        rows=rows,
        group=group,
        version=frame.version.astype(np.int32),
        classic_group=_structs(columns, counts, side_by_side),
    )


def _structs(columns: list[pa.Array], counts: Index, members: Members) -> pa.StructArray:
    """Return `CLASSIC_GROUP` of the frames' columns and the members, `counts` to each."""
    lists = pa.ListArray.from_arrays(offsets_of(counts), member_structs(members))
    return pa.StructArray.from_arrays([*columns, lists], fields=list(CLASSIC_GROUP))


def _repeated(column: pa.Array, counts: Index) -> npt.NDArray[Any]:
    """Return a column of the groups' as one of their members'."""
    return np.repeat(np.array(column.to_pylist(), object), counts)


def _text(blobs: Bytes, stretch: _Stretch) -> tuple[pa.Array, Mask]:
    """Return stretches as text, null where their length is negative, and which are none."""
    at, length = stretch
    column, is_bad = blobs.strings(at, np.maximum(length, 0))
    return nulled(column, length < 0), is_bad
