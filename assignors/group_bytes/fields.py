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
    Messages,
    Sections,
    int16_view,
    int32_view,
    is_text,
    read_entries,
)
from assignors.group_bytes.topic_lists import LATEST, TopicLists
from assignors.model import NO_GENERATION

DATA_LENGTH_SIZE = 4
"""Bytes of the length in front of UserData."""
RACK_LENGTH_SIZE = 2
NULL = -1
GENERATION_SIZE = 4
"""Bytes of a generation, behind what is owned or alone in UserData."""


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

    def of_row(self, row: int, blob: bytes | None) -> bytes | None:
        """Return the UserData of a row, cut from its bytes."""
        start, length = int(self.start[row]), int(self.length[row])
        return None if length < 0 or blob is None else blob[start : start + length]


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
    user_data: UserDataPlaces
    """In the member's bytes."""
    rack_ids: RackIds
    empty_rack_at: Int64
    """int64[M]: where a rack of length 0 stands in the member's bytes, -1 where there is none."""


def has_notes(user_data: UserDataPlaces, empty_rack_at: Int64) -> Bool:
    """Return who has empty UserData or an empty rack: noted, where members are not read alone."""
    noted: Bool = (user_data.length == 0) | (empty_rack_at >= 0)
    return noted


def read_fields(messages: Messages, lists: TopicLists) -> tuple[Fields, Entries]:
    """Return the fields behind the topic lists, read in lock step, and what is owned."""
    buffer, begin, end = messages
    version, is_plain = lists.version, lists.list_of >= 0
    place = begin + lists.end if _are_all(is_plain) else np.where(is_plain, begin + lists.end, end)
    user_data = read_user_data(buffer, place, end, is_plain)
    entries = read_entries(buffer, place, end, is_plain, is_there=version >= 1)
    together = _with_claims(buffer, user_data.start, user_data.length)
    user_data = replace(user_data, start=user_data.start - begin, together=together)
    generation = _generations(int32_view(buffer), version, place, end, is_plain)
    rack_ids, empty_rack_at = _rack_ids(buffer, version, place, end, is_plain)
    is_plain &= place == end
    fields = Fields(
        is_plain=is_plain,
        generation=generation,
        user_data=user_data,
        rack_ids=rack_ids,
        empty_rack_at=np.where(empty_rack_at < 0, -1, empty_rack_at - begin),
    )
    return fields, entries


def fields_alike(messages: Messages, list_end: Int64) -> tuple[Fields, Sections, Int64] | None:
    """Return the fields of messages of the latest version with every field and no rack.

    With what is owned, which has still to be read, and where it has to end. `None` elsewhere. Topic
    lists end at `list_end`, which may be behind the message.
    """
    buffer, begin, end = messages
    int32 = int32_view(buffer)
    generation_at = end - (GENERATION_SIZE + RACK_LENGTH_SIZE)
    length = int32[np.minimum(list_end, generation_at)].astype(np.int64)
    start = list_end + DATA_LENGTH_SIZE
    place = start + np.maximum(length, 0)
    if np.count_nonzero(place + COUNT_SIZE > generation_at):
        return None
    generation = int32[generation_at].astype(np.int64)
    has_rack = np.count_nonzero(int16_view(buffer)[end - RACK_LENGTH_SIZE] != NULL)
    if has_rack or generation[generation.argmin()] < NO_GENERATION:
        return None
    fields = Fields(
        is_plain=np.ones(len(begin), dtype=np.bool_),
        generation=generation,
        user_data=UserDataPlaces(
            start=start - begin,
            length=length,
            number=np.where(length == GENERATION_SIZE, int32[start], NULL).astype(np.int64),
            together=_with_claims(buffer, start, length),
        ),
        rack_ids=RackIds((), np.full(len(begin), -1, dtype=np.int32)),
        empty_rack_at=np.full(len(begin), -1, dtype=np.int64),
    )
    owned = Sections(place + COUNT_SIZE, int32[place].astype(np.int64))
    return fields, owned, generation_at


def _with_claims(buffer: bytes, start: Int64, length: Int64) -> UserDataBuffer | None:
    """Return the buffer if UserData of some of these lengths holds more than a number."""
    is_long = length[length.argmax()] > GENERATION_SIZE if len(length) else False
    return UserDataBuffer(buffer, start) if is_long else None


def read_user_data(buffer: bytes, place: Int64, end: Int64, is_plain: Bool) -> UserDataPlaces:
    """Read UserData; move `place` behind it."""
    is_plain &= place + 4 <= end
    int32 = int32_view(buffer)
    length = _numbers(int32, is_plain, place)
    place += 4
    start = place.copy()
    size = np.maximum(length, 0)
    is_plain &= place + size <= end
    is_number = length == GENERATION_SIZE
    number = np.full(len(place), -1, dtype=np.int64)
    if np.count_nonzero(is_number):
        number = _numbers(int32, is_plain & is_number, place)
    place += size if _are_all(is_plain) else size * is_plain
    return UserDataPlaces(start=start, length=length, number=number)


def _generations(
    int32: NDArray[np.int32], version: Int64, place: Int64, end: Int64, is_plain: Bool
) -> Int64:
    """Read the generation of versions 2 and 3; move `place` behind it."""
    there = version >= 2
    size = GENERATION_SIZE * there
    is_plain &= place + size <= end
    there &= is_plain
    generation = _numbers(int32, there, place)
    is_plain &= generation >= NO_GENERATION
    place += size
    return generation


def _rack_ids(
    buffer: bytes, version: Int64, place: Int64, end: Int64, is_plain: Bool
) -> tuple[RackIds, Int64]:
    """Read the rack of version 3; move `place` behind it. Return places of empty ones, too."""
    there = version >= LATEST
    size = RACK_LENGTH_SIZE * there
    is_plain &= place + size <= end
    there &= is_plain
    length = _numbers(int16_view(buffer), there, place)
    empty_at = np.full(len(place), -1, dtype=np.int64)
    if np.count_nonzero(length) < len(length):
        empty_at = np.where(length == 0, place, -1)
    place += size
    is_plain &= place + length <= end
    rows = np.flatnonzero(length > 0)
    if not len(rows):
        return RackIds((), np.full(len(version), -1, dtype=np.int32)), empty_at
    rack_ids: list[str | None] = [None] * len(version)
    plain = rows[is_plain[rows]]
    pieces = map(slice, place[plain].tolist(), (place + length)[plain].tolist())
    written = list(map(buffer.__getitem__, pieces))
    known = {each: each.decode() for each in set(written) if is_text(each)}
    for row, each in zip(plain.tolist(), written, strict=True):
        rack_ids[row] = known.get(each)
        is_plain[row] = each in known
    place[rows] += length[rows]
    return rack_numbers(rack_ids), empty_at


def _numbers(view: NDArray[np.int16] | NDArray[np.int32], is_there: Bool, place: Int64) -> Int64:
    """Return the number at each place, -1 where nothing is there."""
    if _are_all(is_there):
        return view[place].astype(np.int64)
    numbers = np.full(len(place), -1, dtype=np.int64)
    numbers[is_there] = view[place[is_there]]
    return numbers


def _are_all(is_there: Bool) -> bool:
    """Return whether all are true, in a third of the time of numpy's `all`."""
    return bool(np.count_nonzero(is_there) == len(is_there))
