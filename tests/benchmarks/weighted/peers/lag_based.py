"""Lag-based: of each topic the heaviest first, to whoever has fewest partitions of that topic.

Then by least weight of that topic, then by member. Nothing is sticky, and every topic begins with
the same member. Source: grantneale/kafka-lag-based-assignor, `LagBasedPartitionAssignor.java`,
`assignTopic`, at 02f8cab (2020).
"""

from __future__ import annotations

from heapq import heapreplace

import numpy as np

from assignors.arrays import Int32
from tests.benchmarks.weighted.peers.task import Task


def lag_based(task: Task) -> Int32:
    """Return who gets what. Cost: O(P log P + topics x M)."""
    target = np.empty_like(task.owner)
    order = np.lexsort((-task.weight, task.topic_of))
    begins = np.flatnonzero(np.diff(task.topic_of[order])) + 1
    for partitions in np.split(order, begins):
        members = [(0, 0, member) for member in range(task.member_count)]
        for partition in partitions.tolist():
            count, lag, member = members[0]
            target[partition] = member
            heapreplace(members, (count + 1, lag + int(task.weight[partition]), member))
    return target
