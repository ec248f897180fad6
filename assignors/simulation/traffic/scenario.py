"""A group with records: what arrives, who processes it, and what happens to its members.

The defaults are the noisy world of `docs/weights.md`: 240 partitions of 12 topics, whose rates
differ by a factor of a hundred, and 12 equal members that use 70 % of what they can do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from assignors.names.sequences import as_entries, as_names, take
from assignors.weighting import Balance
from assignors.workload import BALANCE, HALF_LIFE_S, HORIZON_S

HOUR_S = 3600


class Distribution(StrEnum):
    """How the mean rates of partitions differ."""

    EVEN = "even"
    """All are equal."""
    LOG_NORMAL = "log-normal"
    """Their logarithms are normal, with the standard deviation `spread`."""
    ZIPF = "zipf"
    """The partition of rank r, from 1, has 1 / r ** `spread`; ranks are drawn."""
    HOT = "hot"
    """One partition has `spread` times what each other has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateConfig:
    """How many records arrive at each partition, beside the others, and how that changes."""

    distribution: Distribution = Distribution.LOG_NORMAL
    """How mean rates differ."""
    spread: float = 1.0
    """By how much, in the sense of the distribution."""
    drift: float = 0.3
    """Amplitude of a slow wave that all partitions of a topic share: 0.3 is up to 35 % more."""
    drift_period_s: int = 6 * HOUR_S
    """Period of the wave; its phase is drawn for each topic."""
    noise: float = 0.25
    """Standard deviation of the logarithm of each partition's own changes."""
    noise_s: int = 330
    """How long such a change lasts: its correlation falls to 1/e in that time."""
    bursts_a_day: float = 3.5
    """Mean number of bursts of each partition."""
    burst_factor: float = 4.5
    """Mean factor of a burst; each has one between two thirds and four thirds of it."""
    burst_s: int = 750
    """Mean duration of a burst; each lasts between 2/5 and 8/5 of it."""


class WeightSource(StrEnum):
    """What the leader takes as the weight of a partition."""

    RATE = "rate"
    """Records a second."""
    LAG = "lag"
    """Records that are not processed yet."""
    WORK = "work"
    """Rate times `horizon_s`, plus lag."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderConfig:
    """What the leader measures and how it decides."""

    samples_every_s: int = 30
    """How often it reads log ends and committed offsets."""
    decides_every_s: int = 60
    """How long after the last moves it looks whether its assignor would move something, and
    rebalances if so; 0: it only rebalances when members come and go."""
    budget: int | None = None
    """Partitions that may move in `decides_every_s`; null: any number."""
    weights: WeightSource = WeightSource.WORK
    """What weights are made of."""
    horizon_s: float = HORIZON_S
    """Of `rate` and `work`."""
    half_life_s: float = HALF_LIFE_S
    """A rate measured so long ago counts half of one measured now, or less where rates change."""
    error: float = 0.05
    """Standard deviation of the logarithm of each measured rate's error."""
    tolerance: float = float(BALANCE.tolerance)
    """How far above its fair use a member may stay when partitions move."""
    trigger: float = float(BALANCE.trigger)
    """How far above it a member must be before any partition moves."""

    @property
    def balance(self) -> Balance:
        """The limits of an assignor by weight."""
        return Balance(tolerance=Fraction(str(self.tolerance)), trigger=Fraction(str(self.trigger)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficMember:
    """A member."""

    name: str
    """Its member id."""
    capacity: int = 1
    """How many records it can process, beside the others."""
    topics: tuple[str, ...] = ()
    """What it subscribes to; empty: all topics."""

    def __post_init__(self) -> None:
        """Take lists for tuples; `ValueError` for what is neither, as one name for several."""
        take(self, topics=as_names(self.topics, "topics"))


class Verb(StrEnum):
    """What can happen."""

    JOIN = "join"
    """A member joins. One whose first action this is, is not there at the start."""
    LEAVE = "leave"
    """A member leaves the group."""
    RATE = "rate"
    """From now on `factor` times as many records arrive at `topic` as by its own rates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficAction:
    """One thing that happens, at a time that the scenario sets."""

    at_s: int
    """When."""
    do: Verb
    """What."""
    member: str | None = None
    """Who joins or leaves."""
    topic: str | None = None
    """Whose rates change."""
    factor: float = 1.0
    """The new factor of its rates; 1 is the usual."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficScenario:
    """All that a run needs but the assignor and the seed."""

    name: str = ""
    """What results call it."""
    until_s: int = 4 * HOUR_S
    """When the run ends."""
    count_from_s: int = 0
    """From when on figures are counted: the group may settle first."""
    tick_s: int = 10
    """Seconds of a step. A round of the group takes one."""
    topics: dict[str, int] = field(
        default_factory=lambda: {f"t{number:02}": 20 for number in range(12)}
    )
    """Topic -> partition count."""
    members: tuple[TrafficMember, ...] = tuple(
        TrafficMember(name=f"m{number:02}") for number in range(12)
    )
    """Who is or will be in the group."""
    plan: tuple[TrafficAction, ...] = ()
    """What happens."""
    rates: RateConfig = field(default_factory=RateConfig)
    """Records that arrive."""
    records_per_s: int = 100_000
    """Mean rate of all records."""
    use: float = 0.7
    """That over what the members at the start can process together."""
    warm_up_s: float = 20
    """What a partition costs the member that starts it, in seconds of its rate: caches, state."""
    behind_share: float = 0
    """Part of the partitions that start behind,"""
    behind_s: int = HOUR_S
    """by so many seconds of their mean rate."""
    leader: LeaderConfig = field(default_factory=LeaderConfig)
    """What the leader measures and how it decides."""

    def __post_init__(self) -> None:
        """Take lists for tuples; `ValueError` for what is neither."""
        take(
            self,
            members=as_entries(self.members, TrafficMember, "members"),
            plan=as_entries(self.plan, TrafficAction, "plan"),
        )

    @property
    def at_start(self) -> tuple[TrafficMember, ...]:
        """Members that are there at the start. Cost: O(members + actions)."""
        first: dict[str | None, Verb] = {}
        for action in sorted(self.plan, key=lambda one: one.at_s):
            if action.do is not Verb.RATE:
                first.setdefault(action.member, action.do)
        return tuple(one for one in self.members if first.get(one.name) is not Verb.JOIN)

    @property
    def tick_count(self) -> int:
        """Steps of a run."""
        return self.until_s // self.tick_s
