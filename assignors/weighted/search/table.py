"""What the search works on: partitions, members, who may take what, and who carries how much.

Weights of one group are divided by their common divisor first, so an answer does not depend on
the unit of the weights. Sums are exact: they stay below 2**53. What decides is compared as
integers, or as quotients of two integers, which IEEE arithmetic rounds in the same way everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
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
    """A group in the middle of a search. P partitions, M members, R rows, K classes.

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
    limit: Int64
    """int64[M]: the weight above which a member hands on."""
    owner: Int32
    """int32[P]: who has each partition now, -1 for nobody. The search changes it."""
    load: Int64
    """int64[M]: the weight of what each member has."""
    places: Places | None = None
    by_member: dict[int, Int64] = field(default_factory=dict)
    order: Int64 | None = None
    """Owned partitions with a weight, by owner, made when the first member is looked at."""
    start: Int64 | None = None
    """int64[M + 1]: where each member's begin in `order`."""
    of_row: dict[int, Int64] = field(default_factory=dict)

    def copy(self, limit: Int64) -> Table:
        """Return a table on which another search can be tried, with other limits. Cost: O(P)."""
        if self.order is None:
            self.order, self.start = self._grouped()
        return replace(
            self,
            limit=limit,
            owner=self.owner.copy(),
            load=self.load.copy(),
            by_member=self.by_member.copy(),
        )

    def largest_use(self) -> float:
        """Return the largest use of any member, weight for capacity. Cost: O(M)."""
        return float((self.load / self.capacity).max(initial=0))

    def held(self, member: int) -> Int64:
        """Return a member's partitions that have a weight, lightest first, then by number.

        Cost: O(n log n) for its n partitions, the first time; O(P) for the first member.
        """
        known = self.by_member.get(member)
        if known is None:
            if self.order is None or self.start is None:
                self.order, self.start = self._grouped()
            known = self.order[self.start[member] : self.start[member + 1]]
            known = known[np.argsort(self.weight[known], kind="stable")]
            self.by_member[member] = known
        return known

    def _grouped(self) -> tuple[Int64, Int64]:
        assert not self.by_member, "some member's partitions were already listed"
        weighty = np.flatnonzero((self.owner >= 0) & (self.weight > 0))
        owner = self.owner[weighty]
        small = owner.astype(np.uint16) if len(self.load) <= 1 << 16 else owner
        start = np.zeros(len(self.load) + 1, dtype=np.int64)
        np.cumsum(np.bincount(owner, minlength=len(self.load)), out=start[1:])
        return weighty[np.argsort(small, kind="stable")], start

    def takers(self, row: int) -> Int64:
        """Return who may take the partitions of a row. Cost: O(M), the first time."""
        known = self.of_row.get(row)
        if known is None:
            known = self.of_row[row] = np.flatnonzero(self.takes[row, self.class_of])
        return known

    def may_take(self, partitions: Int64, member: int) -> Bool:
        """Return which of the partitions a member may take. Cost: O(partitions)."""
        allowed: Bool = self.takes[self.row_of[partitions], self.class_of[member]]
        return allowed

    def fill(self) -> Float64:
        """Return what each member has as a part of what is right for it, float64[M]."""
        fill: Float64 = self.load / self.wide
        return fill

    def room(self) -> Int64:
        """Return how much more each member may get, int64[M].

        It may come up to its limit, and to the largest use of any member: so no step makes that
        larger. Cost: O(M).
        """
        highest = np.floor(self.largest_use() * self.capacity * (1 - 2.0**-50)).astype(np.int64)
        room: Int64 = np.minimum(self.limit, highest) - self.load
        return room

    def move(self, move: Move) -> None:
        """Do a move. Cost: O(partitions of both members)."""
        partition, giver, receiver = move
        weight = int(self.weight[partition])
        before, after = self.held(giver), self.held(receiver)
        at = self._place(before, weight, partition)
        less = np.empty(len(before) - 1, dtype=np.int64)
        less[:at], less[at:] = before[:at], before[at + 1 :]
        at = self._place(after, weight, partition)
        more = np.empty(len(after) + 1, dtype=np.int64)
        more[:at], more[at], more[at + 1 :] = after[:at], partition, after[at:]
        self.by_member[giver], self.by_member[receiver] = less, more
        self.owner[partition] = receiver
        self.load[giver] -= weight
        self.load[receiver] += weight

    def _place(self, held: Int64, weight: int, partition: int) -> int:
        """Return where a partition stands, or would stand, in a sorted list."""
        weights = self.weight[held]
        low, high = weights.searchsorted(weight), weights.searchsorted(weight, side="right")
        return int(low + held[low:high].searchsorted(partition))
