"""Dicer: from the hottest member, the move with the best change of penalties, until none helps.

Penalties: load above 1.1 of the mean costs 16 times its square, below 0.9 of it 4 times, and a
partition that leaves its owner a quarter of its load. A member that has nothing must reach the
mean. Source: databricks/dicer (January 2026), the reassignments of its placement phase
(`dicer/assigner/algorithm`) with the default of `ChurnConfig.scala`; slices are not split or
merged, and none has replicas.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int32, Int64
from tests.benchmarks.weighted.peers.task import Task

BAND = 0.10
OVER = 16.0
UNDER = 4.0
CHURN = 0.25
EMPTY = 100.0
"""What a member without any partition costs, in loads at the upper end of the band."""

Float64 = NDArray[np.float64]


def dicer(task: Task) -> Int32:
    """Return who gets what. Cost: O(P) a move."""
    load = task.loads().astype(float)
    newcomers = np.bincount(task.owner[task.owner >= 0], minlength=task.member_count) == 0
    owner = _placed(task, load)
    mean = float(load.mean())
    state = _State(
        weight=task.weight.astype(float),
        owner=owner,
        home=owner.copy(),
        load=load,
        high=mean * (1 + BAND),
        low=np.where(newcomers, mean, mean * (1 - BAND)),
    )
    is_open = np.ones(task.member_count, dtype=np.bool_)
    for _ in range(100 * len(owner)):
        if not is_open.any():
            break
        giver = int(np.argmax(np.where(is_open, state.load, -1.0)))
        is_open[giver] = state.give(giver)
    return state.owner


def _placed(task: Task, load: Float64) -> Int32:
    """Return the owners with partitions of nobody at the coldest, heaviest first."""
    owner = task.owner.copy()
    free = np.flatnonzero(owner < 0)
    for partition in free[np.argsort(-task.weight[free], kind="stable")].tolist():
        owner[partition] = coldest = int(np.argmin(load))
        load[coldest] += task.weight[partition]
    return owner


@dataclass(slots=True, kw_only=True)
class _State:
    weight: Float64
    owner: Int32
    home: Int32
    load: Float64
    high: float
    low: Float64

    def penalty(self, load: Float64, low: Float64) -> Float64:
        """Return what the load of members that have something costs."""
        short = np.maximum(low - load, 0.0)
        below = (1 + short / np.maximum(low, 1e-9)) ** 2 * short * UNDER
        above = (load / max(self.high, 1e-9)) ** 2 * np.maximum(load - self.high, 0.0) * OVER
        cost: Float64 = below + above
        return cost

    def give(self, giver: int) -> bool:
        """Do the best move of one partition of a member; `False` where none helps."""
        held: Int64 = np.flatnonzero(self.owner == giver)
        if len(held) < 2:
            return False
        weight = self.weight[held]
        left = self.penalty(self.load[giver] - weight, self.low[giver])
        has_any = np.bincount(self.owner, minlength=len(self.load)) > 0
        now = np.where(has_any, self.penalty(self.load, self.low), EMPTY * self.high)
        leaves = np.where(self.home[held] == giver, weight * CHURN, 0.0)
        taken = self.penalty(self.load[None, :] + weight[:, None], self.low[None, :])
        change = (left - now[giver] + leaves)[:, None] + taken - now[None, :]
        change[:, giver] = np.inf
        at, receiver = divmod(int(np.argmin(change)), len(self.load))
        if change[at, receiver] >= -1e-10:
            return False
        self.owner[held[at]] = receiver
        self.load[giver] -= weight[at]
        self.load[receiver] += weight[at]
        return True
