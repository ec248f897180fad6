"""The coordinator's side of a consumer group: its state, its settings, and what a step asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.assignor import Assignor
from assignors.model import Cluster
from assignors.simulation.timed.protocols.classic.messages import ErrorCode
from assignors.simulation.timed.protocols.consumer.group import ConsumerGroup, ConsumerMember
from assignors.simulation.timed.protocols.consumer.messages import ConsumerError
from assignors.simulation.timed.protocols.effects import Record, Response, TimerKey
from wire import TopicPartitions


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerConfig:
    """The broker's settings for consumer groups."""

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 5000
    assignment_interval_ms: int = 1000
    """`group.consumer.assignment.interval.ms`: targets are computed no more often than this."""
    max_size: int = 2**31 - 1
    refresh_interval_ms: int = 600_000
    """`group.consumer.regex.refresh.interval.ms`: patterns are looked up at least this often."""
    lookup_ms: int = 10
    """How long a background thread takes to look up what patterns match."""
    offload_ms: int = 0
    """How long a background thread takes to compute a target; 0: the request itself does it."""
    drops_old_targets: bool = False
    """Whether a target is dropped that was computed for a group epoch that is over."""


class Offloaded(NamedTuple):
    """A target that a background thread is computing."""

    epoch: int
    """The group epoch that it is for."""
    target: dict[str, TopicPartitions]
    """Member id -> its part, as it will be found."""


Timer = tuple[TimerKey, int | None, int]
"""Key, microseconds from now or `None` to stop it, data."""


class Refused(Exception):  # noqa: N818 - a way out of a request, not an error of ours
    """The request is refused with this code; no record is written."""

    def __init__(self, code: ConsumerError | ErrorCode) -> None:
        """Refuse with a code."""
        super().__init__(code)
        self.code = code


@dataclass(slots=True, kw_only=True)
class Changes:
    """What one step asks for."""

    records: list[Record] = field(default_factory=list)
    timers: list[Timer] = field(default_factory=list)
    response: Response | None = None
    later: list[Timer] = field(default_factory=list)
    """Timers that start once the records are replicated."""
    replies: list[tuple[int, Response]] = field(default_factory=list)
    """Answers to other requests, by their number, that do not wait for the records."""
    is_converted: bool = False
    """The group is a classic one from now on: the records are not for it."""


def never(_leaving: list[ConsumerMember], _out: Changes) -> bool:
    """Return False: a coordinator that knows no classic groups converts none."""
    return False


@dataclass(slots=True, kw_only=True)
class ConsumerCoordinator:
    """The state of the coordinator's side."""

    assignor: Assignor
    cluster: Cluster
    config: ConsumerConfig = field(default_factory=ConsumerConfig)
    group: ConsumerGroup = field(default_factory=ConsumerGroup)
    exists: bool = False
    target_changes: int = 0
    """How often a target, or that of a member, has been written or deleted."""
    assignors: Mapping[str, Assignor] = field(default_factory=dict)
    """Kafka's name -> an assignor that members may ask for (`group.consumer.assignors`)."""
    version: int = 1
    """Of the topics; counts up with every change."""
    version_of_new_topics: int = 1
    """The version that last brought a new topic."""
    still_watched: set[str] = field(default_factory=set)
    """Topics that a group of this name subscribed to when it became a classic one: Kafka goes on
    refreshing the next consumer group of the name when they change, until that drops them."""
    lookup: frozenset[str] | None = None
    """The patterns that a background thread is looking up."""
    offloaded: Offloaded | None = None
    """The target that a background thread is computing."""
    join_timers: set[str] = field(default_factory=set)
    """Classic members that have to join again in time."""
    downgrade: Callable[[list[ConsumerMember], Changes], bool] = never
    """Makes a classic group of what is left without these members, if that may be."""


class Work(NamedTuple):
    """A request that is being handled."""

    state: ConsumerCoordinator
    group: ConsumerGroup
    """The group that it is about; it may be about to be made, and not be the state's yet."""
    now_ms: int
    out: Changes
    """What it leads to."""
