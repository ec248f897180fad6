"""Longest processing time first: the heaviest partition to whoever has least, from scratch.

Nothing is sticky. Source: Graham (1969), "Bounds on multiprocessing timing findings".
"""

from __future__ import annotations

from heapq import heapreplace

import numpy as np

from assignors.arrays import Int32
from tests.benchmarks.weighted.peers.task import Task


def lpt(task: Task) -> Int32:
    """Return who gets what. Cost: O(P log P)."""
    target = np.empty_like(task.owner)
    members = [(0, member) for member in range(task.member_count)]
    for partition in np.argsort(-task.weight, kind="stable").tolist():
        load, member = members[0]
        target[partition] = member
        heapreplace(members, (load + int(task.weight[partition]), member))
    return target
