"""A group with records: what arrives, who processes it, and what happens to its members.

The defaults are the noisy world of `docs/weights.md`: 240 partitions of 12 topics, whose rates
differ by a factor of a hundred, and 12 equal members that use 70 % of what they can do.

As JSON, what is left out, or null, has its default, and a member with a `count` stands for so many:

    {"version": 1, "until_s": 14400, "topics": {"orders": 24},
     "members": [{"name": "c", "count": 3, "capacity": 2}], "rates": {"distribution": "zipf"},
     "plan": [{"at_s": 3600, "do": "leave", "member": "c1"}]}
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Annotated

from assignors.documents.keys import Kind, integer, mapping, number, read, read_several, schema_of
from assignors.documents.schemas import array
from assignors.documents.values import (
    Document,
    DocumentError,
    ErrorCode,
    Place,
    as_int32,
    as_list,
    as_object,
    required,
)
from assignors.names.nearest import suggestion
from assignors.names.sequences import as_entries, as_names, take
from assignors.simulation.timed.scenario.kinds import require_members
from assignors.weighting import Balance
from assignors.workload import BALANCE, HALF_LIFE_S, HORIZON_S

HOUR_S = 3600
VERSION = 1
"""Of the JSON form."""
STEPS_MAX = 10_000_000
YEAR_S = 366 * 24 * HOUR_S
PARTITIONS_MAX = 1_000_000
MEMBERS_MAX = 10_000

SECONDS = integer(1, YEAR_S)
SECONDS_OR_NONE = integer(0, YEAR_S)
DURATION = number(1, YEAR_S)
FACTOR = number(0, 1_000)
DEVIATION = number(0, 3)
"""Of a logarithm."""
PARTITIONS = integer(0, PARTITIONS_MAX)


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
    """How many records arrive at each partition, relative to others, and how that changes."""

    distribution: Distribution = Distribution.LOG_NORMAL
    """How mean rates differ."""
    spread: Annotated[float, number(0, 1_000_000)] = 1.0
    """By how much, in the sense of the distribution."""
    drift: Annotated[float, DEVIATION] = 0.3
    """Amplitude of a slow wave that all partitions of a topic share: 0.3 is up to 35 % more."""
    drift_period_s: Annotated[int, SECONDS] = 6 * HOUR_S
    """Period of the wave; its phase is drawn for each topic."""
    noise: Annotated[float, DEVIATION] = 0.25
    """Standard deviation of the logarithm of each partition's own changes."""
    noise_s: Annotated[int, SECONDS] = 330
    """How long such a change lasts: its correlation falls to 1/e in that time."""
    bursts_a_day: Annotated[float, FACTOR] = 3.5
    """Mean number of bursts of each partition."""
    burst_factor: Annotated[float, FACTOR] = 4.5
    """Mean factor of a burst; each has one between two thirds and four thirds of it."""
    burst_s: Annotated[int, SECONDS] = 750
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

    samples_every_s: Annotated[int, SECONDS] = 30
    """How often it reads log ends and committed offsets."""
    decides_every_s: Annotated[int, SECONDS_OR_NONE] = 60
    """How long after the last moves it looks whether its assignor would move something, and
    rebalances if so; 0: it only rebalances when members come and go."""
    budget: Annotated[int | None, PARTITIONS] = None
    """Partitions that may move in `decides_every_s`; null: any number."""
    weights: WeightSource = WeightSource.WORK
    """What weights are made of."""
    horizon_s: Annotated[float, DURATION] = HORIZON_S
    """Of `rate` and `work`."""
    half_life_s: Annotated[float, DURATION] = HALF_LIFE_S
    """A rate measured so long ago counts half of one measured now, or less where rates change."""
    error: Annotated[float, DEVIATION] = 0.05
    """Standard deviation of the logarithm of each measured rate's error."""
    tolerance: Annotated[float, FACTOR] = float(BALANCE.tolerance)
    """How far above its fair use a member may stay when partitions move."""
    trigger: Annotated[float, FACTOR] = float(BALANCE.trigger)
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
    capacity: Annotated[int, integer(1, 1_000_000)] = 1
    """How many records it can process, relative to others."""
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

    at_s: Annotated[int, SECONDS_OR_NONE]
    """When."""
    do: Verb
    """What."""
    member: str | None = None
    """Who joins or leaves."""
    topic: str | None = None
    """Whose rates change."""
    factor: Annotated[float, FACTOR] = 1.0
    """The new factor of its rates; 1 is the usual."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """A key of a member in a document."""

    count: Annotated[int | None, integer(1, MEMBERS_MAX)] = None
    """So many members, named with a number each: `c0`, `c1`, ..."""


def _members(value: object, place: Place) -> tuple[TrafficMember, ...]:
    members: list[TrafficMember] = []
    for number_of, each in enumerate(as_list(value, place)):
        where = (*place, number_of)
        one, copies = read_several((TrafficMember, Copies), each, where)
        count = copies.count
        names = [one.name] if count is None else [f"{one.name}{copy}" for copy in range(count)]
        members += [replace(one, name=name) for name in names]
        if len(members) > MEMBERS_MAX:
            words = f"more than {MEMBERS_MAX} members"
            raise DocumentError(ErrorCode.TOO_LARGE, words, where)
    return tuple(members)


def _topics(value: object, place: Place) -> dict[str, int]:
    counts: dict[str, int] = COUNTS.read(value, place)
    if sum(counts.values()) > PARTITIONS_MAX:
        words = f"{sum(counts.values())} partitions, more than {PARTITIONS_MAX}"
        raise DocumentError(ErrorCode.TOO_LARGE, words, place)
    return counts


COUNTS = mapping(PARTITIONS)
TOPICS = Kind(_topics, COUNTS.schema)
MEMBERS = Kind(_members, lambda: array(schema_of(TrafficMember, Copies)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficScenario:
    """All that a run needs but the assignor and the seed."""

    name: str = ""
    """What results call it."""
    until_s: Annotated[int, SECONDS] = 4 * HOUR_S
    """When the run ends."""
    count_from_s: Annotated[int, SECONDS_OR_NONE] = 0
    """From when on figures are counted: the group may settle first."""
    tick_s: Annotated[int, integer(1, HOUR_S)] = 10
    """Seconds of a step. A round of the group takes one."""
    topics: Annotated[dict[str, int], TOPICS] = field(
        default_factory=lambda: {f"t{number:02}": 20 for number in range(12)}
    )
    """Topic -> partition count."""
    members: Annotated[tuple[TrafficMember, ...], MEMBERS] = tuple(
        TrafficMember(name=f"m{number:02}") for number in range(12)
    )
    """Who is or will be in the group."""
    plan: tuple[TrafficAction, ...] = ()
    """What happens."""
    rates: RateConfig = field(default_factory=RateConfig)
    """Records that arrive."""
    records_per_s: Annotated[int, integer(1, 1_000_000_000)] = 100_000
    """Mean rate of all records."""
    use: Annotated[float, number(0.001, 100)] = 0.7
    """That over what the members at the start can process together."""
    warm_up_s: Annotated[float, number(0, 24 * HOUR_S)] = 20
    """What a partition costs the member that starts it, in seconds of its rate: caches, state."""
    behind_share: Annotated[float, number(0, 1)] = 0
    """Part of the partitions that start behind,"""
    behind_s: Annotated[int, SECONDS_OR_NONE] = HOUR_S
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


def traffic_from_document(document: object) -> TrafficScenario:
    """Return the scenario that a document describes. Cost: O(its size).

    Raises `DocumentError`, with the path, for what is no scenario, and for one that cannot happen:
    two members of one name, a member that leaves and is not there, a trigger below the tolerance.

    >>> traffic_from_document({"version": 1, "members": []})
    Traceback (most recent call last):
    assignors.documents.values.DocumentError: a group needs a member at members
    """
    given = as_object(document, ())
    version = as_int32(required(given, "version", ()), ("version",))
    if version != VERSION:
        words = f"version {version} is not {VERSION}"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("version",))
    named = {key: value for key, value in given.items() if key != "version"}
    scenario = read(TrafficScenario, named)
    require_possible(scenario)
    return scenario


def document_from_traffic(scenario: TrafficScenario) -> Document:
    """Return the document of a scenario, every field written out: reading it gives the scenario.

    Cost: O(its size).
    """
    return {"version": VERSION, **asdict(scenario)}


def require_possible(scenario: TrafficScenario) -> None:
    """Raise `DocumentError` where there cannot be such a run. Cost: O(its size)."""
    _require_members(scenario)
    _require_actions(scenario)
    _require_numbers(scenario)


def _require_members(scenario: TrafficScenario) -> None:
    require_members([member.name for member in scenario.members])
    for place, member in enumerate(scenario.members):
        for at, topic in enumerate(member.topics):
            _require_known(topic, scenario.topics, "topic", ("members", place, "topics", at))


def _require_actions(scenario: TrafficScenario) -> None:
    there = {member.name for member in scenario.at_start}
    names = {member.name for member in scenario.members}
    in_order = sorted(enumerate(scenario.plan), key=lambda one: one[1].at_s)
    for position, action in in_order:
        place = ("plan", position)
        if action.do is Verb.RATE:
            _require_known(action.topic, scenario.topics, "topic", (*place, "topic"))
            continue
        _require_known(action.member, names, "member", (*place, "member"))
        name = action.member or ""
        if (name in there) is (action.do is Verb.JOIN):
            words = f"{name!r} is {'already' if name in there else 'not'} in the group then"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "member"))
        there ^= {name}


def _require_known(name: str | None, known: Iterable[str], kind: str, place: Place) -> None:
    if name is None:
        raise DocumentError(ErrorCode.MISSING, f"which {kind}?", place)
    if name not in known:
        words = f"no {kind} {name!r}{suggestion(name, known)}"
        raise DocumentError(ErrorCode.UNKNOWN, words, place)


def _require_numbers(scenario: TrafficScenario) -> None:
    leader = scenario.leader
    if leader.trigger < leader.tolerance:
        words = f"{leader.trigger:g} is below the tolerance, {leader.tolerance:g}"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("leader", "trigger"))
    if scenario.count_from_s >= scenario.until_s:
        words = f"{scenario.count_from_s} is not before the end, {scenario.until_s}"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("count_from_s",))
    if scenario.tick_count > STEPS_MAX:
        words = f"{scenario.tick_count} steps of {scenario.tick_s} s; {STEPS_MAX} are possible"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("until_s",))
