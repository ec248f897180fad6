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

from assignors.arrays import (
    Bool,
    Int32,
    Int64,
    OwnedArrays,
)
from assignors.assignor import UserData
from assignors.group_bytes.entries import (
    PAD,
    int32_view,
    owned_arrays,
    read_entries,
)
from assignors.group_bytes.fields import UserDataPlaces
from assignors.group_bytes.members import MemberArrays, ReadMembers
from assignors.model import NO_GENERATION
from wire import decode_cooperative_user_data
from wire.constructors import unchecked
from wire.protocol.capacity import MARK
from wire.protocol.capacity import SIZE as CAPACITY_SIZE

COUNT_SIZE = 4
GENERATION_SIZE = 4
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
    blobs: Sequence[bytes | None]
    """The bytes of the M rows."""
    user_data: UserDataPlaces
    is_in_user_data: bool
    """Whether the owned partitions stand in UserData, not behind it."""
    end: Int64
    """int64[M]: where the owned partitions of each row end in its bytes.

    Less than where they begin if there are none.
    """

    @property
    def start(self) -> Int64:
        """int64[M]: where the owned partitions begin, with their count. Cost: O(M)."""
        return self.user_data.start if self.is_in_user_data else self.user_data.end

    def claimed(self, topic: Int64 | None) -> Claimed:
        """Return what is claimed, row by row, without members that were read one by one.

        `topic` has the number of each name of `owned`, `None` for 0, 1, ... Cost: O(numbers).
        """
        owned = self.owned
        name, number = owned.topic, owned.number
        ptr = owned.entry_ptr
        if len(name) < len(number):
            name = name.repeat(np.diff(owned.number_ptr))
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


class ClaimSections(NamedTuple):
    """What N members own, as bytes: those that an Assignment of the same partitions has.

    All of it exists, and nothing is claimed twice. C claims, P partitions.
    """

    rows: ClaimRows
    partition: Int64
    """int64[C]: row by row, in the order of the bytes."""
    member: Int32
    """int32[C]."""
    claimant: Int32
    """int32[P]: who claims each partition."""

    def is_kept(self, owner: Int32) -> Bool:
        """Return who is given by `owner`, int32[P], what it owns, in the order it wrote, bool[N].

        Cost: O(P + C).
        """
        # One entry more than members, for nobody.
        is_kept = np.ones(len(self.rows.rows) + 1, dtype=np.bool_)
        differs = np.flatnonzero(self.claimant != owner)
        is_kept[self.claimant[differs]] = False
        is_kept[owner[differs]] = False
        member = self.member
        falls = np.flatnonzero(self.partition[1:] < self.partition[:-1])
        falls = falls[member[falls] == member[falls + 1]]
        is_kept[member[falls]] = False
        is_kept[:-1][(self.rows.end < self.rows.start + COUNT_SIZE)[self.rows.rows]] = False
        return is_kept[:-1]

    def messages(self, before: bytes, behind: bytes, chosen: Bool) -> list[bytes]:
        """Return what chosen members own, as they wrote it, between these bytes; none of others.

        `chosen` is bool[N].
        """
        start, end, blobs, rows = self.rows.start, self.rows.end, self.rows.blobs, self.rows.rows
        places = np.flatnonzero(chosen)
        wanted = rows[places]
        written = zip(
            map(blobs.__getitem__, wanted.tolist()),
            start[wanted].tolist(),
            end[wanted].tolist(),
            strict=True,
        )
        found = [b"".join((before, (blob or b"")[at:to], behind)) for blob, at, to in written]
        if len(found) == len(rows):
            return found
        messages = [b""] * len(rows)
        for place, message in zip(places.tolist(), found, strict=True):
            messages[place] = message
        return messages


_claim_rows = unchecked(ClaimRows)


def claim_rows(members: ReadMembers, kind: UserData) -> ClaimRows:
    """Return the claims of members under an assignor that reads this field. Cost: O(bytes)."""
    arrays, rows = members.arrays, members.rows
    if kind is UserData.COOPERATIVE and members.is_whole and not arrays.alone:
        return _claim_rows(
            generation=_cooperative(arrays, None),
            is_known=arrays.version >= 1,
            owned=arrays.owned,
            rows=rows,
            position=rows.astype(np.int32),
            is_whole=True,
            alone=[],
            noted=np.flatnonzero(_has_notes(arrays)).tolist() if _may_have_notes(arrays) else [],
            blobs=arrays.blobs,
            user_data=arrays.user_data,
            is_in_user_data=False,
            end=arrays.generation_at,
        )
    is_read = np.ones(len(arrays.member_ids), dtype=np.bool_)
    is_read[list(arrays.alone)] = False
    if kind is UserData.COOPERATIVE:
        generation, owned = _cooperative(arrays, rows), arrays.owned
        is_known = arrays.version[rows] >= 1
        end = arrays.generation_at
    else:
        generation, owned, end = _sticky(arrays, is_read)
        generation, is_known = generation[rows], np.ones(len(rows), dtype=np.bool_)
    position = np.full(len(is_read), -1, dtype=np.int32)
    position[rows] = np.arange(len(rows))
    position[~is_read] = -1
    return ClaimRows(
        generation=generation,
        is_known=is_known,
        owned=owned,
        rows=rows,
        position=position,
        is_whole=False,
        alone=np.flatnonzero(~is_read[rows]).tolist(),
        noted=np.flatnonzero((is_read & _has_notes(arrays))[rows]).tolist(),
        blobs=arrays.blobs,
        user_data=arrays.user_data,
        is_in_user_data=kind is not UserData.COOPERATIVE,
        end=end,
    )


def _may_have_notes(arrays: MemberArrays) -> bool:
    """Return whether `_has_notes` is true anywhere; rows read alone count, whatever they are."""
    length, empty_rack_at = arrays.user_data.length, arrays.empty_rack_at
    return bool((length == 0).any()) or int(empty_rack_at.max(initial=-1)) >= 0


def _has_notes(arrays: MemberArrays) -> Bool:
    """Return on which rows the reader in `wire` has notes, bool[M]."""
    noted: Bool = (arrays.user_data.length == 0) | (arrays.empty_rack_at >= 0)
    return noted


def _cooperative(arrays: MemberArrays, rows: Int64 | None) -> Int64:
    """Return the generation of the rows' claims: the field's, else that of UserData (KIP-792).

    Of all rows where `rows` is `None`.
    """
    generation, user_data = arrays.generation, arrays.user_data
    version, length, number = arrays.version, user_data.length, user_data.number
    if rows is None:
        rows = np.arange(len(generation))
    else:
        generation, version = generation[rows], version[rows]
        length, number = length[rows], number[rows]
    if not len(generation) or int(generation.min()) >= 0:
        return generation
    missing = np.flatnonzero(generation < 0)
    if int(number[missing].max()) < 0 and int(length[missing].max()) <= GENERATION_SIZE:
        return generation  # UserData has none either
    is_missing = (generation < 0) & (version >= 1)
    is_number = is_missing & (length == GENERATION_SIZE)
    generation = np.where(is_number, np.maximum(number, NO_GENERATION), generation)
    for position in np.flatnonzero(is_missing & (length > GENERATION_SIZE)).tolist():
        row = int(rows[position])
        read = decode_cooperative_user_data(user_data.of_row(row, arrays.blobs[row])).value
        if read is not None and read.generation is not None:
            generation[position] = max(read.generation, NO_GENERATION)
    return generation


def _sticky(arrays: MemberArrays, is_read: Bool) -> tuple[Int64, OwnedArrays, Int64]:
    """Return the generation and the partitions in everybody's UserData, row by row.

    And where the partitions end in the row's bytes.
    `is_read` becomes false for rows in which they are not plain: with a generation behind them
    (V1) or nothing (V0). Cost: O(bytes).
    """
    is_there = is_read & (arrays.user_data.length > 0)
    start = np.where(is_there, arrays.user_data.start, 0)
    stop = arrays.user_data.end.tolist()
    parts = [
        (blob or b"")[first:end] if asked else b""
        for blob, first, end, asked in zip(
            arrays.blobs, start.tolist(), stop, is_there.tolist(), strict=True
        )
    ]
    bounds = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=bounds[1:])
    buffer = b"".join([*parts, bytes(PAD)])
    place, end = bounds[:-1].copy(), bounds[1:]
    entries = read_entries(buffer, place, end, is_read, is_there=is_there)
    section_end = place - bounds[:-1] + start
    left = end - place
    # UserData that ends with a capacity: its mark stands behind the generation.
    has_capacity = left == GENERATION_SIZE + CAPACITY_SIZE
    marked = np.where(has_capacity, place + GENERATION_SIZE, 0)
    left[has_capacity & (int32_view(buffer)[marked] == CAPACITY_MARK)] = GENERATION_SIZE
    is_read &= (left == 0) | (left == GENERATION_SIZE)
    has_generation = is_read & (left == GENERATION_SIZE)
    generation = int32_view(buffer)[np.where(has_generation, place, 0)].astype(np.int64)
    generation = np.where(has_generation, np.maximum(generation, NO_GENERATION), NO_GENERATION)
    numbers = {name.encode(): number for number, name in enumerate(arrays.names)}
    return generation, owned_arrays(entries, numbers, is_read), section_end
