"""Weights of partitions, capacities of members, costs of moves; all of it is optional.

Weights are whole numbers of anything that adds up: records a second, bytes, microseconds of CPU.
Only their proportions count. Assignors of family `weighted` balance by them; `check` and `explain`
say what they mean for anybody's assignment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from assignors.names.sequences import as_numbers, take

LARGEST = 1 << 53
"""Sums of weights, and of capacities, stay below it: float64 is exact up to there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """How even uses must be. A use is a member's weight divided by its capacity."""

    tolerance: Fraction = Fraction(1, 20)
    """Allowed excess over the fair use after moving: 1/20 is 5 %."""
    trigger: Fraction = Fraction(1, 5)
    """Excess over the fair use that starts moving."""
    is_fair: bool = False
    """Whether all members below their fair use receive partitions, or idle ones only."""
    is_unfinished: bool = False
    """Whether moves of an earlier round were put off. They continue down to the tolerance although
    no member may be above the trigger, so a small budget ends where a large one does."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for a negative tolerance, or a trigger below it."""
        if self.tolerance < 0:
            raise ValueError(f"tolerance: {float(self.tolerance)} is negative")
        if self.trigger < self.tolerance:
            words = f"{float(self.trigger)} is below the tolerance, {float(self.tolerance)}"
            raise ValueError(f"trigger: {words}")


class MustHold(StrEnum):
    """Why nothing may move in a round, whatever its weights."""

    NO_WEIGHTS = "no-weights"
    """No weights are known yet."""
    STALE = "stale"
    """The newest known weights are too old."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighting:
    """Weights, capacities and limits of one round."""

    weights: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Topic -> the weight of each partition, at least 0. Partitions of a missing topic weigh the
    median of all known weights, or 1."""
    move_costs: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Topic -> what moving each partition costs, at least 0; 1 where it is missing."""
    capacities: Mapping[str, int] = field(default_factory=dict)
    """Member id -> what it can carry, at least 1; 1 where it is missing."""
    budget: int | None = None
    """Highest cost of all moves of a round; partitions without an owner cost nothing. `None` is no
    limit; with 0 no member loses a partition."""
    balance: Balance = field(default_factory=Balance)
    must_hold: MustHold | None = None
    """If set, members keep their partitions; partitions without an owner are placed."""

    def __post_init__(self) -> None:
        """Accept lists; raise `ValueError` with the place of an impossible value."""
        take(self, weights=_by_topic(self.weights, "weights"))
        take(self, move_costs=_by_topic(self.move_costs, "move_costs"))
        for member_id, capacity in self.capacities.items():
            place = f"capacities[{member_id!r}]"
            if type(capacity) is not int:
                raise ValueError(f"{place}: expected a whole number, found {capacity!r}")
            if not 1 <= capacity < LARGEST:
                raise ValueError(f"{place}: {capacity} is not from 1 to 2**53 - 1")
        if self.budget is not None and (type(self.budget) is not int or self.budget < 0):
            raise ValueError(f"budget: expected a whole number from 0 on, found {self.budget!r}")
        if sum(map(sum, self.weights.values())) >= LARGEST:
            raise ValueError("weights: the sum is not below 2**53")
        if sum(self.capacities.values()) >= LARGEST:
            raise ValueError("capacities: the sum is not below 2**53")

    def require_fits(self, partition_counts: Mapping[str, int]) -> None:
        """Raise `ValueError` for weights of partitions that do not exist. Cost: O(topics)."""
        for name, by_topic in (("weights", self.weights), ("move_costs", self.move_costs)):
            for topic, values in by_topic.items():
                count = partition_counts.get(topic)
                if count is None:
                    raise ValueError(f"{name}[{topic!r}]: the cluster has no such topic")
                if len(values) != count:
                    words = f"{len(values)} entries for {count} partitions"
                    raise ValueError(f"{name}[{topic!r}]: {words}")


def _by_topic(given: Mapping[str, Sequence[int]], name: str) -> Mapping[str, tuple[int, ...]]:
    """Return whole numbers from 0 on by topic; `ValueError` with the place of the first other."""
    if not isinstance(given, Mapping):
        raise ValueError(f"{name}: expected topic -> numbers, found {given!r}")
    found = {}
    for topic, values in given.items():
        place = f"{name}[{topic!r}]"
        found[topic] = numbers = as_numbers(values, place)
        if numbers and (min(numbers) < 0 or max(numbers) >= LARGEST):
            at = next(at for at, one in enumerate(numbers) if not 0 <= one < LARGEST)
            raise ValueError(f"{place}[{at}]: {numbers[at]} is not from 0 to 2**53 - 1")
    return found
