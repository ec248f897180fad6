"""Members whose Subscriptions were read together: arrays first, a `Member` when somebody asks.

An assignor that works on arrays never makes the members of a large group: what they subscribe to is
a row of a table, what they claim are arrays. Whoever reads `Group.members` gets a `Member` for
each of them all the same, made once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, repeat
from typing import NamedTuple, overload

import numpy as np

from assignors.arrays import Bool, Int32, Int64, OwnedArrays
from assignors.model import LazyMembers, Member
from wire import Note, NoteCode

LENGTH_SIZE, RACK_LENGTH_SIZE = 4, 2
"""Bytes of the length in front of UserData, and in front of a rack."""


class RackIds(NamedTuple):
    """The racks of M members."""

    names: tuple[str, ...]
    """Different ones."""
    number: Int32
    """int32[M]: position of each member's in `names`, -1 for null."""


def rack_numbers(rack_ids: Sequence[str | None]) -> RackIds:
    """Return the racks of members as numbers. Cost: O(M)."""
    names = tuple(rack_id for rack_id in dict.fromkeys(rack_ids) if rack_id is not None)
    index: dict[str | None, int] = {name: number for number, name in enumerate(names)}
    numbers = map(index.get, rack_ids, repeat(-1))
    return RackIds(names, np.fromiter(numbers, np.int32, len(rack_ids)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MemberArrays:
    """M members, in UTF-16 order of their ids, which is the order of the rows."""

    member_ids: tuple[str, ...]
    blobs: tuple[bytes, ...]
    """The Subscriptions."""
    instance_ids: Mapping[str, str]
    list_ptr: Int64
    """int64[S + 1]: topic list s has the names name[list_ptr[s]:list_ptr[s + 1]]."""
    name: Int32
    """int32[E]: positions in `owned.names`."""
    list_of: Int64
    """int64[M]: the topic list of each member."""
    version: Int64
    """int64[M]: of the Subscription."""
    generation: Int64
    """int64[M]."""
    owned: OwnedArrays
    """OwnedPartitions, and the names of all topics."""
    data_start: Int64
    """int64[M]: where UserData stands in the member's bytes."""
    data_length: Int64
    """int64[M]: negative for null."""
    rack_ids: RackIds
    has_empty_rack: Bool
    """bool[M]: whether a rack of length 0 stands in the bytes."""
    made: dict[int, Member] = field(default_factory=dict)
    """Members made so far."""
    topics: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Topic lists by name, made so far."""

    def member(self, row: int) -> Member:
        """Return the member of a row, made when it is first asked for."""
        return self.made.get(row) or self._make(row)

    def user_data(self, row: int) -> bytes | None:
        """Return the UserData of a row, cut from its bytes."""
        start, length = int(self.data_start[row]), int(self.data_length[row])
        return None if length < 0 else self.blobs[row][start : start + length]

    def everybodys_user_data(self) -> list[bytes | None]:
        """Return the UserData of all rows. Cost: O(M + bytes)."""
        places = zip(self.data_start.tolist(), self.data_length.tolist(), strict=True)
        return [
            None if length < 0 else blob[start : start + length]
            for blob, (start, length) in zip(self.blobs, places, strict=True)
        ]

    def noted(self) -> list[int]:
        """Return the rows on whose bytes the reader in `wire` has notes: none, as a rule."""
        is_noted = (self.data_length == 0) | self.has_empty_rack
        rows: list[int] = is_noted.nonzero()[0].tolist()
        return rows

    def _make(self, row: int) -> Member:
        member_id, rack = self.member_ids[row], int(self.rack_ids.number[row])
        made = self.made[row] = Member(
            member_id=member_id,
            topics=self._topic_list(int(self.list_of[row])),
            owned=self.owned.of_row(row),
            generation=int(self.generation[row]),
            rack_id=None if rack < 0 else self.rack_ids.names[rack],
            instance_id=self.instance_ids.get(member_id),
            user_data=self.user_data(row),
            version=int(self.version[row]),
            notes=self._notes(row),
        )
        return made

    def _notes(self, row: int) -> tuple[Note, ...]:
        """Return the notes of the reader in `wire`."""
        notes = []
        if not self.data_length[row]:
            at = int(self.data_start[row]) - LENGTH_SIZE
            notes.append(Note(NoteCode.USER_DATA_EMPTY, at, "user data of length 0, not null"))
        if self.has_empty_rack[row]:
            at = len(self.blobs[row]) - RACK_LENGTH_SIZE
            notes.append(Note(NoteCode.RACK_EMPTY, at, "rack of length 0, not null"))
        return tuple(notes)

    def _topic_list(self, number: int) -> tuple[str, ...]:
        """Return a topic list by name: one tuple for all members that have it."""
        found = self.topics.get(number)
        if found is None:
            first, end = self.list_ptr[number : number + 2].tolist()
            listed = map(self.owned.names.__getitem__, self.name[first:end].tolist())
            found = self.topics[number] = tuple(listed)
        return found


class ReadMembers(LazyMembers):
    """The rows of `MemberArrays`, in any order, as a sequence of members."""

    def __init__(self, arrays: MemberArrays, rows: Int64 | None = None) -> None:
        """Look at the rows in this order, int64[M]; in their own without `rows`. Cost: O(1)."""
        self.arrays = arrays
        self.rows = rows

    def __len__(self) -> int:
        return len(self.arrays.member_ids)

    @overload
    def __getitem__(self, position: int) -> Member: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Member, ...]: ...
    def __getitem__(self, position: int | slice) -> Member | tuple[Member, ...]:
        """Return a member, or a tuple of them; `IndexError` as for a tuple."""
        rows = range(len(self)) if self.rows is None else self.rows
        if isinstance(position, slice):
            return tuple([self.arrays.member(int(row)) for row in rows[position]])
        return self.arrays.member(int(rows[position]))

    def __iter__(self) -> Iterator[Member]:
        return iter(self[:])

    @property
    def member_ids(self) -> tuple[str, ...]:
        """The ids, without a `Member` for each."""
        ids = self.arrays.member_ids
        return ids if self.rows is None else tuple(map(ids.__getitem__, self.rows.tolist()))

    def in_id_order(self) -> ReadMembers:
        """Return the members in UTF-16 order of their ids. Cost: O(1)."""
        return self if self.rows is None else ReadMembers(self.arrays)

    def subscriptions(self) -> tuple[tuple[str, ...], Bool, Int64]:
        """Return T names of topics, the lists of them, bool[S, T], and the list of each row.

        Each of the lists is somebody's, and each of the names stands in one.
        """
        arrays = self.arrays
        size, names = arrays.list_ptr[1:] - arrays.list_ptr[:-1], arrays.owned.names
        table = np.zeros((len(size), len(names)), dtype=np.bool_)
        cell = (np.arange(len(size)) * len(names)).repeat(size)
        cell += arrays.name
        table.ravel()[cell] = True
        is_asked = np.logical_or.reduce(table, axis=0)
        if is_asked.all():
            return names, table, arrays.list_of
        return tuple(compress(names, is_asked.tolist())), table[:, is_asked], arrays.list_of
