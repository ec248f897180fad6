"""Array types, and partitions by topic of many members as arrays.

What members claim, are given or had before comes as one mapping from topic to partition numbers a
member. `partition_arrays` is the one place where such mappings become arrays. Subscriptions that
were read together are arrays already (`OwnedArrays`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, repeat

import numpy as np
from numpy.typing import NDArray

from wire import TopicPartitions

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]

INT64 = np.iinfo(np.int64)


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
        return self._of_numbers(self.member)

    @property
    def topic_of(self) -> Int64:
        """int64[N]: topic of each number."""
        return self._of_numbers(self.topic)

    def _of_numbers(self, of_lists: Int64) -> Int64:
        # In most groups each list has one number.
        is_single = len(self.number) == len(self.length) == np.count_nonzero(self.length)
        return of_lists if is_single else of_lists.repeat(self.length)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OwnedArrays:
    """What R rows (members) own: G entries of a topic and its numbers, N numbers in all."""

    names: tuple[str, ...]
    """Topic names; `topic` has positions in it."""
    entry_ptr: Int64
    """int64[R + 1]: row r has the entries entry_ptr[r]:entry_ptr[r + 1]."""
    topic: Int64
    """int64[G]: no topic stands twice in a row."""
    number_ptr: Int64
    """int64[G + 1]: entry g has the numbers number_ptr[g]:number_ptr[g + 1], at least one."""
    number: Int32
    """int32[N]: partition numbers, not negative, in the order of the bytes."""

    def of_row(self, row: int) -> dict[str, tuple[int, ...]]:
        """Return the partitions of a row by topic, in the order of the bytes."""
        first, end = (int(place) for place in self.entry_ptr[row : row + 2])
        bounds = self.number_ptr[first : end + 1].tolist()
        numbers = self.number[bounds[0] : bounds[-1]].tolist()
        topics = self.topic[first:end].tolist()
        return {
            self.names[topic]: tuple(numbers[start - bounds[0] : stop - bounds[0]])
            for topic, (start, stop) in zip(topics, pairwise(bounds), strict=True)
        }

    def by_topic(self, index: Mapping[str, int]) -> PartitionArrays:
        """Return the partitions of all rows; topics that `index` lacks are left out.

        Cost: O(G), O(G + N) where topics are left out.
        """
        row = np.arange(len(self.entry_ptr) - 1).repeat(self.entry_ptr[1:] - self.entry_ptr[:-1])
        topic, length, number = self.topic, self.number_ptr[1:] - self.number_ptr[:-1], self.number
        numbered = [*map(index.get, self.names, repeat(-1))]
        if numbered != list(range(len(numbered))):
            topic = np.array(numbered, dtype=np.int64).take(topic)
        is_complete = True
        if -1 in numbered:
            is_known = topic >= 0
            is_complete = bool(is_known.all())
            number = number[is_known.repeat(length)]
            row, topic, length = row[is_known], topic[is_known], length[is_known]
        return PartitionArrays(
            member=row,
            topic=topic,
            length=length,
            number=number.astype(np.int64),
            is_complete=is_complete,
        )


def bounds_of(count: Int64) -> Int64:
    """Return where lists with so many elements begin, and the last ends, int64[N + 1]."""
    bounds = np.zeros(len(count) + 1, dtype=np.int64)
    np.add.accumulate(count, out=bounds[1:])  # in a third of the time of `cumsum`
    return bounds


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
    count = np.fromiter(map(len, by_member), dtype=np.int64, count=len(by_member))
    member = np.repeat(np.arange(len(by_member)), count)
    names = chain.from_iterable(by_member)
    topic = np.fromiter(map(index.get, names, repeat(-1)), dtype=np.int64, count=len(member))
    is_known = topic >= 0
    is_complete = bool(is_known.all())
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


def require_int32(number: Int64, what: str) -> None:
    """Raise `ValueError`, which names `what`, for a partition number that is no int32 as Java's.

    >>> require_int32(np.array([0, 2**31]), "a claimed partition number")
    Traceback (most recent call last):
    ValueError: a claimed partition number does not fit in 32 bits
    """
    if len(number) and (int(number.min()) < -(2**31) or int(number.max()) >= 2**31):
        raise ValueError(f"{what} does not fit in 32 bits")


def _numbers(lists: Sequence[Sequence[int]], count: int) -> Int64:
    try:
        return np.fromiter(chain.from_iterable(lists), dtype=np.int64, count=count)
    except OverflowError:
        fitting = (min(max(n, INT64.min), INT64.max) for n in chain.from_iterable(lists))
        return np.fromiter(fitting, dtype=np.int64, count=count)
