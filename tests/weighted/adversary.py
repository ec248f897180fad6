"""Weights that change against a group: whenever they are asked for, what was right is wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assignors import Weighting
from assignors.model import Group
from tests.weighted.groups import EXACT


@dataclass(slots=True)
class Adversary:
    """Weights drawn anew whenever they are asked for, so that what was right is wrong now."""

    random: np.random.Generator

    def __call__(self, group: Group) -> Weighting:
        weights = {
            topic: (self.random.lognormal(0, 2, one.partition_count) * 100).astype(int)
            for topic, one in group.cluster.topics.items()
        }
        if self.random.random() < 0.5 and group.members:
            # All weight on what one member has.
            victim = group.members[int(self.random.integers(len(group.members)))]
            for topic, each in weights.items():
                owned = [one for one in victim.owned.get(topic, ()) if one < len(each)]
                each[owned] = 10_000
        return Weighting(
            weights={topic: tuple(each.tolist()) for topic, each in weights.items()},
            capacities={one.member_id: int(self.random.integers(1, 4)) for one in group.members},
            balance=EXACT,
        )
