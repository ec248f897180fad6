"""Who had each partition, so that moves, and moves back, can be counted."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int32
from assignors.problem import NOBODY

RETURN_S = 1800
"""A partition that is back at a member within this time has returned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a round has changed."""

    started: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Partitions that a member has started."""
    moves: int = 0
    """Those that another member had, which is still there,"""
    returns: int = 0
    """of these, those that were at their new member within the last `RETURN_S`,"""
    placed: int = 0
    """and those that nobody had, or a member that has left."""


class History:
    """The last member of each partition, and when others lost it."""

    def __init__(self, partition_count: int) -> None:
        """Begin with partitions that nobody has had."""
        self.owner: Int32 = np.full(partition_count, NOBODY, dtype=np.int32)
        """int32[P]: who had it last, and is still there."""
        self._lost_s: dict[tuple[int, int], int] = {}

    def left(self, member: int) -> None:
        """Remove a member that has left the group."""
        self.owner = np.where(self.owner == member, np.int32(NOBODY), self.owner)

    def after(self, owner: Int32, now_s: int) -> Changes:
        """Return what has changed; `owner` is int32[P], who consumes now, -1 for nobody.

        Cost: O(P).
        """
        started = np.flatnonzero((owner != NOBODY) & (owner != self.owner))
        moved = started[self.owner[started] != NOBODY]
        returns = 0
        for partition in moved.tolist():
            before, member = int(self.owner[partition]), int(owner[partition])
            returns += self._lost_s.get((partition, member), -RETURN_S - 1) >= now_s - RETURN_S
            self._lost_s[partition, before] = now_s
        self.owner = np.where(owner != NOBODY, owner, self.owner)
        return Changes(
            started=started,
            moves=len(moved),
            returns=returns,
            placed=len(started) - len(moved),
        )
