"""What has not changed since the round before: Subscriptions that need not be read again.

From one round to the next most members write the same bytes, or the same but for the generation,
which stands behind what they own and, from Java's members, at the end of UserData as well. Their
rows are kept, and those of members that changed are put behind them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from operator import eq
from typing import Any, TypeVar

import numpy as np

from assignors.arrays import Int32, Int64, OwnedArrays, chosen_rows
from assignors.group_bytes.entries import int32_view
from assignors.group_bytes.fields import DATA_LENGTH_SIZE, GENERATION_SIZE, UserDataPlaces
from assignors.group_bytes.members import MemberArrays
from assignors.model import NO_GENERATION

V = TypeVar("V")

VERSION_COUNT = 4
TOGETHER_BYTES = 1 << 21
"""About so many bytes are compared at once: what is copied for it stays in the cache."""
SAMPLE, SAMPLED_MIN = 16, 500
"""So many members of a large group are compared first: where most have changed, all are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """Which of N members wrote the bytes of an earlier round, but for the generation."""

    row: Int64
    """int64[N]: the row of each member in that round, -1 for one that has to be read."""
    generation: Int64
    """int64[N]: in this round."""
    number: Int64
    """int64[N]: UserData of four bytes, as in `UserDataPlaces`."""
    is_same: bool
    """Whether not even a generation has changed."""


def unchanged_since(
    before: MemberArrays, subscriptions: Mapping[str, object], instance_ids: Mapping[str, str]
) -> Unchanged:
    """Return whose Subscription is that of an earlier round, up to the generation.

    Cost: O(N), a comparison of the bytes, and a copy of those behind the topic lists.
    """
    blobs: list[Any] = list(subscriptions.values())
    row = _known_rows(before, subscriptions, instance_ids)
    known: list[Any] = list(map(before.blobs.__getitem__, row.tolist()))
    if {*map(type, blobs), *map(type, known)} != {bytes}:
        types = zip(map(type, blobs), map(type, known), strict=True)
        row[[each != (bytes, bytes) for each in types]] = -1
    generation, number = before.generation[row], before.user_data.number[row]
    left = np.flatnonzero(row >= 0)
    if before.alone:
        is_alone = np.isin(row[left], list(before.alone))
        for place in left[is_alone].tolist():
            if blobs[place] != known[place]:
                row[place] = -1
        left = left[~is_alone]
    step = TOGETHER_BYTES // len(known[left[0]]) + 1 if len(left) else 1
    parts = [left[begin : begin + step] for begin in range(0, len(left), step)]
    sample = left[:: len(left) // SAMPLE + 1]
    if len(left) >= SAMPLED_MIN:
        parts.insert(0, sample)
    is_same = True
    for places in parts:
        now, then = blobs, known
        if len(places) < len(blobs):
            now, then = (list(map(each.__getitem__, places.tolist())) for each in (blobs, known))
        read = _compared(before, row[places], now, then)
        if read is not None:
            is_same = False
            row[places], generation[places], number[places] = read
            if places is sample and 2 * np.count_nonzero(read[0] < 0) > len(sample):
                row[:] = -1
                break
    return Unchanged(row=row, generation=generation, number=number, is_same=is_same)


def _known_rows(
    before: MemberArrays, subscriptions: Mapping[str, object], instance_ids: Mapping[str, str]
) -> Int64:
    """Return everybody's row in that round, int64[N], -1 for one that it did not have."""
    if tuple(subscriptions) == before.member_ids:
        row = np.arange(len(before.member_ids))
    else:
        found = map(before.row_of_id().get, subscriptions, repeat(-1))
        row = np.fromiter(found, np.int64, len(subscriptions))
    if instance_ids or before.instance_ids:
        now, then = (
            map(instance_ids.get, subscriptions),
            map(before.instance_ids.get, subscriptions),
        )
        row[~np.fromiter(map(eq, now, then), np.bool_, len(row))] = -1
    return row


def _compared(
    before: MemberArrays, row: Int64, now: list[bytes], then: list[bytes]
) -> tuple[Int64, Int64, Int64] | None:
    """Compare the bytes of members with those of these rows; `None` where nothing differs.

    Else the rows, -1 where more than generations differ, the generations and the numbers in
    UserData.
    """
    list_end = before.user_data.start[row] - DATA_LENGTH_SIZE
    lists = before.list_of[row] * VERSION_COUNT + before.version[row]
    if (lists == lists[0]).all():  # so all lists end at one place
        end = int(list_end[0])
        is_alike = map(bytes.startswith, now, repeat(then[0][:end]))
        behind: Iterable[slice] = [slice(end, None)] * len(row)
    else:
        ends = list_end.tolist()
        is_alike = map(bytes.startswith, now, map(bytes.__getitem__, then, map(slice, ends)))
        behind = list(map(slice, ends, repeat(None)))
    fits = np.fromiter(is_alike, np.bool_, len(row))
    now, then = (
        list(map(bytes.__getitem__, now, behind)),
        list(map(bytes.__getitem__, then, behind)),
    )
    size = np.fromiter(map(len, then), np.int64, len(row))
    fits &= np.fromiter(map(len, now), np.int64, len(row)) == size
    if not fits.all():
        now = [each if fit else other for each, other, fit in zip(now, then, fits, strict=True)]
    read, old = b"".join(now), b"".join(then)
    if read == old and fits.all():
        return None
    begin = size.cumsum() - size
    new = bytearray(read)
    generation, number = before.generation[row], before.user_data.number[row]
    has_field = before.generation_at[row] >= 0
    at = (begin - list_end + before.generation_at[row])[has_field]
    generation[has_field] = _exchanged(new, read, old, at)
    length = before.user_data.length[row]
    has_data = length >= GENERATION_SIZE
    last = _exchanged(new, read, old, (begin + length)[has_data])  # its last four bytes
    number[has_data] = np.where(length[has_data] == GENERATION_SIZE, last, -1)
    fits &= generation >= NO_GENERATION
    if new != old:
        differs = np.frombuffer(new, np.uint8) != np.frombuffer(old, np.uint8)
        fits[begin.searchsorted(np.flatnonzero(differs), side="right") - 1] = False
    return np.where(fits, row, -1), generation, number


def _exchanged(new: bytearray, read: bytes, old: bytes, place: Int64) -> Int32:
    """Write the numbers of `old` at these places of `new`; return those of `read`."""
    int32_view(new)[place] = int32_view(old)[place]
    return int32_view(read)[place]


def with_generations(
    before: MemberArrays,
    unchanged: Unchanged,
    subscriptions: Mapping[str, Any],
    instance_ids: Mapping[str, str],
) -> MemberArrays:
    """Return the members of the earlier round with the generations of this one."""
    if unchanged.is_same:
        return replace(before, instance_ids=instance_ids)
    is_known = unchanged.row >= 0
    rows = unchanged.row[is_known]
    generation, number = before.generation.copy(), before.user_data.number.copy()
    generation[rows], number[rows] = unchanged.generation[is_known], unchanged.number[is_known]
    blobs = list(before.blobs)
    for row, blob in zip(unchanged.row.tolist(), subscriptions.values(), strict=True):
        if row >= 0:
            blobs[row] = blob
    return replace(
        before,
        instance_ids=instance_ids,
        generation=generation,
        user_data=replace(before.user_data, number=number, together=None),
        blobs=tuple(blobs),
        made={},
    )


def joined_members(first: MemberArrays, kept: Sequence[int], then: MemberArrays) -> MemberArrays:
    """Return the rows `kept` of `first`, and all of `then` behind them. Cost: linear in both."""
    rows = np.sort(np.array(kept, dtype=np.int64))
    place_of = {row: place for place, row in enumerate(rows.tolist())}
    index = {name: number for number, name in enumerate(first.names)}
    # The last one is for entries that no name was found for.
    number_of = np.array(
        [*(index.setdefault(name, len(index)) for name in then.names), -1], dtype=np.int32
    )
    names = tuple(index)
    list_ptr, name, list_number = _joined_lists(first, then, number_of)
    count = len(rows)

    def of_both(one: Mapping[int, V], other: Mapping[int, V]) -> dict[int, V]:
        chosen = {place_of[row]: value for row, value in one.items() if row in place_of}
        return chosen | {count + row: value for row, value in other.items()}

    return MemberArrays(
        member_ids=(*map(first.member_ids.__getitem__, rows.tolist()), *then.member_ids),
        blobs=(*map(first.blobs.__getitem__, rows.tolist()), *then.blobs),
        instance_ids=then.instance_ids,
        names=names,
        known=first.known,
        list_ptr=list_ptr,
        name=name,
        list_of=np.concatenate([first.list_of[rows], list_number[then.list_of]]),
        version=np.concatenate([first.version[rows], then.version]),
        generation=np.concatenate([first.generation[rows], then.generation]),
        generation_at=np.concatenate([first.generation_at[rows], then.generation_at]),
        owned=_joined_owned(chosen_rows(first.owned, rows), then.owned, names, number_of),
        user_data=UserDataPlaces(
            start=np.concatenate([first.user_data.start[rows], then.user_data.start]),
            length=np.concatenate([first.user_data.length[rows], then.user_data.length]),
            number=np.concatenate([first.user_data.number[rows], then.user_data.number]),
        ),
        rack_ids=first.rack_ids.chosen(rows).and_then(then.rack_ids),
        empty_rack_at=np.concatenate([first.empty_rack_at[rows], then.empty_rack_at]),
        alone=of_both(first.alone, then.alone),
        made=of_both(first.made, then.made),
        topics=dict(first.topics),
    )


def _joined_lists(
    first: MemberArrays, then: MemberArrays, number_of: Int32
) -> tuple[Int64, Int32, Int64]:
    """Return the topic lists of both, and the number of each list of `then` among them."""
    known = {numbers.tobytes(): place for place, numbers in enumerate(_lists(first))}
    added: list[Int32] = []
    number = np.full(len(then.list_ptr), -1, dtype=np.int64)  # the last one is for no list
    for place, numbers in enumerate(_lists(then)):
        renumbered = number_of[numbers]
        new = len(first.list_ptr) - 1 + len(added)
        found = known.setdefault(renumbered.tobytes(), new)
        if found == new:
            added.append(renumbered)
        number[place] = found
    sizes = np.array(list(map(len, added)), dtype=np.int64)
    ptr = np.concatenate([first.list_ptr, first.list_ptr[-1] + np.cumsum(sizes)])
    return ptr, np.concatenate([first.name, *added]), number


def _lists(arrays: MemberArrays) -> list[Int32]:
    return np.split(arrays.name, arrays.list_ptr[1:-1]) if len(arrays.list_ptr) > 1 else []


def _joined_owned(
    first: OwnedArrays, then: OwnedArrays, names: tuple[str, ...], number_of: Int32
) -> OwnedArrays:
    return OwnedArrays(
        names=names,
        name_set=frozenset(names),
        entry_ptr=np.concatenate([first.entry_ptr, first.entry_ptr[-1] + then.entry_ptr[1:]]),
        topic=np.concatenate([first.topic, number_of.astype(np.int64)[then.topic]]),
        number_ptr=np.concatenate([first.number_ptr, first.number_ptr[-1] + then.number_ptr[1:]]),
        number=np.concatenate([first.number, then.number]),
    )
