"""A group as the search gets it: partitions, members, who may take what, and who has how much.

Weights of one group are divided by their common divisor first, so an answer does not depend on
the unit of the weights. Sums are exact: they stay below 2**53. What decides is compared as
integers, or as quotients of two integers, which IEEE arithmetic rounds in the same way everywhere.
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
    """Racks: which members are in the rack of a replica of each partition."""

    rack: Int32
    """int32[M]: -1 for a member without one, to which everything is local."""
    replica_set: Int32
    """int32[P]: row of `replica_racks`."""
    replica_racks: Bool
    """bool[S, R]."""

    def local(self, partition: int, members: Int64) -> Bool:
        """Return which of the members are near a replica of a partition. Cost: O(members)."""
        racks = self.replica_racks[self.replica_set[partition]]
        rack = self.rack[members]
        near: Bool = (rack < 0) | racks[rack]
        return near


@dataclass(slots=True, kw_only=True)
class Table:
    """A group before the search. P partitions, M members, R rows, K classes.

    A row is all partitions that the same classes of members take.
    """

    weight: Int64
    """int64[P], at least 0."""
    cost: Int64
    """int64[P]: what moving a partition costs, at least 0."""
    row_of: Int32
    """int32[P]: row of each partition, -1 where nobody takes it."""
    takes: Bool
    """bool[R, K]."""
    class_of: Int32
    """int32[M]."""
    capacity: Int64
    """int64[M], at least 1."""
    wide: Float64
    """float64[M]: the weight that each member should not be above; 1 for one that takes none."""
    fair: Float64
    """float64[M]: the weight that each member has in the mean, without the heaviest partitions."""
    owner: Int32
    """int32[P]: who has each partition now, -1 for nobody. The search changes it."""
    load: Int64
    """int64[M]: the weight of what each member has."""
    places: Places | None = None
    of_row: dict[int, Int64] = field(default_factory=dict)

    def takers(self, row: int) -> Int64:
        """Return who may take the partitions of a row. Cost: O(M), the first time."""
        known = self.of_row.get(row)
        if known is None:
            known = self.of_row[row] = np.flatnonzero(self.takes[row, self.class_of])
        return known

    def fill(self) -> Float64:
        """Return what each member has as a part of what is right for it, float64[M]."""
        fill: Float64 = self.load / self.wide
        return fill
