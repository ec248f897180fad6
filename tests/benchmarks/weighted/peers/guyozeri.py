"""The weighted assignor of 2026: sticky by count, then from members above the mean to the lightest.

It goes on while the heaviest and the lightest member differ by more than 5 % of the mean, for 2 P
moves at most. Its first step makes the counts equal again, so each decision undoes the last.
Source: guyozeri/kafka-weighted-assignor, `WeightedPartitionAssignor.java`, `rebalanceByWeight`, at
f19d462 (February 2026).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assignors.arrays import Int32, Int64
from tests.benchmarks.weighted.peers.count_sticky import count_sticky
from tests.benchmarks.weighted.peers.task import Task

TOLERANCE = 0.05
MOVES_FACTOR = 2


def guyozeri(task: Task) -> Int32:
    """Return who gets what. Cost: O(P / M + M) a move."""
    begun = replace(task, owner=count_sticky(task))
    state = _State(
        weight=task.weight,
        owner=begun.owner,
        load=begun.loads(),
        moves=MOVES_FACTOR * len(task.owner),
    )
    mean = float(state.load.sum()) / task.member_count
    while state.moves:
        order = np.argsort(-state.load, kind="stable")
        if state.load[order[0]] - state.load[order[-1]] <= mean * TOLERANCE:
            break
        left = state.moves
        for giver in order.tolist():
            if state.load[giver] <= mean:
                break
            state.give(giver, order)
        if state.moves == left:
            break
    return state.owner


@dataclass(slots=True, kw_only=True)
class _State:
    weight: Int64
    owner: Int32
    load: Int64
    moves: int
    """So many are left."""

    def give(self, giver: int, order: Int64) -> None:
        """Move partitions of one member to whoever is lightest, while that lowers the higher."""
        others = order[order != giver]
        held = np.flatnonzero(self.owner == giver)
        while self.moves and len(others):
            receiver = int(others[np.argmin(self.load[others])])
            weights = self.weight[held]
            gap = int(self.load[giver] - self.load[receiver])
            fits = np.flatnonzero(2 * weights < gap)
            if not len(fits):
                return
            best = fits[np.argmin(np.abs(2 * weights[fits] - gap))]
            self.owner[held[best]] = receiver
            self.load[giver] -= weights[best]
            self.load[receiver] += weights[best]
            held = np.delete(held, best)
            self.moves -= 1
