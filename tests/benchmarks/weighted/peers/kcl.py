"""Kinesis Client Library 3: if a member is 10 % off the mean, 60 % of what is above it moves.

Which partitions, is picked at random; receivers are those with most room, until one would come
above the mean. One call is one run; the library runs again every few minutes.
Source: awslabs/amazon-kinesis-client, `VarianceBasedLeaseAssignmentDecider.java` and the defaults
of `LeaseManagementConfig.java`, at 025813c (2026). The use of a member is what its partitions
weigh; leases by count, limits of a worker and its operating range are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from assignors.arrays import Int32, Int64
from tests.benchmarks.weighted.peers.task import Task

THRESHOLD = 0.10
DAMPENING = 0.60


def kcl(task: Task) -> Int32:
    """Return who gets what after one run. Cost: O(P log M + M log M)."""
    load = task.loads()
    run = _Run(
        weight=task.weight, owner=task.owner.copy(), use=load.astype(float), mean=float(load.mean())
    )
    for partition in np.flatnonzero(task.owner < 0).tolist():
        run.assign(partition)
    if not run.mean:
        return run.owner
    random = np.random.default_rng(task.seed)
    for giver, wanted in _amounts(load, run.mean):
        if not run.give(_picked(task, giver, wanted, random)):
            break
    return run.owner


def _amounts(load: Int64, mean: float) -> list[tuple[int, float]]:
    """Return members that give, and how much, the most first."""
    high, low = mean * (1 + THRESHOLD), mean * (1 - THRESHOLD)
    if not ((load > high) | (load < low)).any():
        return []
    givers = np.flatnonzero(load >= high)
    if not len(givers):
        givers = np.array([np.argmax(load)])
    amounts = [(giver, (float(load[giver]) - mean) * DAMPENING) for giver in givers.tolist()]
    return sorted(amounts, key=lambda one: -one[1])


def _picked(task: Task, giver: int, wanted: float, random: np.random.Generator) -> list[int]:
    """Return partitions of a member, in random order, that weigh less than so much together."""
    held = np.flatnonzero(task.owner == giver)
    picked = []
    for partition in random.permutation(held).tolist():
        weight = float(task.weight[partition])
        if weight < wanted:
            wanted -= weight
            picked.append(partition)
    return picked or [int(held[np.argmin(task.weight[held])])]


@dataclass(slots=True, kw_only=True)
class _Run:
    weight: Int64
    owner: Int32
    use: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
    mean: float
    queue: list[tuple[float, int]] | None = None

    def assign(self, partition: int) -> None:
        """Give a partition without an owner to whoever has most room."""
        _, member = heappop(self._queue())
        self._take(partition, member)

    def give(self, partitions: list[int]) -> bool:
        """Hand partitions on; `False` where no receiver is left for the next member either."""
        for partition in partitions:
            queue = self._queue()
            if not queue:
                return False
            place, member = heappop(queue)
            if self.use[member] + self.weight[partition] > self.mean:
                break  # as in the original, which does not put the member back either
            if member == self.owner[partition]:
                heappush(queue, (place, member))
            else:
                self._take(partition, member)
        return True

    def _take(self, partition: int, member: int) -> None:
        self.owner[partition] = member
        self.use[member] += self.weight[partition]
        heappush(self._queue(), (float(self.use[member]), member))

    def _queue(self) -> list[tuple[float, int]]:
        """Return members, the one with the least use first."""
        if self.queue is None:
            self.queue = [(use, member) for member, use in enumerate(self.use.tolist())]
            heapify(self.queue)
        return self.queue
