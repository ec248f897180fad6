"""The coordinator's broker: its settings, and how a scenario writes them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum

from assignors.jvm.offsets_partition import offsets_partition
from assignors.simulation.timed.scenario.execution import ExecutionConfig, read_execution
from assignors.simulation.timed.scenario.protocols import MigrationPolicy
from assignors.simulation.timed.scenario.push import PushConfig, read_push
from assignors.simulation.timed.scenario.reading import (
    Reader,
    as_assignor,
    as_assignors,
    as_natural,
    as_text,
    one_of,
    settings_reader,
)


class OldTargets(StrEnum):
    """What a coordinator does with a target that was computed for an older group epoch."""

    APPLY = "apply"
    """It becomes the target, without members that have left, until the next one is computed."""
    DROP = "drop"
    """It is thrown away, and the next one is computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementConfig:
    """Which broker is the group's coordinator: the one that leads its partition.

    Brokers lead the partitions of `__consumer_offsets` in turn: broker b leads b, b + brokers, ...
    """

    group: str = "simulated"
    """The group's id, whose hash decides the partition."""
    brokers: int = 3
    """How many brokers there are, numbered from 0."""
    partitions: int = 50
    """`offsets.topic.num.partitions`."""

    @property
    def partition(self) -> int:
        """The partition that has the group's records. Cost: O(length of the id)."""
        return offsets_partition(self.group, self.partitions)

    @property
    def leader(self) -> int:
        """The broker that leads this partition when the run begins."""
        return self.partition % self.brokers


PLACEMENT_READERS: dict[str, Reader] = {
    **dict.fromkeys((each.name for each in fields(PlacementConfig)), as_natural),
    "group": as_text,
}
"""Field -> what reads it; a field that is not named here is a natural number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConfig:
    """The coordinator's broker."""

    initial_delay_ms: int = 3000
    """`group.initial.rebalance.delay.ms`: the first members of a classic group wait for more."""
    max_size: int = 2**31 - 1
    """`group.max.size`."""
    service_us: int = 50
    """Time to handle a request; one after the other."""
    append_us: int = 5000
    """From the write of a record to its replication."""
    load_us: int = 10
    """Time that a coordinator takes for each record as it loads the log of its groups."""
    placement: PlacementConfig = field(default_factory=PlacementConfig)
    """Which broker is the coordinator."""
    assignor: str = "server/uniform"
    """The assignor of consumer and push groups; classic ones have those of their members."""
    further_assignors: tuple[str, ...] = ("server/uniform", "server/range")
    """Those that members may ask for besides (`group.consumer.assignors`)."""
    migration_policy: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    """`group.consumer.migration.policy`."""
    pattern_refresh_ms: int = 600_000
    """`group.consumer.regex.refresh.interval.ms`: what patterns match is looked up this often."""
    pattern_lookup_ms: int = 10
    """How long such a lookup takes, on a background thread."""
    consumer_session_timeout_ms: int = 45_000
    """`group.consumer.session.timeout.ms`; classic members choose their own."""
    consumer_heartbeat_interval_ms: int = 5000
    """`group.consumer.heartbeat.interval.ms`."""
    assignment_interval_ms: int = 1000
    """Targets of consumer groups are computed no more often than this (KIP-1263)."""
    offload_ms: int = 0
    """A background thread takes so long for a target of a consumer group (KIP-1263); 0: the request
    that needs it computes it at once, as in Kafka 4.4.0."""
    old_targets: OldTargets = OldTargets.APPLY
    """What becomes of a target whose group has changed while it was computed."""
    offsets_retention_ms: int = 604_800_000
    """`offsets.retention.minutes`: when committed offsets that nobody uses expire."""
    offsets_check_ms: int = 600_000
    """`offsets.retention.check.interval.ms`: how often expired ones are looked for."""
    push: PushConfig = field(default_factory=PushConfig)
    """Settings of the push protocol."""
    execution: ExecutionConfig = field(default_factory=ExecutionConfig)
    """How requests are executed, and beside which others."""


READERS: dict[str, Reader] = {
    **dict.fromkeys((each.name for each in fields(BrokerConfig)), as_natural),
    "assignor": as_assignor,
    "old_targets": one_of(OldTargets),
    "push": read_push,
    "placement": settings_reader(PlacementConfig, PLACEMENT_READERS),
    "execution": read_execution,
    "further_assignors": as_assignors,
    "migration_policy": one_of(MigrationPolicy),
}
"""Field -> what reads it; a field that is not named here is a natural number."""

read_broker = settings_reader(BrokerConfig, READERS)
