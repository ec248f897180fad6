"""Subscriptions and Assignments by the thousand, as columns.

All blobs are walked in step: the first topic of each is read at once, then the second of those
that have one, and so on, so that Python's part grows with the longest list and not with the
number of members. A blob that is plain from its first to its last byte is read so. One that
has anything worth a note goes through the tolerant codecs of `wire`; so do the last few with
long lists, for which walking in step no longer pays. Both give the same rows, and a test holds
them to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from assignors.arrow.codecs import decoded_assignments, decoded_subscriptions
from assignors.arrow.schemas import (
    DECODED_ASSIGNMENT,
    DECODED_SUBSCRIPTION,
    NOTES,
    PARTITIONS,
)
from assignors.replay.decode.buffers import Bytes, Index, Mask, bytes_of, expanded, offsets_of
from assignors.replay.decode.lockstep import TOGETHER_MIN, LockstepReader

NEWEST_VERSION = 3

_Columns: TypeAlias = tuple[Mask, pa.StructArray]
"""Which blobs are plain, and the structs of those."""


def subscription_columns(blobs: pa.BinaryArray) -> pa.StructArray:
    """Return `DECODED_SUBSCRIPTION` of each blob; null stays null.

    Cost: O(bytes), and O(longest list of topics) array operations.

    >>> blob = bytes.fromhex("0001" "00000001" "000174" "ffffffff" "00000000")
    >>> subscription_columns(pa.array([blob]))[0]["topics"].as_py()
    ['t']
    """
    return _distinct(blobs, _plain_subscriptions, decoded_subscriptions)


def assignment_columns(blobs: pa.BinaryArray) -> pa.StructArray:
    """Return `DECODED_ASSIGNMENT` of each blob; null stays null. Cost: as above."""
    return _distinct(blobs, _plain_assignments, decoded_assignments)


def _distinct(
    blobs: pa.BinaryArray,
    plain: Callable[[Bytes], _Columns],
    tolerant: Callable[[pa.Array], pa.StructArray],
) -> pa.StructArray:
    """Decode each distinct blob once: members say the same from one generation to the next."""
    encoded = blobs.dictionary_encode()
    if 2 * len(encoded.dictionary) > len(blobs):
        return _decoded(blobs, plain, tolerant)
    return _decoded(encoded.dictionary, plain, tolerant).take(encoded.indices)


def _decoded(
    blobs: pa.BinaryArray,
    plain: Callable[[Bytes], _Columns],
    tolerant: Callable[[pa.Array], pa.StructArray],
) -> pa.StructArray:
    if len(blobs) < TOGETHER_MIN:
        return tolerant(blobs)
    is_plain, columns = plain(bytes_of(blobs))
    odd = np.flatnonzero(~is_plain)
    if not len(odd):
        return columns
    rest = tolerant(blobs.take(pa.array(odd)))
    return expanded([columns, rest], [np.flatnonzero(is_plain), odd], len(blobs))


def _plain_subscriptions(blobs: Bytes) -> _Columns:
    walk = LockstepReader(blobs)
    version = walk.int16()
    # Version 0, which does not say what is owned, is left to the codec: hardly anybody writes it.
    walk.need((version >= 1) & (version <= NEWEST_VERSION))
    asked = _entries(walk, with_numbers=False)
    user_data_at, user_data_length = _user_data(walk)
    held = _entries(walk, with_numbers=True)
    generation = walk.int32(version >= 2)
    walk.need(generation >= -1)
    rack_length = walk.int16(version >= NEWEST_VERSION)
    walk.need(rack_length != 0)
    rack_at = walk.skip(np.maximum(rack_length, 0))
    walk.need(walk.at == blobs.end)
    topics = _topics(walk, asked)
    owned = _topics(walk, held)
    rack, is_bad = blobs.strings(rack_at, np.where(walk.is_plain, np.maximum(rack_length, 0), 0))
    walk.need(~is_bad)
    chosen = np.flatnonzero(walk.is_plain)
    user_data = _nullable(blobs, user_data_at[chosen], user_data_length[chosen])
    columns = [
        pa.array(version[chosen].astype(np.int32)),
        topics.names(walk.is_plain),
        user_data,
        owned.partitions(walk.is_plain),
        pa.array(generation[chosen].astype(np.int32)),
        rack.take(pa.array(chosen, mask=rack_length[chosen] < 0)),
        *_nothing_odd(len(chosen)),
    ]
    return walk.is_plain, pa.StructArray.from_arrays(columns, fields=list(DECODED_SUBSCRIPTION))


def _plain_assignments(blobs: Bytes) -> _Columns:
    walk = LockstepReader(blobs)
    version = walk.int16()
    walk.need((version >= 0) & (version <= NEWEST_VERSION))
    given = _entries(walk, with_numbers=True)
    user_data_at, user_data_length = _user_data(walk)
    walk.need(walk.at == blobs.end)
    partitions = _topics(walk, given)
    chosen = np.flatnonzero(walk.is_plain)
    columns = [
        pa.array(version[chosen].astype(np.int32)),
        partitions.partitions(walk.is_plain),
        _nullable(blobs, user_data_at[chosen], user_data_length[chosen]),
        *_nothing_odd(len(chosen)),
    ]
    return walk.is_plain, pa.StructArray.from_arrays(columns, fields=list(DECODED_ASSIGNMENT))


def _user_data(walk: LockstepReader) -> tuple[Index, Index]:
    """Step over UserData and return where it begins and its length, negative for null."""
    length = walk.int32()
    walk.need(length != 0)  # which has a note
    return walk.skip(np.maximum(length, 0)), length


@dataclass(frozen=True, kw_only=True, slots=True)
class _Entries:
    """The elements of one array in every blob: blob by blob, each in its order."""

    blob: Index
    text_at: Index
    text_length: Index
    numbers_at: Index
    number_count: Index


def _entries(walk: LockstepReader, *, with_numbers: bool) -> _Entries:
    """Step over an array of topics in every blob, with partition numbers or without."""
    count = walk.int32()
    walk.need((count >= 0) & (count <= walk.blobs.end - walk.at))
    nothing = np.zeros(0, np.int64)
    steps = [(nothing, nothing, nothing, nothing, nothing)]
    active = np.flatnonzero(walk.is_plain & (count > 0))
    while len(active) >= TOGETHER_MIN:
        part = LockstepReader(walk.blobs.rows(active), walk.at[active])
        text_length = part.int16()
        text_at = part.skip(text_length)
        number_count = part.int32() if with_numbers else np.zeros(len(active), np.int64)
        part.need(number_count > 0 if with_numbers else part.is_plain)
        numbers_at = part.skip(4 * number_count)
        walk.at[active] = part.at
        walk.is_plain[active] = part.is_plain
        steps.append((active, text_at, text_length, numbers_at, number_count))
        active = active[part.is_plain & (count[active] > len(steps) - 1)]
    walk.refuse(active)
    blob, *columns = (np.concatenate(column) for column in zip(*steps, strict=True))
    order = np.argsort(blob, kind="stable")
    text_at, text_length, numbers_at, number_count = (column[order] for column in columns)
    return _Entries(
        blob=blob[order],
        text_at=text_at,
        text_length=text_length,
        numbers_at=numbers_at,
        number_count=number_count,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Topics:
    """The elements of one array in every plain blob, read."""

    blob: Index
    name: pa.StringArray
    number_count: Index
    numbers: npt.NDArray[np.int32]

    def names(self, is_plain: Mask) -> pa.ListArray:
        """Return the names of each plain blob as a list."""
        kept = is_plain[self.blob]
        return pa.ListArray.from_arrays(self._offsets(is_plain), _kept(self.name, kept))

    def partitions(self, is_plain: Mask) -> pa.ListArray:
        """Return names and numbers of each plain blob as `PARTITIONS`."""
        kept = is_plain[self.blob]
        numbers = pa.ListArray.from_arrays(
            offsets_of(self.number_count[kept]),
            pa.array(self.numbers[np.repeat(kept, self.number_count)]),
        )
        pairs = pa.StructArray.from_arrays(
            [_kept(self.name, kept), numbers], fields=list(PARTITIONS.value_type)
        )
        return pa.ListArray.from_arrays(self._offsets(is_plain), pairs)

    def _offsets(self, is_plain: Mask) -> pa.Array:
        counts = np.bincount(self.blob, minlength=len(is_plain))
        return offsets_of(counts[is_plain])


def _topics(walk: LockstepReader, entries: _Entries) -> _Topics:
    """Read what was stepped over; give up blobs that name what is no text, or a topic twice."""
    kept = walk.is_plain[entries.blob]
    blob, number_count = entries.blob[kept], entries.number_count[kept]
    name, is_bad = walk.blobs.strings(entries.text_at[kept], entries.text_length[kept])
    walk.refuse(blob[is_bad])
    walk.refuse(_repeated(blob, name))
    numbers = walk.blobs.numbers(entries.numbers_at[kept], number_count)
    walk.refuse(np.repeat(blob, number_count)[numbers < 0])
    return _Topics(blob=blob, name=name, number_count=number_count, numbers=numbers)


def _repeated(blob: Index, name: pa.StringArray) -> Index:
    """Return the blobs in which a name stands twice."""
    encoded = name.dictionary_encode()
    pairs = np.sort(blob * len(encoded.dictionary) + encoded.indices.to_numpy())
    twice: Index = pairs[1:][pairs[1:] == pairs[:-1]] // len(encoded.dictionary)
    return twice


def _kept(column: pa.Array, kept: Mask) -> pa.Array:
    return column if kept.all() else column.filter(pa.array(kept))


def _nullable(blobs: Bytes, at: Index, length: Index) -> pa.Array:
    """Return stretches of bytes, null where the length is negative."""
    if (length < 0).all():
        return pa.nulls(len(length), pa.binary())
    column = blobs.binaries(at, np.maximum(length, 0))
    return column.take(pa.array(np.arange(len(length)), mask=length < 0))


def _nothing_odd(count: int) -> list[pa.Array]:
    """Return the columns `notes` and `error` of blobs that are plain."""
    none = pa.array([], NOTES.value_type)
    notes = pa.ListArray.from_arrays(offsets_of(np.zeros(count, np.int64)), none)
    return [notes, pa.nulls(count, pa.string())]
