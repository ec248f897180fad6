"""Owned partitions of many members as arrays, and one member's as a mapping over them.

A leader's own computation takes the arrays. Whoever wants to look at one member gets its
`TopicPartitions` when it asks, and not before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wire import TopicPartitions

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OwnedArrays:
    """What R rows (members) own: G entries of a topic and its numbers, N numbers in all."""

    names: tuple[str, ...]
    """Topic names; `topic` has positions in it."""
    name_set: frozenset[str]
    entry_ptr: Int64
    """int64[R + 1]: row r has the entries entry_ptr[r]:entry_ptr[r + 1]."""
    topic: Int32
    """int32[G]: no topic stands twice in a row."""
    number_ptr: Int64
    """int64[G + 1]: entry g has the numbers number_ptr[g]:number_ptr[g + 1], at least one."""
    number: Int64
    """int64[N]: partition numbers, not negative, in the order of the bytes."""


class OwnedPartitions(Mapping[str, tuple[int, ...]]):
    """One row of `OwnedArrays` as topic -> partition numbers, in the order of the bytes."""

    __slots__ = ("_named", "arrays", "row")

    def __init__(self, arrays: OwnedArrays, row: int) -> None:
        """Look at row `row`. Cost: O(1); the mapping is made when it is first read."""
        self.arrays = arrays
        self.row = row
        self._named: dict[str, tuple[int, ...]] | None = None

    def __getitem__(self, topic: str) -> tuple[int, ...]:
        """Return the numbers of a topic; `KeyError` where nothing of it is owned."""
        return self._read()[topic]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        ptr = self.arrays.entry_ptr
        return int(ptr[self.row + 1] - ptr[self.row])

    def __repr__(self) -> str:
        return repr(self._read())

    def _read(self) -> dict[str, tuple[int, ...]]:
        if self._named is None:
            arrays = self.arrays
            first, end = (int(place) for place in arrays.entry_ptr[self.row : self.row + 2])
            bounds = arrays.number_ptr[first : end + 1].tolist()
            numbers = arrays.number[bounds[0] : bounds[-1]].tolist()
            topics = arrays.topic[first:end].tolist()
            self._named = {
                arrays.names[topic]: tuple(numbers[start - bounds[0] : stop - bounds[0]])
                for topic, (start, stop) in zip(topics, pairwise(bounds), strict=True)
            }
        return self._named


def names_of(owned: TopicPartitions) -> AbstractSet[str]:
    """Return topics among which those of `owned` are; all that were read together have one set."""
    return owned.arrays.name_set if isinstance(owned, OwnedPartitions) else owned.keys()
