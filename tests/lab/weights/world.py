"""What is played: partitions, members, and every record that is written, all from one seed.

Rates are skewed, a record costs more in some partitions than in others, and members differ in
speed. A quarter into the run a member leaves, halfway partitions change their rates, after three
quarters a member joins. Times are seconds of the run, which begins with the first record.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assignors.weighting import Weighting

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CAPACITIES = (6, 6, 4, 3)
"""What members can carry, in turn; a member of 3 needs twice the time for a record that one of 6
needs."""
FULL = max(CAPACITIES)
COSTS = (1, 2, 4)
"""What a record costs, by partition, in parts of each other."""
SIGMA = 1.0
"""Of the logarithm of a partition's rate."""
HOTTEST = 8.0
"""No partition has more than so many times the mean rate: one member can carry it."""
CHANGED = 0.5
"""The share of partitions that change their rates halfway."""
TOPIC_COUNT = 4
LEAVER = 1
PHASES = ("start", "after the leave", "after the change", "after the join")
"""A quarter of the run each."""


@dataclass(frozen=True, kw_only=True)
class World:
    """A run, but for the assignor."""

    seed: int
    seconds: float = 32.0
    member_count: int = 12
    """Members from the beginning; the one that joins later has the next number."""
    partition_count: int = 240
    rate: float = 600.0
    """Records a second, of all partitions."""
    use: float = 0.65
    """The share of what all members can carry that the records need, before anybody leaves."""
    quota: float = 0.06
    """What a member may burn, in processors: it waits between records as under a CPU limit."""

    @property
    def phase_s(self) -> float:
        """How long a phase takes."""
        return self.seconds / len(PHASES)

    @property
    def leave_s(self) -> float:
        """When a member leaves."""
        return self.phase_s

    @property
    def change_s(self) -> float:
        """When rates change."""
        return 2 * self.phase_s

    @property
    def join_s(self) -> float:
        """When a member joins."""
        return 3 * self.phase_s

    @cached_property
    def topics(self) -> dict[str, int]:
        """Topic -> its number of partitions."""
        assert self.partition_count % TOPIC_COUNT == 0, "topics are of one size"
        count = self.partition_count // TOPIC_COUNT
        return {f"weights-{number}": count for number in range(TOPIC_COUNT)}

    @cached_property
    def partitions(self) -> tuple[tuple[str, int], ...]:
        """Topic and number of each partition: its place here is its number in arrays."""
        return tuple(
            (topic, number) for topic, count in self.topics.items() for number in range(count)
        )

    def member(self, number: int) -> str:
        """Return the client id of a member."""
        return f"m{number:02}"

    def capacity(self, number: int) -> int:
        """Return what a member can carry."""
        return CAPACITIES[number % len(CAPACITIES)]

    @cached_property
    def cost_class(self) -> Ints:
        """int64[P]: what a record of each partition costs, one of `COSTS`."""
        dice = np.random.default_rng([self.seed, 0])
        return dice.choice(np.array(COSTS, dtype=np.int64), self.partition_count)

    @cached_property
    def rates(self) -> tuple[Floats, Floats]:
        """float64[P]: records a second, until the change and after it.

        Partitions change their rates with others of the same cost, so the sum of work stays.
        """
        dice = np.random.default_rng([self.seed, 1])
        drawn = dice.lognormal(0.0, SIGMA, self.partition_count)
        before = np.minimum(drawn, HOTTEST * drawn.mean())
        before *= self.rate / before.sum()
        after = before.copy()
        changing = dice.random(self.partition_count) < CHANGED
        for cost in COSTS:
            places = np.flatnonzero(changing & (self.cost_class == cost))
            after[places] = before[dice.permutation(places)]
        return before, after

    @cached_property
    def cost_s(self) -> Floats:
        """float64[P]: seconds of CPU that a record costs a member of the full capacity."""
        total = sum(map(self.capacity, range(self.member_count))) / FULL
        work = float((self.rates[0] * self.cost_class).sum())
        return self.cost_class.astype(np.float64) * (self.use * self.quota * total / work)

    def weights(self, at_s: float) -> Ints:
        """Return the work of each partition at a time, microseconds of CPU a second: int64[P]."""
        rates = self.rates[at_s >= self.change_s]
        return np.maximum(1, np.rint(rates * self.cost_s * 1e6)).astype(np.int64)

    def weighting(self, at_s: float) -> Weighting:
        """Return the same by topic; capacities of all members are by client id."""
        weights = self.weights(at_s).reshape(TOPIC_COUNT, -1).tolist()
        numbers = range(self.member_count + 1)
        return Weighting(
            weights=dict(zip(self.topics, map(tuple, weights), strict=True)),
            capacities={self.member(number): self.capacity(number) for number in numbers},
        )

    @cached_property
    def due_s(self) -> tuple[Floats, ...]:
        """When each record of a partition is due: a Poisson process, whose rate changes once."""
        dice = np.random.default_rng([self.seed, 2])
        parts = ((0.0, self.change_s), (self.change_s, self.seconds))
        return tuple(
            np.concatenate(
                [
                    _poisson(dice, float(rates[place]), *part)
                    for rates, part in zip(self.rates, parts, strict=True)
                ]
            )
            for place in range(self.partition_count)
        )

    @cached_property
    def schedule(self) -> tuple[Floats, Ints]:
        """When each record of all partitions is due, and its partition, in order of time."""
        due = np.concatenate(self.due_s)
        places = np.repeat(np.arange(self.partition_count), [len(one) for one in self.due_s])
        order = np.argsort(due, kind="stable")
        return due[order], places[order]


def _poisson(dice: np.random.Generator, rate: float, begin_s: float, end_s: float) -> Floats:
    count = int(dice.poisson(rate * (end_s - begin_s)))
    return np.sort(dice.uniform(begin_s, end_s, count))
