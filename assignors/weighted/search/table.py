"""The input of a search: partitions, members, subscriptions and loads.

Weights of one group are divided by their common divisor first, so an answer does not depend on
the unit of the weights. Sums are exact: they stay below 2**53. Comparisons are of integers, or of
quotients of two integers, which IEEE arithmetic rounds in the same way everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Bool, Int32, Int64

Float64 = NDArray[np.float64]


class Move(NamedTuple):
    """A partition that goes from one member to another."""

    partition: int
    giver: int
    receiver: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Racks of members and of replicas."""

    rack: Int32
    """int32[M]: -1 for a member without a rack, to which every partition is local."""
    replica_set: Int32
    """int32[P]: row of `replica_racks`."""
    replica_racks: Bool
    """bool[S, R]."""

    def local(self, partition: int, members: Int64) -> Bool:
        """Return which members are in the rack of a replica. Cost: O(members)."""
        racks = self.replica_racks[self.replica_set[partition]]
        rack = self.rack[members]
        near: Bool = (rack < 0) | racks[rack]
        return near


@dataclass(slots=True, kw_only=True)
class Table:
    """A group before the search. P partitions, M members, R rows, K classes.

    A row is the partitions that the same classes of members take.
    """

    weight: Int64
    """int64[P], at least 0."""
    cost: Int64
    """int64[P]: cost of moving each partition, at least 0."""
    row_of: Int32
    """int32[P]: row of each partition, -1 if no member takes it."""
    takes: Bool
    """bool[R, K]."""
    class_of: Int32
    """int32[M]."""
    capacity: Int64
    """int64[M], at least 1."""
    wide: Float64
    """float64[M]: highest weight that each member should have; 1 for one that takes nothing."""
    fair: Float64
    """float64[M]: mean weight of members like this one, without the heaviest partitions."""
    owner: Int32
    """int32[P]: owner of each partition, -1 for none. The search changes it."""
    load: Int64
    """int64[M]: load of each member, a sum of weights."""
    places: Places | None = None
    of_row: dict[int, Int64] = field(default_factory=dict)

    def takers(self, row: int) -> Int64:
        """Return the members that may take a row's partitions. Cost: O(M), the first time."""
        known = self.of_row.get(row)
        if known is None:
            known = self.of_row[row] = np.flatnonzero(self.takes[row, self.class_of])
        return known

    def fill(self) -> Float64:
        """Return the load of each member divided by its fair load, float64[M]."""
        fill: Float64 = self.load / self.wide
        return fill
