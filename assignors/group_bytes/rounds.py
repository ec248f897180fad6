"""What has not changed since the round before: Subscriptions that need not be read again.

From one round to the next most members write the same bytes, or the same but for the generation.
Their rows are kept, and those of members that changed are put behind them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from assignors.arrays import Int32, Int64, OwnedArrays, chosen_rows
from assignors.group_bytes.fields import UserDataPlaces
from assignors.group_bytes.members import MemberArrays

V = TypeVar("V")

GENERATION_SIZE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """Members whose bytes are those of an earlier round, but for the generation."""

    row_of: dict[str, int]
    """Member id -> row in that round."""
    generation: dict[int, int]
    """By row: generations that changed."""
    blob: dict[int, bytes]
    """By row: the bytes around them."""


def unchanged_since(
    before: MemberArrays,
    earlier: Mapping[str, int],
    subscriptions: Mapping[str, object],
    instance_ids: Mapping[str, str],
) -> Unchanged:
    """Return whose Subscription is that of an earlier round, up to the generation.

    `earlier` has the row of each member of that round. Cost: a comparison for each member.
    """
    has_names = bool(instance_ids or before.instance_ids)
    generation_at = before.generation_at.tolist()
    found = Unchanged(row_of={}, generation={}, blob={})
    for member_id, blob in subscriptions.items():
        row = earlier.get(member_id, -1)
        if row < 0 or not isinstance(blob, bytes):
            continue
        if has_names and instance_ids.get(member_id) != before.instance_ids.get(member_id):
            continue
        known = before.blobs[row]
        if blob != known:
            place = generation_at[row]
            if known is None or place < 0 or row in before.alone or len(blob) != len(known):
                continue
            behind = place + GENERATION_SIZE
            if not (blob.startswith(known[:place]) and blob.endswith(known[behind:])):
                continue
            generation = int.from_bytes(blob[place:behind], "big", signed=True)
            if generation < -1:
                continue
            found.generation[row] = generation
            found.blob[row] = blob
        found.row_of[member_id] = row
    return found


def with_generations(
    before: MemberArrays, unchanged: Unchanged, instance_ids: Mapping[str, str]
) -> MemberArrays:
    """Return the members of the earlier round with the generations of this one."""
    if not unchanged.generation:
        return replace(before, instance_ids=instance_ids)
    generation, blobs = before.generation.copy(), list(before.blobs)
    generation[list(unchanged.generation)] = list(unchanged.generation.values())
    for row, blob in unchanged.blob.items():
        blobs[row] = blob
    made = {row: found for row, found in before.made.items() if row not in unchanged.blob}
    return replace(
        before, instance_ids=instance_ids, generation=generation, blobs=tuple(blobs), made=made
    )


def joined(first: MemberArrays, kept: Sequence[int], then: MemberArrays) -> MemberArrays:
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
        rack_ids=of_both(first.rack_ids, then.rack_ids),
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
