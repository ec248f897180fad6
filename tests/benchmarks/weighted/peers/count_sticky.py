"""Sticky by count: equal numbers of partitions with the fewest moves, whatever they weigh.

It stands for Kafka's sticky assignors. Members with too many keep their first partitions.
Source: KIP-54; `AbstractStickyAssignor` of Kafka where all members take all topics.
"""

from __future__ import annotations

import numpy as np

from assignors.arrays import Int32
from tests.benchmarks.weighted.peers.task import Task


def count_sticky(task: Task) -> Int32:
    """Return who gets what. Cost: O(P log P + P x members with too many)."""
    target = task.owner.copy()
    members = task.member_count
    count = np.bincount(target[target >= 0], minlength=members)
    least, spare = divmod(len(target), members)
    quota = np.full(members, least)
    quota[np.argsort(-count, kind="stable")[:spare]] += 1
    for member in np.flatnonzero(count > quota).tolist():
        target[np.flatnonzero(target == member)[quota[member] :]] = -1
    count = np.bincount(target[target >= 0], minlength=members)
    target[target < 0] = np.repeat(np.arange(members), quota - count)
    return target
