"""A scenario as a whole: all that a run needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

from assignors.documents.keys import NATURAL, Kind, mapping
from assignors.documents.values import DocumentError, ErrorCode, Place
from assignors.names.sequences import as_entries, take
from assignors.simulation.timed.group_protocols import OF_CLASSIC, GroupProtocol
from assignors.simulation.timed.scenario.broker import BrokerConfig
from assignors.simulation.timed.scenario.execution import USUAL_MODEL
from assignors.simulation.timed.scenario.faults import Fault, FaultKind
from assignors.simulation.timed.scenario.kinds import Seed
from assignors.simulation.timed.scenario.members import MEMBERS, Arrivals, MemberConfig
from assignors.simulation.timed.scenario.plan import PLAN, Action, PlanEntry, expanded

VERSION = 1
"""Of the JSON form."""

PARTITIONS_MAX = 10_000_000
CATCHING_UP = 2
"""So many times as fast as records are written a member processes them, where nothing is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkConfig:
    """How long a message takes: at least `least_us`, and more by an exponential law."""

    least_us: int = 0
    """What every message takes."""
    mean_us: int = 1000
    """The mean of what comes on top of `least_us`."""
    handling_us: int = 0
    """All members share a machine, which handles one answer, callback or heartbeat after the other,
    each in so long; 0: every member has its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessingConfig:
    """Records as an even flow; without it nobody commits anything."""

    records_per_second: int = 0
    """Written to each partition. Without records nobody commits; named scenarios have 20."""
    topics: dict[str, int] = field(default_factory=dict)
    """For some topics another rate than `records_per_second`."""
    processed_per_second: int = 0
    """What a member processes of one partition at most; 0: twice as many as are written."""

    @property
    def is_on(self) -> bool:
        """Whether there are any records."""
        return self.records_per_second > 0 or any(self.topics.values())

    def rates(self, topic: str) -> tuple[int, int]:
        """Return how many records of a partition are written and processed in a second."""
        written = self.topics.get(topic, self.records_per_second)
        return written, self.processed_per_second or CATCHING_UP * written


def _read_topics(value: object, place: Place) -> dict[str, int]:
    counts: dict[str, int] = COUNTS.read(value, place)
    if sum(counts.values()) > PARTITIONS_MAX:
        words = f"{sum(counts.values())} partitions, more than {PARTITIONS_MAX}"
        raise DocumentError(ErrorCode.TOO_LARGE, words, place)
    return counts


COUNTS = mapping(NATURAL)
TOPICS = Kind(_read_topics, COUNTS.schema)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """All that a run needs."""

    name: str = ""
    """What results call it."""
    seed: Seed = 0
    """Where all randomness comes from."""
    until_ms: int
    """When the run ends."""
    count_from_ms: int = 0
    """From when on costs are counted: the group may settle first."""
    has_rested: bool = True
    """At `count_from_ms` heartbeats of idle members are spread at random, as after a long rest;
    false: in step, as the last rebalance left them."""
    protocol: GroupProtocol = GroupProtocol.CLASSIC
    """The group's; a member may have another (`members[].protocol`)."""
    topics: Annotated[dict[str, int], TOPICS]
    """Topic -> partition count at the start."""
    members: Annotated[tuple[MemberConfig, ...], MEMBERS]
    """Who is or will be in the group."""
    plan: Annotated[tuple[Action, ...], PLAN] = ()
    """What is done to members and topics."""
    arrivals: tuple[Arrivals, ...] = ()
    """Short-lived members, in addition to those above."""
    faults: tuple[Fault, ...] = ()
    """What goes wrong for a time."""
    broker: BrokerConfig = field(default_factory=BrokerConfig)
    """The coordinator."""
    network: NetworkConfig = field(default_factory=NetworkConfig)
    """Between members and coordinator."""
    processing: ProcessingConfig = field(default_factory=ProcessingConfig)
    """Records, and how far members commit."""
    compute_us_per_partition: Annotated[int, OF_CLASSIC] = 20
    """How long a leader computes, for each subscribed partition."""
    event_limit: int = 50_000_000
    """A run with more events stops (`stopped_by`)."""
    kept_limit: int = 10_000_000
    """So does one that keeps more in memory: waiting events, changes of ownership, records."""

    def __post_init__(self) -> None:
        """Take lists for tuples; `ValueError` for what is neither.

        Entries of the plan that stand for several actions become those, and newcomers members.
        """
        members = as_entries(self.members, MemberConfig, "members")
        members, plan, _ = expanded(members, as_entries(self.plan, PlanEntry, "plan"))
        take(
            self,
            members=members,
            plan=plan,
            arrivals=as_entries(self.arrivals, Arrivals, "arrivals"),
            faults=as_entries(self.faults, Fault, "faults"),
        )

    @property
    def execution_model(self) -> str | None:
        """The model that executes the coordinator; `None`: none does. Cost: O(faults)."""
        fails = any(each.kind is FaultKind.APPEND_FAILURE for each in self.faults)
        return self.broker.execution.model or (USUAL_MODEL if fails else None)

    @property
    def protocols(self) -> frozenset[GroupProtocol]:
        """Every protocol that a member speaks at some time. Cost: O(members + actions)."""
        of_members = {each.protocol or self.protocol for _, each in everybody(self)}
        return frozenset(of_members | {each.protocol for each in self.plan if each.protocol})


def everybody(scenario: Scenario) -> Iterator[tuple[Place, MemberConfig]]:
    """Yield the members, then what each kind of arrivals is, with their places in the document."""
    for number, member in enumerate(scenario.members):
        yield ("members", number), member
    for number, arrivals in enumerate(scenario.arrivals):
        yield ("arrivals", number, "member"), arrivals.member
