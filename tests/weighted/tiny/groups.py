"""Every tiny group: up to 6 partitions and 3 members, weights 0 to 3, capacities 1 and 2.

Partitions may belong to any member or to nobody, and every member takes everything. Of groups that
differ by the order of partitions, or by the numbers of members of one capacity, one is taken: that
with the smallest numbers. Members are sorted by capacity, partitions by weight and owner. A
partition without weight changes no use (`test_exact.py`), so groups of 5 and 6 have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations

import numpy as np

from assignors.weighted.solve import Search
from assignors.weighting import Balance

WEIGHTS = range(4)
CAPACITIES = (1, 2)
WEIGHTLESS = 4
"""Groups of more partitions have none without weight, unless they are asked for."""
SIZES = tuple((partitions, members) for partitions in range(1, 7) for members in range(1, 4))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiny:
    """A group; -1 is the owner of a partition that belongs to nobody."""

    weight: tuple[int, ...]
    owner: tuple[int, ...]
    capacity: tuple[int, ...]

    def search(self, budget: int | None, balance: Balance) -> Search:
        """Return what the code under test is asked."""
        return Search(
            first=np.array([0, len(self.weight)]),
            takes=np.array([[True]]),
            class_of=np.zeros(len(self.capacity), dtype=np.int32),
            owner=np.array(self.owner, dtype=np.int32),
            weight=np.array(self.weight),
            capacity=np.array(self.capacity),
            budget=budget,
            balance=balance,
        )


def tiny_groups(partitions: int, members: int, weights: range | None = None) -> Iterator[Tiny]:
    """Yield every group of a size once, by default with weights from 0 up to 4 partitions."""
    if weights is None:
        weights = WEIGHTS if partitions <= WEIGHTLESS else WEIGHTS[1:]
    kinds = [(weight, owner) for weight in weights for owner in range(-1, members)]
    for capacity in combinations_with_replacement(CAPACITIES, members):
        renamings = _renamings(capacity)
        for chosen in combinations_with_replacement(kinds, partitions):
            if _is_first(chosen, renamings):
                yield Tiny(
                    weight=tuple(weight for weight, _ in chosen),
                    owner=tuple(owner for _, owner in chosen),
                    capacity=capacity,
                )


def _renamings(capacity: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return other numbers of members, under which capacities are the same; nobody stands last."""
    members = range(len(capacity))
    return [
        (*order, -1)
        for order in permutations(members)
        if order != tuple(members) and all(capacity[order[one]] == capacity[one] for one in members)
    ]


def _is_first(chosen: tuple[tuple[int, int], ...], renamings: list[tuple[int, ...]]) -> bool:
    """Return whether no other numbers of members make the sorted partitions smaller."""
    return all(
        chosen <= tuple(sorted((weight, names[owner]) for weight, owner in chosen))
        for names in renamings
    )
