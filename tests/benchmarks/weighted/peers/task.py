"""What every peer is asked: weights, owners, equal members; who gets what comes back.

The peers are ports on arrays for groups in which every member takes every topic and can carry the
same. Each is called again for every decision, and knows nothing but its `Task`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from assignors.arrays import Int32, Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One decision. P partitions."""

    weight: Int64
    """int64[P], at least 0: rate, lag, or whatever the peer should balance."""
    owner: Int32
    """int32[P]: who has each partition, -1 for nobody."""
    member_count: int
    topic_of: Int32
    """int32[P]: `lag_based` treats every topic by itself, the others do not look at it."""
    seed: int = 0
    """`kcl` picks partitions at random."""

    def loads(self) -> Int64:
        """Return the weight of each member, int64[M]."""
        load = np.zeros(self.member_count, dtype=np.int64)
        held = self.owner >= 0
        np.add.at(load, self.owner[held], self.weight[held])
        return load


Peer = Callable[[Task], Int32]
"""Returns int32[P]: who gets each partition. Never -1."""
