"""Members whose Subscriptions were read together: arrays first, a `Member` when somebody asks.

A leader that works on arrays never makes the members of a large group: what they subscribe to is
a row of a table, what they claim are arrays. Whoever reads `Group.members` gets a `Member` for
each of them all the same, made once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from typing import Any, overload

import numpy as np

from assignors.arrays import (
    Bool,
    Int32,
    Int64,
    OwnedArrays,
    OwnedPartitions,
)
from assignors.group_bytes.fields import (
    DATA_LENGTH_SIZE,
    RackIds,
    UserDataPlaces,
    rack_numbers,
)
from assignors.model import LazyMembers, Member
from wire import Note, NoteCode


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MemberArrays:
    """M members, in the order of the JoinGroup answer, which is the order of the rows.

    Rows in `alone` were read one by one: for these nothing else here is meant.
    """

    member_ids: tuple[str, ...]
    blobs: tuple[bytes | None, ...]
    """The Subscriptions; `None` for what was decoded already."""
    instance_ids: Mapping[str, str]
    names: tuple[str, ...]
    """Names of topics."""
    list_ptr: Int64
    """int64[S + 1]: topic list s has the names name[list_ptr[s]:list_ptr[s + 1]]."""
    name: Int32
    """int32[E]: positions in `names`."""
    list_of: Int64
    """int64[M]: the topic list of each member."""
    version: Int64
    """int64[M]: of the Subscription."""
    generation: Int64
    """int64[M]."""
    owned: OwnedArrays
    user_data: UserDataPlaces
    rack_ids: RackIds
    empty_rack_at: Int64
    """int64[M]: where a rack of length 0 stands in the bytes, -1 where there is none."""
    alone: Mapping[int, Member]
    made: dict[int, Member] = field(default_factory=dict)
    """Members made so far; those of `alone` from the start."""
    topics: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Topic lists by name, made so far."""

    def member(self, row: int) -> Member:
        """Return the member of a row, made when it is first asked for."""
        found = self.made.get(row) or self.alone.get(row)
        return found or self._make(row, [int(column[row]) for column in self._columns()])

    def members(self, rows: Int64) -> list[Member]:
        """Return the members of many rows in half the time."""
        columns = [column[rows].tolist() for column in self._columns()]
        return [
            self.made.get(row) or self.alone.get(row) or self._make(row, values)
            for row, values in zip(rows.tolist(), zip(*columns, strict=True), strict=True)
        ]

    def _columns(self) -> tuple[Int64 | Int32, ...]:
        """Return what `_make` takes a value of."""
        data, racks = self.user_data, self.rack_ids.number
        of_bytes = data.start, data.length, racks, self.empty_rack_at
        return self.list_of, self.version, self.generation, *of_bytes

    def _make(self, row: int, values: Sequence[int]) -> Member:
        list_number, version, generation, start, length, rack, empty_rack_at = values
        member_id, blob = self.member_ids[row], self.blobs[row]
        made = self.made[row] = Member(
            member_id=member_id,
            topics=self.topics.get(list_number) or self.topic_list(list_number),
            owned=OwnedPartitions(self.owned, row),
            generation=generation,
            rack_id=None if rack < 0 else self.rack_ids.names[rack],
            instance_id=self.instance_ids.get(member_id),
            user_data=None if length < 0 or blob is None else blob[start : start + length],
            version=version,
            owned_known=version >= 1,
            notes=_notes(start, length, empty_rack_at) if not length or empty_rack_at >= 0 else (),
        )
        return made

    def topic_list(self, number: int) -> tuple[str, ...]:
        """Return a topic list by name: one tuple for all members that have it."""
        found = self.topics.get(number)
        if found is None:
            first, end = self.list_ptr[number : number + 2].tolist()
            listed = map(self.names.__getitem__, self.name[first:end].tolist())
            found = self.topics[number] = tuple(listed)
        return found


def _notes(data_start: int, data_length: int, empty_rack_at: int) -> tuple[Note, ...]:
    """Return the notes of the reader in `wire`."""
    notes = []
    if not data_length:
        at = data_start - DATA_LENGTH_SIZE
        notes.append(Note(NoteCode.USER_DATA_EMPTY, at, "user data of length 0, not null"))
    if empty_rack_at >= 0:
        notes.append(Note(NoteCode.RACK_EMPTY, empty_rack_at, "rack of length 0, not null"))
    return tuple(notes)


class ReadMembers(LazyMembers):
    """Some rows of `MemberArrays`, in any order, as a sequence of members."""

    def __init__(self, arrays: MemberArrays, rows: Int64 | None = None) -> None:
        """Look at these rows, int64[N]; at all without `rows`. Cost: O(N)."""
        self.arrays = arrays
        self.rows = np.arange(len(arrays.member_ids)) if rows is None else rows
        self.is_whole = rows is None
        self._member_ids = arrays.member_ids if rows is None else None

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, position: int) -> Member: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Member, ...]: ...
    def __getitem__(self, position: int | slice) -> Member | tuple[Member, ...]:
        """Return a member, or a tuple of them; `IndexError` as for a tuple."""
        if isinstance(position, slice):
            return tuple(self.arrays.members(self.rows[position]))
        return self.arrays.member(int(self.rows[position]))

    def __iter__(self) -> Iterator[Member]:
        return iter(self.arrays.members(self.rows))

    @property
    def member_ids(self) -> tuple[str, ...]:
        """The ids, without a `Member` for each."""
        if self._member_ids is None:
            self._member_ids = tuple(map(self.arrays.member_ids.__getitem__, self.rows.tolist()))
        return self._member_ids

    def in_id_order(self, key: Callable[[str], bytes]) -> ReadMembers:
        """Return the members in the order of their ids, by this key. Cost: O(N log N)."""
        ids = self.member_ids
        keys: list[Any] = list(ids if "".join(ids).isascii() else map(key, ids))
        if sorted(keys) == keys:
            return self
        order = sorted(range(len(ids)), key=keys.__getitem__)
        return ReadMembers(self.arrays, self.rows[order])

    def alone(self) -> list[int]:
        """Return the positions of members that were read one by one, in ascending order."""
        if not self.arrays.alone:
            return []
        return np.flatnonzero(np.isin(self.rows, list(self.arrays.alone))).tolist()

    def perhaps_silent(self) -> list[Member]:
        """Return the members whose bytes may not say what they own.

        Those of version 0 do not; those that were read one by one have to be looked at.
        """
        arrays = self.arrays
        if not arrays.alone and int(arrays.version.min(initial=1)) >= 1:
            return []
        is_silent = arrays.version[self.rows] < 1
        is_silent[self.alone()] = True
        return [self[position] for position in np.flatnonzero(is_silent).tolist()]

    def rack_ids(self) -> RackIds | None:
        """Return everybody's rack, `None` where nobody has one."""
        racks, alone = self.arrays.rack_ids, self.arrays.alone
        if not racks.names and not alone:
            return None
        if alone:
            listed = racks.listed()
            for row, member in alone.items():
                listed[row] = member.rack_id
            racks = rack_numbers(listed)
        return racks.chosen(self.rows)

    def subscriptions(self) -> tuple[tuple[str, ...], Bool, Int64]:
        """Return T names of topics, the lists of them, bool[S, T], and everybody's list, int64[N].

        Each of the lists is somebody's, and each of the names stands in one.
        """
        arrays, alone = self.arrays, self.alone()
        if len(arrays.list_ptr) == 2 and not alone:  # one list
            names = tuple(map(arrays.names.__getitem__, arrays.name.tolist()))
            table = np.empty((1, len(names)), dtype=np.bool_)
            table[:] = True  # faster than `ones`
            return names, table, np.zeros(len(self), dtype=np.int64)
        list_of = arrays.list_of[self.rows]
        is_used = np.zeros(len(arrays.list_ptr) - 1, dtype=np.bool_)
        is_used[np.delete(list_of, alone) if alone else list_of] = True
        names, others = arrays.names, [self[position].topics for position in alone]
        if others:
            names = tuple(dict.fromkeys(chain(names, *others)))
        size, number = arrays.list_ptr[1:] - arrays.list_ptr[:-1], arrays.name
        if not is_used.all():
            number, size = number[is_used.repeat(size)], size[is_used]
            list_of = (np.cumsum(is_used) - 1)[list_of]
        table = np.zeros((len(size) + len(others), len(names)), dtype=np.bool_)
        cell = (np.arange(len(size)) * len(names)).repeat(size)
        cell += number
        table.ravel()[cell] = True
        if others:
            index = {name: place for place, name in enumerate(names)}
            for row, topics in enumerate(others, start=len(size)):
                table[row, list(map(index.__getitem__, topics))] = True
            list_of[alone] = np.arange(len(size), len(table))
        is_asked = np.logical_or.reduce(table, axis=0)
        if is_asked.all():
            return names, table, list_of
        return tuple(compress(names, is_asked.tolist())), table[:, is_asked], list_of
