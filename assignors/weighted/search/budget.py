"""A budget cuts the sequence of steps: what is done is its longest prefix that can be paid.

The sequence does not depend on the budget, and no step makes the largest use larger, so more budget
never leads to a larger one. A partition costs if it ends with somebody else than the member that
stickiness favours; one that had no owner costs nothing, nor does one that comes back.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assignors.arrays import Int32, Int64
from assignors.weighted.search.table import Move


def affordable(
    steps: Sequence[Sequence[Move]], *, favoured: Int32, cost: Int64, budget: int | None
) -> int:
    """Return how many of the steps are done.

    `favoured` is int32[P], -1 for nobody; `cost` int64[P]; `None` is no limit. Cost: O(moves).

    >>> steps = [[Move(0, 0, 1)], [Move(1, 0, 2), Move(2, 2, 0)], [Move(0, 1, 0)]]
    >>> owner, cost = np.array([0, 0, 2], dtype=np.int32), np.array([1, 1, 1])
    >>> [affordable(steps, favoured=owner, cost=cost, budget=each) for each in (0, 1, 2, 3)]
    [0, 1, 3, 3]
    """
    if budget is None:
        return len(steps)
    spent, longest = 0, 0
    for number, step in enumerate(steps, start=1):
        for partition, giver, receiver in step:
            home = int(favoured[partition])
            if home >= 0:
                one = int(cost[partition])
                spent += one * (int(receiver != home) - int(giver != home))
        if spent <= budget:
            longest = number
    return longest
