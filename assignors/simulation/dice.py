"""Seeded random choices that are the same on every machine, Python version and process.

The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014): a counter and a mixing function. The module `random` is not used, because
Python does not promise that its methods return the same for a seed in every version.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15
CONSTANTS = tuple(
    map(np.uint64, (1, STEP, 30, 27, 31, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)),
)
"""Those of `mixed`, for arrays."""


class Dice:
    """A stream of random choices from one seed. Each choice costs O(1) but for `sample`."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        """Start the stream; every integer is a seed."""
        self._state = seed & MASK

    def below(self, limit: int) -> int:
        """Return a number in 0..limit - 1; `limit` is 1 to 2**64.

        >>> dice = Dice(7)
        >>> [dice.below(6) for _ in range(5)]
        [2, 0, 5, 3, 2]
        """
        # As `mixed(state, 0)`, written out: scenarios are drawn by the thousand.
        self._state = number = (self._state + STEP) & MASK
        number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & MASK
        return ((number ^ (number >> 31)) * limit) >> 64

    def chance(self, percent: int) -> bool:
        """Return True with a probability of `percent` in a hundred."""
        return self.below(100) < percent

    def pick(self, items: Sequence[T]) -> T:
        """Return one of `items`; raises `IndexError` if there is none."""
        return items[self.below(len(items))]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """Return `count` of `items`, in their order, or all if there are fewer.

        Cost: O(n * count) for n items.
        """
        left = list(range(len(items)))
        chosen = [left.pop(self.below(len(left))) for _ in range(min(count, len(items)))]
        return [items[position] for position in sorted(chosen)]


def mixed(seed: int, position: int) -> int:
    """Return number `position` of the stream of this seed, 64 bits. Cost: O(1)."""
    number = (seed + (position + 1) * STEP) & MASK
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & MASK
    return number ^ (number >> 31)


def mixed_array(seeds: NDArray[np.uint64], positions: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return `mixed` of each seed with its position. Cost: O(n)."""
    first, step, one, other, last, by, and_by = CONSTANTS
    numbers = (positions.view(np.uint64) + first) * step
    numbers += seeds
    numbers ^= numbers >> one
    numbers *= by
    numbers ^= numbers >> other
    numbers *= and_by
    numbers ^= numbers >> last
    return numbers
