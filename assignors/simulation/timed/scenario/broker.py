"""The coordinator's broker: its settings, those of its push protocol, and where a group is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from assignors.simulation.timed.group_protocols import (
    NOT_OF_CLASSIC,
    OF_CLASSIC,
    OF_CONSUMER,
    OF_KAFKA,
    OF_PUSH,
    MigrationPolicy,
)
from assignors.simulation.timed.offsets_partition import offsets_partition
from assignors.simulation.timed.scenario.execution import ExecutionConfig
from assignors.simulation.timed.scenario.kinds import Assignor, Assignors, PerSecond, Positive


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementConfig:
    """Which broker is the group's coordinator: the one that leads its partition.

    Brokers lead the partitions of `__consumer_offsets` in turn: broker b leads b, b + brokers, ...
    """

    group: str = "simulated"
    """The group's id, whose hash decides the partition."""
    brokers: Positive = 3
    """How many brokers there are, numbered from 0."""
    partitions: Positive = 50
    """`offsets.topic.num.partitions`."""

    @property
    def partition(self) -> int:
        """The partition that has the group's records. Cost: O(length of the id)."""
        return offsets_partition(self.group, self.partitions)

    @property
    def leader(self) -> int:
        """The broker that leads this partition when the run begins."""
        return self.partition % self.brokers


@dataclass(frozen=True, slots=True, kw_only=True)
class PushConfig:
    """What coordinator and brokers do under the protocol `push`.

    Heartbeat interval and session timeout are each member's own, as in the classic protocol.
    """

    parks_heartbeats: bool = True
    """A request of each member waits at the coordinator and is answered with the next news; false:
    news wait for the next heartbeat."""
    fences_fetches: bool = True
    """Brokers refuse fetches of partitions that a member has lost. The coordinator waits until all
    know it."""
    brokers: Positive = 3
    """Live brokers that have to acknowledge; each leads an equal share of the partitions."""
    waits_for_commit: bool = True
    """The next owner starts after the commit of the one before; false: as soon as brokers know it,
    from the last committed offset."""
    has_epochs: bool = True
    """Every grant of a partition has a number, and a notification counts only for its grant."""
    moves_per_second: PerSecond = 0
    """The most owned partitions that move a second; 0: no limit."""
    lease_ms: int = 0
    """A member may fetch that long after its last heartbeat; 0: until it is fenced."""
    fetch_ms: int = 500
    """The most time between two fetches of a member (`fetch.max.wait.ms`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConfig:
    """The coordinator's broker."""

    initial_delay_ms: Annotated[int, OF_CLASSIC] = 3000
    """`group.initial.rebalance.delay.ms`."""
    max_size: int = 2**31 - 1
    """`group.max.size`."""
    service_us: int = 50
    """Time to handle a request; one after the other."""
    append_us: int = 5000
    """From the write of a record to its replication."""
    load_us: Annotated[int, OF_KAFKA] = 10
    """Time to load a record, when a coordinator takes over."""
    placement: Annotated[PlacementConfig, OF_KAFKA] = field(default_factory=PlacementConfig)
    """Which broker is the coordinator."""
    assignor: Annotated[Assignor, NOT_OF_CLASSIC] = "server/uniform"
    """The assignor of consumer and push groups; classic ones have those of their members."""
    further_assignors: Annotated[Assignors, OF_CONSUMER] = ("server/uniform", "server/range")
    """Those that members may ask for (`group.consumer.assignors`)."""
    migration_policy: Annotated[MigrationPolicy, OF_KAFKA] = MigrationPolicy.BIDIRECTIONAL
    """`group.consumer.migration.policy`."""
    pattern_refresh_ms: Annotated[int, OF_CONSUMER] = 600_000
    """`group.consumer.regex.refresh.interval.ms`."""
    pattern_lookup_ms: Annotated[int, OF_CONSUMER] = 10
    """How long a look-up of patterns takes, on a background thread."""
    consumer_session_timeout_ms: Annotated[int, OF_CONSUMER] = 45_000
    """`group.consumer.session.timeout.ms`."""
    consumer_heartbeat_interval_ms: Annotated[Positive, OF_CONSUMER] = 5000
    """`group.consumer.heartbeat.interval.ms`."""
    assignment_interval_ms: Annotated[int, OF_CONSUMER] = 1000
    """The least time between two targets of a consumer group (KIP-1263)."""
    offsets_retention_ms: int = 604_800_000
    """`offsets.retention.minutes`."""
    offsets_check_ms: Positive = 600_000
    """`offsets.retention.check.interval.ms`."""
    push: Annotated[PushConfig, OF_PUSH] = field(default_factory=PushConfig)
    """Settings of the push protocol."""
    execution: ExecutionConfig = field(default_factory=ExecutionConfig)
    """How requests are executed, and which other groups ask."""
