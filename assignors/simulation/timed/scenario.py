"""What a timed run is made from: topics, members, broker, network, and a plan of what happens.

Nothing else decides a run. Times are milliseconds, but for those too short for it (`_us`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

VERSION = 1
"""Of the JSON form."""


class GroupProtocol(StrEnum):
    """The protocol of the whole group (`group.protocol` of its consumers)."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    """KIP-848."""


class Verb(StrEnum):
    """What can happen to a member or a topic."""

    START = "start"
    """The member's process starts."""
    STOP = "stop"
    """It closes its consumer: a dynamic member leaves the group, a static one falls silent."""
    CRASH = "crash"
    """Its process ends; the coordinator finds out by the session timeout."""
    SUBSCRIBE = "subscribe"
    """It subscribes to other topics: `Action.topics`."""
    GROW = "grow"
    """A topic has `Action.partitions` partitions from now on. Members learn of it when they
    refresh their metadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing that happens, at a time that the scenario sets."""

    at_ms: int
    do: Verb
    member: str | None = None
    topics: tuple[str, ...] = ()
    topic: str | None = None
    partitions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberConfig:
    """A consumer, as its configuration sets it up."""

    name: str
    """The client id; member ids begin with it."""
    topics: tuple[str, ...]
    assignors: tuple[str, ...] = ("optimal/cooperative-sticky",)
    """Full names, the preferred one first (`partition.assignment.strategy`)."""
    instance_id: str | None = None
    rack_id: str | None = None
    heartbeat_interval_ms: int = 3000
    session_timeout_ms: int = 45_000
    rebalance_timeout_ms: int = 300_000
    """`max.poll.interval.ms`."""
    poll_ms: int = 100
    """It handles a rebalance between two polls: after 0 to so many milliseconds."""
    revoke_ms: int = 20
    """How long its callback for revoked partitions takes, with the commit of offsets in it."""
    assign_ms: int = 5
    """How long its callback for assigned partitions takes."""
    sync_delay_us: int = 0
    """Mean time from the answer to JoinGroup to the follower's SyncGroup."""
    metadata_age_ms: int = 300_000
    """It refreshes its metadata at least that often (`metadata.max.age.ms`)."""
    starts_at_ms: int | None = 0
    """When it first starts; `None`: only the plan starts it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConfig:
    """The coordinator's broker."""

    initial_delay_ms: int = 3000
    max_size: int = 2**31 - 1
    service_us: int = 50
    """Time to handle a request; one after the other."""
    append_us: int = 5000
    """From the write of a record to its replication."""
    assignor: str = "server/uniform"
    """The assignor of consumer groups; classic ones have those of their members."""
    consumer_session_timeout_ms: int = 45_000
    """`group.consumer.session.timeout.ms`; classic members choose their own."""
    consumer_heartbeat_interval_ms: int = 5000
    assignment_interval_ms: int = 1000
    """Targets of consumer groups are computed no more often than this (KIP-1263)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkConfig:
    """How long a message takes: at least `least_us`, and more by an exponential law."""

    least_us: int = 0
    mean_us: int = 1000
    """The mean of what comes on top of `least_us`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """All that a run needs."""

    name: str = ""
    seed: int = 0
    until_ms: int
    """When the run ends."""
    count_from_ms: int = 0
    """From when on costs are counted: the group may settle first."""
    protocol: GroupProtocol = GroupProtocol.CLASSIC
    topics: dict[str, int]
    """Topic -> partition count at the start."""
    members: tuple[MemberConfig, ...]
    plan: tuple[Action, ...] = ()
    broker: BrokerConfig = field(default_factory=BrokerConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    compute_us_per_partition: int = 20
    """How long a leader computes."""
    event_limit: int = 50_000_000
    """A run that needs more events stops, and its result says so."""
