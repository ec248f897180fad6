"""Partitions of several topics as one range of numbers, so that figures of them are arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from wire.text import utf16_sorted

Float64 = NDArray[np.float64]

EXACT = float(1 << 53)
"""Whole numbers from here on are not exact as float64."""


@dataclass(frozen=True, slots=True)
class NumberedPartitions:
    """Topics in sort order; topic t has the numbers first[t] to first[t + 1] - 1."""

    topics: tuple[str, ...]
    first: tuple[int, ...]

    @classmethod
    def of(cls, partition_counts: Mapping[str, int]) -> NumberedPartitions:
        """Return the numbering of topics with so many partitions. Cost: O(T log T).

        >>> NumberedPartitions.of({"u": 1, "t": 2})
        NumberedPartitions(topics=('t', 'u'), first=(0, 2, 3))
        """
        topics = tuple(utf16_sorted(partition_counts))
        sizes = (partition_counts[topic] for topic in topics)
        return cls(topics, tuple(accumulate(sizes, initial=0)))

    @property
    def partition_count(self) -> int:
        """How many partitions all topics have."""
        return self.first[-1]

    @property
    def partition_counts(self) -> dict[str, int]:
        """How many partitions each topic has."""
        sizes = (end - begin for begin, end in pairwise(self.first))
        return dict(zip(self.topics, sizes, strict=True))

    def values(self, by_topic: Mapping[str, Sequence[float | None]]) -> Float64:
        """Return one number a partition, float64[P], NaN where none is known. Never raises.

        Unknown is what is missing, negative, no number, infinite, or 2**53 and more. What
        stands behind a topic's last partition is left out.
        """
        found = np.full(self.partition_count, np.nan)
        for topic, (begin, end) in zip(self.topics, pairwise(self.first), strict=True):
            given = by_topic.get(topic)
            if given is not None:
                numbers = _numbers(given)[: end - begin]
                found[begin : begin + len(numbers)] = numbers
        with np.errstate(invalid="ignore"):
            found[~((found >= 0) & (found < EXACT))] = np.nan
        return found

    def realigned(self, values: Float64, to: NumberedPartitions) -> Float64:
        """Return values of these partitions in another numbering, NaN for those that are new."""
        if self == to:
            return values
        found = np.full(to.partition_count, np.nan)
        place = {topic: number for number, topic in enumerate(self.topics)}
        for topic, (begin, end) in zip(to.topics, pairwise(to.first), strict=True):
            number = place.get(topic)
            if number is not None:
                there = values[self.first[number] : self.first[number + 1]][: end - begin]
                found[begin : begin + len(there)] = there
        return found


def _numbers(given: Sequence[float | None]) -> Float64:
    """Return numbers as float64, NaN for what is none."""
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        found = None
    if found is not None and found.ndim == 1:
        return found
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        return np.zeros(0)
    return np.array([_number(one) for one in given], dtype=np.float64)


def _number(one: object) -> float:
    try:
        return float(one)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return float("nan")
