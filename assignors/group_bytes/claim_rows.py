"""What members that were read together claim, as arrays, from the field that the assignor reads.

Under the cooperative assignor that is OwnedPartitions, under the eager sticky one UserData, which
has the bytes of owned partitions and a generation behind them: it is read in lock step as well.
UserData in another layout takes the reader in `wire`, for that member alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from assignors.arrays import Bool, Int32, Int64, OwnedArrays
from assignors.assignor import UserData
from assignors.group_bytes.entries import (
    PAD,
    KnownNames,
    int32_view,
    joined_messages,
    owned_arrays,
    read_entries,
    sizes_of,
)
from assignors.group_bytes.fields import (
    GENERATION_SIZE,
    UserDataBuffer,
    has_notes,
)
from assignors.group_bytes.members import MemberArrays, ReadMembers
from assignors.model import NO_GENERATION
from wire import decode_cooperative_user_data
from wire.protocol.capacity import MARK
from wire.protocol.capacity import SIZE as CAPACITY_SIZE

CAPACITY_MARK = int.from_bytes(MARK, "big", signed=True)


class Claimed(NamedTuple):
    """C claims, one entry for each partition number of each member."""

    member: Int32
    """int32[C]: position of the member."""
    name: Int64
    """int64[C]: position in `topic`."""
    number: Int32 | Int64
    """[C]: partition number."""
    topic: Int64 | None
    """int64: numbers of topics, -1 for those that nobody asks for; `None` for 0, 1, ..."""
    claim_count: Int64 | None = None
    """int64[N]: how many claims each of N members has, where that is known."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClaimRows:
    """The claims of N members, those of `claims.read_claim`, except for members in `alone`."""

    generation: Int64
    """int64[N], -1 for none."""
    is_known: Bool
    """bool[N]."""
    owned: OwnedArrays
    """Row by row, as in `MemberArrays`."""
    rows: Int64
    """int64[N]: the row of each member."""
    position: Int32
    """int32[M]: the position of each row among the N members, -1 for rows not asked for."""
    is_whole: bool
    """Whether positions are rows, and all claims were read together."""
    alone: list[int]
    """Positions of members whose claims have to be read one by one, in ascending order."""
    noted: list[int]
    """Positions of members with notes on their bytes, those of `alone` apart; ascending."""

    def claimed(self, topic: Int64 | None) -> Claimed:
        """Return what is claimed, row by row, without members that were read one by one.

        `topic` has the number of each name of `owned`, `None` for 0, 1, ... Cost: O(numbers).
        """
        owned = self.owned
        name, number = owned.topic, owned.number
        ptr = owned.entry_ptr
        if len(name) < len(number):
            name = name.repeat(owned.number_ptr[1:] - owned.number_ptr[:-1])
            ptr = owned.number_ptr[ptr]
        count = ptr[1:] - ptr[:-1]
        member = self.position.repeat(count)
        if self.is_whole:
            return Claimed(member, name, number, topic, count)
        if len(member) and int(self.position.min()) < 0:
            is_asked = member >= 0
            member, name, number = member[is_asked], name[is_asked], number[is_asked]
        return Claimed(member, name, number, topic, None if self.alone else count[self.rows])

    def topics_beside(self, known: AbstractSet[str]) -> list[tuple[int, str, int]]:
        """Return the position, topic and number of partitions of claimed topics not in `known`.

        In the order of the rows; without members that were read one by one.
        """
        owned = self.owned
        if owned.name_set <= known:
            return []
        is_beside = np.array([*(name not in known for name in owned.names), False])
        entries = np.flatnonzero(is_beside[owned.topic])
        position = np.repeat(self.position, np.diff(owned.entry_ptr))[entries]
        count = np.diff(owned.number_ptr)[entries]
        return [
            (place, owned.names[topic], length)
            for place, topic, length in zip(
                position.tolist(), owned.topic[entries].tolist(), count.tolist(), strict=True
            )
            if place >= 0
        ]


def claim_rows(members: ReadMembers, kind: UserData) -> ClaimRows:
    """Return the claims of members under an assignor that reads this field. Cost: O(bytes)."""
    arrays, rows = members.arrays, members.rows
    # Version 0 may have the sticky layout in UserData (`claims.reading`).
    in_user_data = (arrays.version < 1) & (arrays.user_data.length > GENERATION_SIZE)
    is_plain = members.is_whole and not arrays.alone and not in_user_data.any()
    if kind is UserData.COOPERATIVE and is_plain:
        return ClaimRows(
            generation=_cooperative(arrays, None),
            is_known=arrays.version >= 1,
            owned=arrays.owned,
            rows=rows,
            position=rows.astype(np.int32),
            is_whole=True,
            alone=[],
            noted=_noted(arrays),
        )
    asked = slice(None) if members.is_whole else rows
    is_read = np.ones(len(arrays.member_ids), dtype=np.bool_)
    is_read[list(arrays.alone)] = False
    if kind is UserData.COOPERATIVE:
        is_read &= ~in_user_data
        generation = _cooperative(arrays, None if members.is_whole else rows)
        owned, is_known = arrays.owned, arrays.version[asked] >= 1
    else:
        generation, owned = _sticky(arrays, is_read)
        generation, is_known = generation[asked], np.ones(len(rows), dtype=np.bool_)
    noted = has_notes(arrays.user_data, arrays.empty_rack_at) & is_read
    is_whole = members.is_whole and np.count_nonzero(is_read) == len(is_read)
    position = rows.astype(np.int32)
    if not is_whole:
        position = np.full(len(is_read), -1, dtype=np.int32)
        position[rows] = np.arange(len(rows))
        position[~is_read] = -1
    return ClaimRows(
        generation=generation,
        is_known=is_known,
        owned=owned,
        rows=rows,
        position=position,
        is_whole=is_whole,
        alone=[] if is_whole else np.flatnonzero(~is_read[asked]).tolist(),
        noted=noted[asked].nonzero()[0].tolist(),
    )


def _noted(arrays: MemberArrays) -> list[int]:
    """Return the rows on which the reader in `wire` has notes: none, as a rule."""
    length, empty_rack_at = arrays.user_data.length, arrays.empty_rack_at
    has_empty_data = np.count_nonzero(length) < len(length)
    if not len(length) or not (has_empty_data or empty_rack_at[empty_rack_at.argmax()] >= 0):
        return []
    return has_notes(arrays.user_data, empty_rack_at).nonzero()[0].tolist()


def _cooperative(arrays: MemberArrays, rows: Int64 | None) -> Int64:
    """Return the generation of the rows' claims: the field's, else that of UserData (KIP-792).

    Of all rows where `rows` is `None`.
    """
    generation, user_data = arrays.generation, arrays.user_data
    version, length, number = arrays.version, user_data.length, user_data.number
    if rows is not None:
        generation, version = generation[rows], version[rows]
        length, number = length[rows], number[rows]
    missing = (generation < 0).nonzero()[0]
    if not len(missing):
        return generation
    found, size = number[missing], length[missing]
    if found[found.argmax()] < 0 and size[size.argmax()] <= GENERATION_SIZE:
        return generation  # UserData has none either
    is_missing = (generation < 0) & (version >= 1)
    is_number = is_missing & (length == GENERATION_SIZE)
    generation = np.where(is_number, np.maximum(number, NO_GENERATION), generation)
    for position in np.flatnonzero(is_missing & (length > GENERATION_SIZE)).tolist():
        row = position if rows is None else int(rows[position])
        read = decode_cooperative_user_data(user_data.of_row(row, arrays.blobs[row])).value
        if read is not None and read.generation is not None:
            generation[position] = max(read.generation, NO_GENERATION)
    return generation


def _sticky(arrays: MemberArrays, is_read: Bool) -> tuple[Int64, OwnedArrays]:
    """Return the generation and the partitions in everybody's UserData, row by row.

    `is_read` becomes false for rows in which they are not plain: with a generation behind them
    (V1) or nothing (V0). Cost: O(bytes).
    """
    user_data = arrays.user_data
    is_there = is_read & (user_data.length > 0)
    buffer, start = _user_data(arrays, is_there)
    place = np.where(is_there, start, 0)
    known = KnownNames({name.encode(): number for number, name in enumerate(arrays.names)})
    generation, owned = _read_sticky(buffer, place, user_data.length * is_there, is_read, known)
    return np.maximum(generation, NO_GENERATION), owned


def _read_sticky(
    buffer: bytes, place: Int64, length: Int64, is_read: Bool, known: KnownNames
) -> tuple[Int64, OwnedArrays]:
    """Return what `_sticky` does, for UserData that begins there and is so long, int64[M]."""
    is_there, end, int32 = is_read & (length > 0), place + length, int32_view(buffer)
    last = place.copy()
    entries = read_entries(buffer, last, end, is_read, is_there=is_there)
    left = end - last
    # UserData that ends with a capacity: its mark stands behind the generation.
    has_capacity = left == GENERATION_SIZE + CAPACITY_SIZE
    marked = np.where(has_capacity, last + GENERATION_SIZE, 0)
    left[has_capacity & (int32[marked] == CAPACITY_MARK)] = GENERATION_SIZE
    is_read &= (left == 0) | (left == GENERATION_SIZE)
    is_there = is_read & (left == GENERATION_SIZE)
    generation = int32[np.where(is_there, last, 0)].astype(np.int64)
    generation[~is_there] = NO_GENERATION
    return generation, owned_arrays(entries, known, is_read)


def sticky_claims(data: Sequence[bytes | None]) -> tuple[Int64, OwnedArrays, Bool]:
    """Return generation and partitions in UserData of M members, and whose are read, bool[M].

    Others want the reader in `wire`. Cost: O(bytes).
    """
    parts = [each or b"" for each in data]
    buffer, begin, end = joined_messages(parts, sizes_of(parts))
    is_read = end > begin
    generation, owned = _read_sticky(buffer, begin, end - begin, is_read, KnownNames({}))
    return generation, owned, is_read


def _user_data(arrays: MemberArrays, is_there: Bool) -> UserDataBuffer:
    """Return everybody's UserData in one buffer, where `is_there`, bool[M], says there is some.

    It is cut from the bytes of the members where the buffer that was read has been given up.
    """
    user_data = arrays.user_data
    if user_data.together is not None:
        return user_data.together
    if not is_there.any():
        return UserDataBuffer(bytes(PAD), user_data.start)
    size = user_data.length * is_there
    blobs = [blob or b"" for blob in arrays.blobs]
    pieces = map(slice, user_data.start.tolist(), (user_data.start + size).tolist())
    parts = map(bytes.__getitem__, blobs, pieces)
    return UserDataBuffer(b"".join((*parts, bytes(PAD))), size.cumsum() - size)
