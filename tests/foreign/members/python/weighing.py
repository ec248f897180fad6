"""What members of ours weigh partitions by, under the assignors by weight."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assignors import Group, Weighting

NAMES = frozenset({"weighted", "cooperative-weighted"})

FIXED = "MEMBER_WEIGHTS_FIXED"
"""Set in a program's environment where weights stay; else they are drawn anew in each round."""

COST = 2
EVERY_MS = 3000


def weighed(name: str, client_id: str) -> dict[str, Any]:
    """The options of a strategy: none but for assignors by weight.

    Two moves every three seconds; weights that are never again what the last moves were for, or
    nearly equal ones that stay.
    """
    if name not in NAMES:
        return {}
    from assignors import Weighting  # noqa: PLC0415 - of our kinds alone
    from assignors.weighting.token_bucket import TimedBudget  # noqa: PLC0415 - as above

    dice = random.Random(client_id)

    def weight(number: int) -> int:
        return 1000 + number if FIXED in os.environ else int(100 * dice.lognormvariate(0, 2))

    def weighting(group: Group) -> Weighting:
        return Weighting(
            weights={
                topic: tuple(weight(number) for number in range(one.partition_count))
                for topic, one in group.cluster.topics.items()
            }
        )

    return {"weighting": weighting, "budget": TimedBudget(cost=COST, every_ms=EVERY_MS)}
