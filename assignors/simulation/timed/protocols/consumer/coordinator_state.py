"""The coordinator's side of a consumer group: its state, its settings, and what a step asks for."""

from __future__ import annotations

from dataclasses import dataclass, field

from assignors.assignor import Assignor
from assignors.model import Cluster
from assignors.simulation.timed.protocols.consumer.group import ConsumerGroup
from assignors.simulation.timed.protocols.consumer.messages import ConsumerHeartbeatResponse
from assignors.simulation.timed.protocols.consumer.records import ConsumerRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerConfig:
    """The broker's settings for consumer groups."""

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 5000
    assignment_interval_ms: int = 1000
    """`group.consumer.assignment.interval.ms`: targets are computed no more often than this."""
    max_size: int = 2**31 - 1


@dataclass(slots=True, kw_only=True)
class Changes:
    """What one step asks for."""

    records: list[ConsumerRecord] = field(default_factory=list)
    timers: list[tuple[tuple[str, str], int | None, int]] = field(default_factory=list)
    """Key, microseconds from now or `None` to stop it, data."""
    response: ConsumerHeartbeatResponse | None = None


@dataclass(slots=True, kw_only=True)
class ConsumerCoordinator:
    """The state of the coordinator's side."""

    assignor: Assignor
    cluster: Cluster
    config: ConsumerConfig = field(default_factory=ConsumerConfig)
    group: ConsumerGroup = field(default_factory=ConsumerGroup)
    exists: bool = False
