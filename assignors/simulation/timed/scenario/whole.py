"""A scenario as a whole: all that a run needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields

from assignors.documents.values import DocumentError, ErrorCode, Place, as_object
from assignors.names.sequences import as_entries, take
from assignors.simulation.timed.scenario.broker import BrokerConfig, read_broker
from assignors.simulation.timed.scenario.faults import Fault, read_faults
from assignors.simulation.timed.scenario.members import (
    Arrivals,
    MemberConfig,
    read_arrivals,
    read_members,
)
from assignors.simulation.timed.scenario.network import NetworkConfig, read_network
from assignors.simulation.timed.scenario.plan import Action, read_plan
from assignors.simulation.timed.scenario.processing import ProcessingConfig, read_processing
from assignors.simulation.timed.scenario.protocols import GroupProtocol
from assignors.simulation.timed.scenario.reading import (
    Reader,
    as_boolean,
    as_natural,
    as_seed,
    as_text,
    one_of,
)

VERSION = 1
"""Of the JSON form."""

PARTITIONS_MAX = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """All that a run needs."""

    name: str = ""
    """What results call it."""
    seed: int = 0
    """What all that is random comes from: the same seed, the same run."""
    until_ms: int
    """When the run ends."""
    count_from_ms: int = 0
    """From when on costs are counted: the group may settle first."""
    has_rested: bool = False
    """At `count_from_ms` the group has been at rest for long: from then on heartbeats of members at
    rest come at moments of their own, drawn from the seed. false: in step, as the last rebalance
    left them."""
    protocol: GroupProtocol = GroupProtocol.CLASSIC
    """The group's; a member may have another (`members[].protocol`)."""
    topics: dict[str, int]
    """Topic -> partition count at the start."""
    members: tuple[MemberConfig, ...]
    """Who is or will be in the group."""
    plan: tuple[Action, ...] = ()
    """What is done to members and topics."""
    arrivals: tuple[Arrivals, ...] = ()
    """Short-lived members, beside those above."""
    faults: tuple[Fault, ...] = ()
    """What goes wrong for a time."""
    broker: BrokerConfig = field(default_factory=BrokerConfig)
    """The coordinator."""
    network: NetworkConfig = field(default_factory=NetworkConfig)
    """Between members and coordinator."""
    processing: ProcessingConfig = field(default_factory=ProcessingConfig)
    """Records, and how far members commit."""
    compute_us_per_partition: int = 20
    """How long a leader computes, for each partition of the topics that members subscribe to."""
    event_limit: int = 50_000_000
    """A run that needs more events stops, and its result says so (`stopped_by`)."""
    kept_limit: int = 10_000_000
    """So does one that keeps more in memory: events that wait, and, where they are asked for,
    changes of ownership and records."""

    def __post_init__(self) -> None:
        """Take lists for tuples; `ValueError` for what is neither."""
        take(
            self,
            members=as_entries(self.members, MemberConfig, "members"),
            plan=as_entries(self.plan, Action, "plan"),
            arrivals=as_entries(self.arrivals, Arrivals, "arrivals"),
            faults=as_entries(self.faults, Fault, "faults"),
        )

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


def read_topics(value: object, place: Place) -> dict[str, int]:
    """Return the partition count of each topic. Cost: O(topics)."""
    counts = {
        as_text(name, place): as_natural(count, (*place, name))
        for name, count in as_object(value, place).items()
    }
    if sum(counts.values()) > PARTITIONS_MAX:
        words = f"{sum(counts.values())} partitions, more than {PARTITIONS_MAX}"
        raise DocumentError(ErrorCode.TOO_LARGE, words, place)
    return counts


READERS: dict[str, Reader] = {
    **dict.fromkeys((each.name for each in fields(Scenario)), as_natural),
    "name": as_text,
    "seed": as_seed,
    "has_rested": as_boolean,
    "protocol": one_of(GroupProtocol),
    "topics": read_topics,
    "members": read_members,
    "plan": read_plan,
    "arrivals": read_arrivals,
    "faults": read_faults,
    "broker": read_broker,
    "network": read_network,
    "processing": read_processing,
}
"""Field -> what reads it; a field that is not named here is a natural number."""
