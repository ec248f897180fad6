"""The fields behind the topic lists, read in lock step over all members.

First the UserData of everybody, then everybody's owned topics (`entries`), and so on to the rack.
A member stops being plain where its bytes are not; every read stays within its own bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Bool, Int32, Int64
from assignors.group_bytes.entries import (
    COUNT_SIZE,
    Entries,
    EntryRecords,
    Messages,
    Sections,
    entries_of_any_layout,
    filled,
    int16_view,
    int32_view,
    is_text,
    read_entries,
)
from assignors.group_bytes.entries.one_layout import entries_that_fill
from assignors.group_bytes.names import different_names, words_of_one_length
from assignors.group_bytes.topic_lists import LATEST, TopicLists
from assignors.model import NO_GENERATION
from wire.constructors import unchecked

DATA_LENGTH_SIZE = 4
"""Bytes of the length in front of UserData."""
GENERATION_SIZE = 4
"""Bytes of a generation, behind what is owned or alone in UserData."""
RACK_LENGTH_SIZE = 2
BEHIND_OWNED = GENERATION_SIZE + RACK_LENGTH_SIZE
"""Bytes of a generation and of a null rack."""
NULL_RACK = b"\xff\xff"
RACK_SIZE_MAX = 64
"""Racks of up to so many bytes are looked for at the end of the bytes."""


class UserDataBuffer(NamedTuple):
    """The UserData of R messages, and what is behind it, in one buffer that ends in `PAD` zeros."""

    buffer: bytes
    start: Int64
    """int64[R]: its first byte, anywhere in rows that are not plain; its length is before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserDataPlaces:
    """Where UserData stands in R messages."""

    start: Int64
    """int64[R]: its first byte."""
    length: Int64
    """int64[R]: negative for null."""
    number: Int64
    """int64[R]: four bytes of UserData as a number, -1 where it is longer or shorter."""
    together: UserDataBuffer | None = None
    """Where it was read, if some may hold claims: an eager assignor reads those there."""

    @property
    def end(self) -> Int64:
        """int64[R]: behind its last byte."""
        return self.start + np.maximum(self.length, 0)

    def of_row(self, row: int, blob: bytes | None) -> bytes | None:
        """Return the UserData of a row, cut from its bytes."""
        start, length = int(self.start[row]), int(self.length[row])
        return None if length < 0 or blob is None else blob[start : start + length]


_user_data_places = unchecked(UserDataPlaces)


class RackIds(NamedTuple):
    """The racks of M members."""

    names: tuple[str, ...]
    """Different ones; perhaps not all of them are somebody's."""
    number: Int32
    """int32[M]: position of each member's in `names`, -1 for null."""

    def listed(self) -> list[str | None]:
        """Return everybody's rack. Cost: O(M)."""
        return list(map((*self.names, None).__getitem__, self.number.tolist()))

    def chosen(self, rows: Int64) -> RackIds:
        """Return those of some members."""
        return RackIds(self.names, self.number[rows])

    def and_then(self, others: RackIds) -> RackIds:
        """Return these, and those of other members behind them."""
        return rack_numbers((*self.listed(), *others.listed()))


def rack_numbers(rack_ids: Sequence[str | None]) -> RackIds:
    """Return the racks of members as numbers. Cost: O(M)."""
    names = tuple(rack_id for rack_id in dict.fromkeys(rack_ids) if rack_id is not None)
    index: dict[str | None, int] = {name: number for number, name in enumerate(names)}
    numbers = map(index.get, rack_ids, repeat(-1))
    return RackIds(names, np.fromiter(numbers, np.int32, len(rack_ids)))


@dataclass(slots=True, kw_only=True)
class Fields:
    """What stands behind the topic lists, of M members."""

    is_plain: Bool
    """bool[M]."""
    generation: Int64
    """int64[M]."""
    generation_at: Int64
    """int64[M]: where the generation stands in the member's bytes, -1 where there is none."""
    user_data: UserDataPlaces
    """In the member's bytes."""
    rack_ids: RackIds
    empty_rack_at: Int64
    """int64[M]: where a rack of length 0 stands in the member's bytes, -1 where there is none."""


class OwnedSections(NamedTuple):
    """Where the owned topics of M members stand."""

    sections: Sections
    end: Int64
    """int64[M]: where they have to end."""


def has_notes(user_data: UserDataPlaces, empty_rack_at: Int64) -> Bool:
    """Return who has empty UserData or an empty rack: noted, where members are not read alone."""
    noted: Bool = (user_data.length == 0) | (empty_rack_at >= 0)
    return noted


def read_fields(messages: Messages, lists: TopicLists) -> tuple[Fields, Entries | EntryRecords]:
    """Return the fields behind the topic lists, read in lock step, and what is owned.

    What is left out of the messages, if anything, are their topic lists.
    """
    buffer, begin, end, left_out = messages
    is_plain = lists.list_of >= 0
    are_plain = lists.are_equal or bool(is_plain.all())
    behind_part = left_out - begin
    if not left_out:
        begin = begin + lists.end if are_plain else np.where(is_plain, begin + lists.end, end)
    if len(begin) and are_plain and not np.count_nonzero(lists.version != LATEST):
        alike = fields_alike(buffer, begin, end, is_plain, behind_part=behind_part)
        if alike is not None:
            fields, owned = alike
            return fields, _entries_between(buffer, is_plain, owned.sections, owned.end)
    return _fields(buffer, begin, end, behind_part, lists)


def _entries_between(
    buffer: bytes, is_plain: Bool, owned: Sections, end: Int64
) -> Entries | EntryRecords:
    """Return these entries; messages in which they do not end there stop being plain."""
    entries = entries_that_fill(buffer, owned.start, end, owned.size)
    if entries is None:
        entries = entries_of_any_layout(buffer, owned.start, end, is_plain, owned.size)
        is_plain &= owned.start == end
    return entries


def fields_alike(
    buffer: bytes, begin: Int64, end: Int64, is_plain: Bool, *, behind_part: Int64
) -> tuple[Fields, OwnedSections] | None:
    """Return the fields of version 3, where all have every field and a rack of one length, or none.

    With what is owned, which has still to be read. So it is in a large group whose members are of
    one program. Elsewhere the answer is `None`. All are plain so far. Topic lists end at `begin`,
    which may be behind the message; `behind_part` is added to places.
    """
    int32 = int32_view(buffer)
    rack_size = _rack_size(buffer, int(end[0]))
    generation_at = end - (BEHIND_OWNED + rack_size)
    length = int32[np.minimum(begin, generation_at)].astype(np.int64)
    data_start = begin + DATA_LENGTH_SIZE
    place = data_start + np.maximum(length, 0)
    first = place + COUNT_SIZE
    # Counted, because that takes a third of the time of numpy's `any`.
    if np.count_nonzero(first > generation_at):
        return None
    entry_count = int32[place].astype(np.int64)
    generation = int32[generation_at].astype(np.int64)
    rack_ids = _rack_ids_of_one_size(buffer, end - rack_size, rack_size)
    if rack_ids is None or generation[generation.argmin()] < NO_GENERATION:
        return None
    nothing = number = filled(len(begin), -1, np.int64)
    has_number = length == GENERATION_SIZE
    if np.count_nonzero(has_number):
        number = int32[data_start].astype(np.int64)
        number[~has_number] = -1
    fields = Fields(
        is_plain=is_plain,
        generation=generation,
        generation_at=generation_at + behind_part,
        user_data=_user_data_places(
            start=data_start + behind_part,
            length=length,
            number=number,
            together=_with_claims(buffer, data_start, length),
        ),
        rack_ids=rack_ids,
        empty_rack_at=nothing,
    )
    return fields, OwnedSections(Sections(first, entry_count), generation_at)


def _with_claims(buffer: bytes, start: Int64, length: Int64) -> UserDataBuffer | None:
    """Return the buffer if UserData of some of these lengths holds more than a number."""
    is_long = length[length.argmax()] > GENERATION_SIZE if len(length) else False
    return UserDataBuffer(buffer, start) if is_long else None


def _fields(
    buffer: bytes, begin: Int64, end: Int64, behind_part: Int64, lists: TopicLists
) -> tuple[Fields, Entries | EntryRecords]:
    """Return the fields of members of any layout, and what they own."""
    is_plain = lists.list_of >= 0
    place = begin.copy()
    version = lists.version
    user_data = read_user_data(buffer, place, end, is_plain)
    entries = read_entries(buffer, place, end, is_plain, is_there=version >= 1)
    together = _with_claims(buffer, user_data.start, user_data.length)
    user_data = replace(user_data, start=user_data.start + behind_part, together=together)
    generation_at = np.where(version >= 2, place + behind_part, -1)
    generation = _generations(int32_view(buffer), version, place, end, is_plain)
    rack_ids, empty_rack_at = _rack_ids(buffer, version, place, end, is_plain)
    is_plain &= place == end
    fields = Fields(
        is_plain=is_plain,
        generation=generation,
        generation_at=generation_at,
        user_data=user_data,
        rack_ids=rack_ids,
        empty_rack_at=np.where(empty_rack_at < 0, -1, empty_rack_at + behind_part),
    )
    return fields, entries


def read_user_data(buffer: bytes, place: Int64, end: Int64, is_plain: Bool) -> UserDataPlaces:
    """Read UserData; move `place` behind it."""
    is_plain &= place + 4 <= end
    int32 = int32_view(buffer)
    length = int32[_where(is_plain, place)].astype(np.int64)
    place += 4
    start = place.copy()
    is_plain &= (length < 0) | (place + length <= end)
    is_number = is_plain & (length == 4)
    number = np.where(is_number, int32[_where(is_number, place)], -1).astype(np.int64)
    place += np.where(is_plain, np.maximum(length, 0), 0)
    return UserDataPlaces(start=start, length=length, number=number)


def _generations(
    int32: NDArray[np.int32], version: Int64, place: Int64, end: Int64, is_plain: Bool
) -> Int64:
    """Read the generation of versions 2 and 3; move `place` behind it."""
    has = version >= 2
    is_plain &= ~has | (place + 4 <= end)
    there = has & is_plain
    generation = np.where(there, int32[_where(there, place)], -1).astype(np.int64)
    is_plain &= generation >= -1
    place += 4 * there
    return generation


def _rack_size(buffer: bytes, end: int) -> int:
    """Return how long the rack of the message that ends there seems to be, 0 for a null one."""
    if buffer[end - RACK_LENGTH_SIZE : end] == NULL_RACK:
        return 0
    for size in range(1, RACK_SIZE_MAX + 1):
        at = end - RACK_LENGTH_SIZE - size
        if at >= 0 and buffer[at] << 8 | buffer[at + 1] == size:
            return size
    return 0


def _rack_ids_of_one_size(buffer: bytes, place: Int64, size: int) -> RackIds | None:
    """Return everybody's rack, which begins at `place` and has this size; 0 for null ones.

    `None` where a rack is no text, or has another length.
    """
    wanted = size or -1
    if np.count_nonzero(int16_view(buffer)[place - RACK_LENGTH_SIZE] != wanted):
        return None
    if not size:
        return RackIds((), filled(len(place), -1, np.int32))
    found = different_names(words_of_one_length(buffer, place, size))
    if found is None:
        return None
    first, equal, _ = found
    written = [buffer[at : at + size] for at in place[first].tolist()]
    if not all(map(is_text, written)):
        return None
    number = np.empty(len(place), dtype=np.int32)
    number[first] = np.arange(len(first), dtype=np.int32)
    return RackIds(tuple(map(bytes.decode, written)), number.take(equal))


def _rack_ids(
    buffer: bytes, version: Int64, place: Int64, end: Int64, is_plain: Bool
) -> tuple[RackIds, Int64]:
    """Read the rack of version 3; move `place` behind it. Return places of empty ones, too."""
    has = version >= 3
    is_plain &= ~has | (place + 2 <= end)
    there = has & is_plain
    length = np.where(there, int16_view(buffer)[_where(there, place)], -1).astype(np.int64)
    empty_at = np.where(length == 0, place, -1)
    place += 2 * there
    is_plain &= place + length <= end
    rows = np.flatnonzero(length > 0)
    rack_ids: list[str | None] = [None] * len(version)
    if not len(rows):
        return rack_numbers(rack_ids), empty_at
    plain = rows[is_plain[rows]]
    pieces = map(slice, place[plain].tolist(), (place + length)[plain].tolist())
    written = list(map(buffer.__getitem__, pieces))
    known = {each: each.decode() for each in set(written) if is_text(each)}
    for row, each in zip(plain.tolist(), written, strict=True):
        rack_ids[row] = known.get(each)
        is_plain[row] = each in known
    place[rows] += length[rows]
    return rack_numbers(rack_ids), empty_at


def _where(is_there: Bool, place: Int64) -> Int64:
    """Return places, 0 where nothing is there: what is read at 0 is not used."""
    return place if is_there.all() else np.where(is_there, place, 0)
