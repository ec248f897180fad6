"""The constants of a search: weights, kinds of members, and the owners at its start.

Members of one class and one capacity are of one kind: they may take the same partitions and have
the same fair weight. The partitions of a member are listed when they are first needed.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np

from assignors.arrays import Bool, Int32, Int64
from assignors.weighted.search.table import Places

AT_ONCE = 4096
"""Groups of up to this many partitions are sorted by weight once; larger ones member by member."""

Held = tuple["array[int]", "array[int]"]
"""Weights of a member's partitions, lightest first, and their numbers; without weights of 0."""


@dataclass(slots=True, kw_only=True)
class Facts:
    """Constants of a search. P partitions, M members, R rows, K classes; kinds are numbered."""

    weight: Int64
    """int64[P]."""
    cost: Int64 | None
    """int64[P]: cost of moving each partition; `None` is 1 each."""
    row_of: Int32
    """int32[P]."""
    takes: Bool
    """bool[R, K]."""
    owner: Int32
    """int32[P]: owner of each partition when the search began."""
    kind_of: list[int]
    """Kind of each member."""
    class_of: list[int]
    """Class of each kind."""
    capacity: list[int]
    """Capacity of each kind."""
    wide: list[float]
    """Highest weight that members of each kind should have; 1 for members that take nothing."""
    fair: list[float]
    """Mean weight of members of each kind, without the heaviest partitions."""
    places: Places | None
    order: Int64 | None = None
    """Owned partitions with a weight, by owner; made when the first member is listed."""
    start: list[int] = field(default_factory=list)
    """Where the partitions of each member begin in `order`."""
    weights: array[int] | None = None
    """Small groups: weights in the order of `order`, which is then sorted by weight too."""
    numbers: array[int] = field(default_factory=lambda: array("q"))
    """Small groups: `order` as an array."""
    listed: dict[int, Held] = field(default_factory=dict)
    of_row: dict[int, list[int]] = field(default_factory=dict)
    pickers: dict[int, Callable[[list[int]], Sequence[int]]] = field(default_factory=dict)

    def held(self, member: int) -> Held:
        """Return the partitions of a member at the start. Cost: O(n log n) for n partitions.

        The first call takes O(P).
        """
        known = self.listed.get(member)
        if known is None:
            if self.order is None:
                self.order = self._grouped()
            begin, end = self.start[member], self.start[member + 1]
            if self.weights is not None:
                known = self.weights[begin:end], self.numbers[begin:end]
            else:
                own = self.order[begin:end]
                weights = self.weight[own]
                by_weight = weights.argsort(kind="stable")
                known = _whole(weights[by_weight]), _whole(own[by_weight])
            self.listed[member] = known
        return known

    def _grouped(self) -> Int64:
        """Sort partitions by owner, in small groups by weight too."""
        count = len(self.kind_of)
        weighty = ((self.owner >= 0) & (self.weight > 0)).nonzero()[0]
        is_small = len(weighty) <= AT_ONCE
        if is_small:
            weighty = weighty[self.weight[weighty].argsort(kind="stable")]
        owner = self.owner[weighty]
        small = owner.astype(np.uint16) if count <= 1 << 16 else owner
        self.start = [0, *np.bincount(owner, minlength=count).cumsum().tolist()]
        order = weighty[small.argsort(kind="stable")]
        if is_small:
            self.weights, self.numbers = _whole(self.weight[order]), _whole(order)
        return order

    def kinds_of_row(self, row: int) -> list[int]:
        """Return the kinds that may take the partitions of a row."""
        known = self.of_row.get(row)
        if known is None:
            takes = self.takes[row].tolist()
            known = [kind for kind, one in enumerate(self.class_of) if takes[one]]
            self.of_row[row] = known
        return known

    def kinds_of_rows(self, rows: set[int]) -> list[int]:
        """Return the kinds that may take partitions of one of the rows."""
        if len(rows) == 1:
            return self.kinds_of_row(next(iter(rows)))
        return sorted({kind for row in rows for kind in self.kinds_of_row(row)})

    def rows_of(self, held: Held) -> list[int]:
        """Return the row of each partition of a member."""
        if len(self.takes) == 1:
            return [0] * len(held[1])
        rows: list[int] = self.row_of[np.frombuffer(held[1], dtype=np.int64)].tolist()
        return rows

    def picker(self, row: int) -> Callable[[list[int]], Sequence[int]]:
        """Return what picks the kinds that may take from a row out of a list for all kinds."""
        known = self.pickers.get(row)
        if known is None:
            kinds = self.kinds_of_row(row)
            known = self.pickers[row] = itemgetter(*kinds, kinds[0])  # two at least: a tuple
        return known


def _whole(numbers: Int64) -> array[int]:
    """Return an int64 array as one whose elements are read one by one quickly."""
    return array("q", numbers.tobytes())
