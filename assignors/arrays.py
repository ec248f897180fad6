"""Array types, partitions by topic as arrays, and one member's part of them as a mapping.

What members claim, are given or had before comes as one mapping from topic to partition
numbers a member. `partition_arrays` is the one place where such mappings become arrays; every
loop over topics and numbers in it is numpy's or the iterator tools', so that a million numbers
take tens of milliseconds. Subscriptions that were read together are arrays already
(`OwnedArrays`): a member's `OwnedPartitions` makes a dictionary only when somebody looks.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import chain, pairwise, repeat
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from assignors.mappings.lazy_mapping import LazyMapping
from wire import TopicPartitions

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]
Number = TypeVar("Number", np.int32, np.int64)

INT64 = np.iinfo(np.int64)

SAMPLE = 64
"""So many members are looked at for whether members have the same topics. Of 2,000 whose topics
are of ten kinds, as those of a broker's answer, a sample of eight would show none twice."""
SHARED_MIN = 1_000
"""Fewer lists are looked up one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionArrays:
    """Partitions by topic, of several members. Lengths: L lists, N numbers.

    A list is what one member has of one topic. Lists stand in the order given, member by member;
    nothing is sorted, and repeats stay.
    """

    member: Int64
    """int64[L]: position of the member."""
    topic: Int64
    """int64[L]: number of the topic."""
    length: Int64
    """int64[L]: how many numbers the list has, 0 included."""
    number: Int64
    """int64[N]: the partition numbers, list after list."""
    is_complete: bool = True
    """Whether nothing was left out: every topic has a number."""

    @property
    def member_of(self) -> Int64:
        """int64[N]: member of each number."""
        return np.repeat(self.member, self.length)

    @property
    def topic_of(self) -> Int64:
        """int64[N]: topic of each number."""
        return np.repeat(self.topic, self.length)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OwnedArrays:
    """What R rows (members) own: G entries of a topic and its numbers, N numbers in all."""

    names: tuple[str, ...]
    """Topic names; `topic` has positions in it."""
    name_set: frozenset[str]
    entry_ptr: Int64
    """int64[R + 1]: row r has the entries entry_ptr[r]:entry_ptr[r + 1]."""
    topic: Int64
    """int64[G]: no topic stands twice in a row."""
    number_ptr: Int64
    """int64[G + 1]: entry g has the numbers number_ptr[g]:number_ptr[g + 1], at least one."""
    number: Int32
    """int32[N]: partition numbers, not negative, in the order of the bytes."""


class OwnedPartitions(LazyMapping[tuple[int, ...]]):
    """One row of `OwnedArrays` as topic -> partition numbers, in the order of the bytes."""

    __slots__ = ("arrays", "row")

    def __init__(self, arrays: OwnedArrays, row: int) -> None:
        """Look at row `row`. Cost: O(1); the mapping is made when it is first read."""
        self.arrays = arrays
        self.row = row
        self._named = None

    def __len__(self) -> int:
        ptr = self.arrays.entry_ptr
        return int(ptr[self.row + 1] - ptr[self.row])

    __reduce__ = object.__reduce__
    """Pickled with the arrays, which all rows of a group share."""

    def _make(self) -> dict[str, tuple[int, ...]]:
        arrays = self.arrays
        first, end = (int(place) for place in arrays.entry_ptr[self.row : self.row + 2])
        bounds = arrays.number_ptr[first : end + 1].tolist()
        numbers = arrays.number[bounds[0] : bounds[-1]].tolist()
        topics = arrays.topic[first:end].tolist()
        return {
            arrays.names[topic]: tuple(numbers[start - bounds[0] : stop - bounds[0]])
            for topic, (start, stop) in zip(topics, pairwise(bounds), strict=True)
        }


def bounds_of(count: Int64) -> Int64:
    """Return where lists with so many elements begin, and the last ends, int64[N + 1]."""
    bounds = np.zeros(len(count) + 1, dtype=np.int64)
    np.add.accumulate(count, out=bounds[1:])  # in a third of the time of `cumsum`
    return bounds


def names_of(owned: TopicPartitions) -> AbstractSet[str]:
    """Return topics among which those of `owned` are; all that were read together have one set."""
    return owned.arrays.name_set if isinstance(owned, OwnedPartitions) else owned.keys()


def topic_names(by_member: Iterable[TopicPartitions]) -> Iterator[str]:
    """Yield the topics that members have, some twice, and those of others read with them."""
    seen: set[int] = set()
    for owned in by_member:
        if type(owned) is not OwnedPartitions:
            yield from owned
        elif id(owned.arrays) not in seen:
            seen.add(id(owned.arrays))
            yield from owned.arrays.names


def partition_arrays(
    by_member: Sequence[TopicPartitions], index: Mapping[str, int]
) -> PartitionArrays:
    """Return the partitions of members as arrays; topics that `index` lacks are left out.

    A number that does not fit in 64 bits becomes the largest or smallest that does: no topic has
    a partition of either. Cost: O(L + N).

    >>> arrays = partition_arrays([{"t": (0, 2)}, {"u": (1,), "v": (5,)}], {"t": 0, "u": 1})
    >>> arrays.member_of.tolist(), arrays.topic_of.tolist(), arrays.number.tolist()
    ([0, 0, 1], [0, 0, 1], [0, 2, 1])
    """
    rows = [owned for owned in by_member if type(owned) is OwnedPartitions]
    arrays = [owned.arrays for owned in rows]
    # Those that stand in different arrays are read as mappings.
    if not rows or arrays != arrays[:1] * len(arrays):
        return _from_mappings(by_member, index)
    are_all = len(rows) == len(by_member)
    place = np.arange(len(rows))
    if not are_all:
        place = np.flatnonzero([type(owned) is OwnedPartitions for owned in by_member])
    row = np.array([owned.row for owned in rows], dtype=np.int64)
    together = row_arrays(arrays[0], row, place, index)
    if are_all:
        return together
    alone = [{} if type(owned) is OwnedPartitions else owned for owned in by_member]
    return in_member_order(together, _from_mappings(alone, index))


def row_arrays(
    arrays: OwnedArrays, rows: Int64, member: Int64, index: Mapping[str, int]
) -> PartitionArrays:
    """Return rows of `arrays`, int64[R], as the partitions of members, int64[R], in that order.

    Topics that `index` lacks are left out. Cost: O(R + E + N) for E entries of these rows.
    """
    entry_count = np.diff(arrays.entry_ptr)[rows]
    member = np.repeat(member, entry_count)
    spans = _spans(rows)
    entries = [slice(*arrays.entry_ptr[[first, end]].tolist()) for first, end in spans]
    numbers = [slice(*arrays.number_ptr[[entry.start, entry.stop]].tolist()) for entry in entries]
    numbered = [*map(index.get, arrays.names, repeat(-1))]
    topic = _joined(arrays.topic, entries)
    if numbered != list(range(len(numbered))):
        # The last one is for entries that no name was found for: their rows are not asked for.
        topic = np.array([*numbered, -1], dtype=np.int64).take(topic)
    length, number = _joined(np.diff(arrays.number_ptr), entries), _joined(arrays.number, numbers)
    is_complete = int(topic.min(initial=0)) >= 0
    if not is_complete:
        is_known = topic >= 0
        number = number[np.repeat(is_known, length)]
        member, topic, length = member[is_known], topic[is_known], length[is_known]
    return PartitionArrays(
        member=member,
        topic=topic,
        length=length,
        number=number.astype(np.int64),
        is_complete=is_complete,
    )


def _spans(rows: Int64) -> list[tuple[int, int]]:
    """Return the first row and the end of each run of consecutive rows, in their order.

    >>> _spans(np.array([3, 4, 5, 0, 1, 7]))
    [(3, 6), (0, 2), (7, 8)]
    """
    breaks = np.flatnonzero(np.diff(rows) != 1)
    first = rows[np.append(0, breaks + 1)] if len(rows) else rows
    end = rows[np.append(breaks, len(rows) - 1)] + 1 if len(rows) else rows
    return list(zip(first.tolist(), end.tolist(), strict=True))


def _joined(numbers: NDArray[Number], chosen: Sequence[slice]) -> NDArray[Number]:
    """Return parts of an array, one after the other; without a copy where it is one part."""
    if len(chosen) == 1:
        return numbers[chosen[0]]
    return np.concatenate([numbers[:0], *(numbers[each] for each in chosen)])


def in_member_order(first: PartitionArrays, then: PartitionArrays) -> PartitionArrays:
    """Return both, which are in the order of the members, as one in that order."""
    if not len(then.member) and then.is_complete:
        return first
    joined = PartitionArrays(
        member=np.concatenate([first.member, then.member]),
        topic=np.concatenate([first.topic, then.topic]),
        length=np.concatenate([first.length, then.length]),
        number=np.concatenate([first.number, then.number]),
        is_complete=first.is_complete and then.is_complete,
    )
    order = np.argsort(joined.member, kind="stable")
    length = joined.length[order]
    begin = (np.cumsum(joined.length) - joined.length)[order]
    end = np.cumsum(length)
    place = np.repeat(begin - end + length, length) + np.arange(len(joined.number))
    return replace(
        joined,
        member=joined.member[order],
        topic=joined.topic[order],
        length=length,
        number=joined.number[place],
    )


def _from_mappings(
    by_member: Sequence[TopicPartitions], index: Mapping[str, int]
) -> PartitionArrays:
    """Return the arrays of members that are mappings."""
    count = np.fromiter(map(len, by_member), dtype=np.int64, count=len(by_member))
    member = np.repeat(np.arange(len(by_member)), count)
    topic = _topic_numbers(by_member, index, len(member))
    is_known = topic >= 0
    is_complete = bool(is_known.all())
    if is_complete:
        single = _single_numbers(by_member)
        if single is not None:
            length = np.ones(len(member), dtype=np.int64)
            return PartitionArrays(member=member, topic=topic, length=length, number=single)
    lists = list(chain.from_iterable([partitions.values() for partitions in by_member]))
    if not is_complete:
        known = np.flatnonzero(is_known)
        member, topic = member[known], topic[known]
        lists = [lists[position] for position in known.tolist()]
    length = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    number = _numbers(lists, int(length.sum()))
    return PartitionArrays(
        member=member, topic=topic, length=length, number=number, is_complete=is_complete
    )


def _topic_numbers(
    by_member: Sequence[TopicPartitions], index: Mapping[str, int], count: int
) -> Int64:
    """Return the topic of each list, int64[L], -1 for those that `index` lacks.

    Members that have the same topics in the same order are looked up once, if a few of them show
    that there are such: in a large group with equal subscriptions most members are.
    """
    some = by_member[:: len(by_member) // SAMPLE + 1]
    if count < SHARED_MIN or len(set(map(tuple, some))) > len(some) // 2:
        names = chain.from_iterable(by_member)
        return np.fromiter(map(index.get, names, repeat(-1)), dtype=np.int64, count=count)
    topics: tuple[str, ...] = ()
    numbers = np.zeros(0, dtype=np.int64)
    found = {topics: numbers}
    listed = []
    for owned in by_member:
        if (mine := tuple(owned)) != topics:
            topics = mine
            if topics not in found:
                asked = map(index.get, topics, repeat(-1))
                found[topics] = np.fromiter(asked, dtype=np.int64, count=len(topics))
            numbers = found[topics]
        listed.append(numbers)
    return np.concatenate(listed)


def require_int32(number: Int64, what: str) -> None:
    """Raise `ValueError`, which names `what`, for a partition number that is no int32 as Java's.

    >>> require_int32(np.array([0, 2**31]), "a claimed partition number")
    Traceback (most recent call last):
    ValueError: a claimed partition number does not fit in 32 bits
    """
    if len(number) and (int(number.min()) < -(2**31) or int(number.max()) >= 2**31):
        raise ValueError(f"{what} does not fit in 32 bits")


def _single_numbers(by_member: Sequence[TopicPartitions]) -> Int64 | None:
    """Return all numbers where every list has one number; `None` elsewhere.

    In a large group most topics have fewer partitions than members, so that all lists have one:
    then each list is looked at once. The first one with another length ends it.
    """
    try:
        numbers = [number for partitions in by_member for (number,) in partitions.values()]
        found = np.empty(len(numbers), dtype=np.int64)
        # Two thirds of the time of numpy's own ways from a list.
        struct.pack_into(f"={len(numbers)}q", found.data, 0, *numbers)
    except (ValueError, struct.error):
        return None
    return found


def _numbers(lists: Sequence[Sequence[int]], count: int) -> Int64:
    try:
        return np.fromiter(chain.from_iterable(lists), dtype=np.int64, count=count)
    except OverflowError:
        fitting = (min(max(n, INT64.min), INT64.max) for n in chain.from_iterable(lists))
        return np.fromiter(fitting, dtype=np.int64, count=count)
