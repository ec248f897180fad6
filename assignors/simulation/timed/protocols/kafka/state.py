"""The state of a group's coordinator: the group, its committed offsets, and what waits for the log.

Kafka has one coordinator for all groups. Members of the classic protocol make a classic group, and
those of KIP-848 a consumer group; the group changes its kind when they migrate. `coordinator.step`
is what changes the state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.assignor import Assignor
from assignors.model import Cluster
from assignors.simulation.timed.group_protocols import GroupProtocol, MigrationPolicy
from assignors.simulation.timed.protocols.effects import (
    Effect,
    Record,
    Reply,
    Response,
    TimerKey,
)
from assignors.simulation.timed.protocols.kafka.classic_group import ClassicGroup, GroupMember
from assignors.simulation.timed.protocols.kafka.consumer_group import ConsumerGroup
from assignors.simulation.timed.protocols.kafka.messages import NO_PRODUCER, ErrorCode
from assignors.simulation.timed.protocols.kafka.records import (
    GroupRecord,
    OffsetRecord,
    RecordedMember,
)

Group = ClassicGroup | ConsumerGroup
Partition = tuple[str, int]
Timer = tuple[TimerKey, int | None, int]
"""Key, microseconds from now or `None` to stop it, data."""
CLOCK_STARTS_MS = 1
"""Kafka's clock never shows 0, which stands for "never"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorConfig:
    """The broker's settings for groups."""

    protocols: frozenset[GroupProtocol] = frozenset({GroupProtocol.CLASSIC, GroupProtocol.CONSUMER})
    """`group.coordinator.rebalance.protocols`: the protocols that members speak."""
    policy: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    """`group.consumer.migration.policy`."""
    initial_delay_ms: int = 3000
    """`group.initial.rebalance.delay.ms`: how long the first members wait for more."""
    classic_max_size: int = 2**31 - 1
    """`group.max.size`."""
    consumer_max_size: int = 2**31 - 1
    """`group.consumer.max.size`."""
    session_timeout_ms: int = 45_000
    """`group.consumer.session.timeout.ms`."""
    assignment_interval_ms: int = 1000
    """`group.consumer.assignment.interval.ms`: targets are computed no more often than this."""
    refresh_interval_ms: int = 600_000
    """`group.consumer.regex.refresh.interval.ms`: patterns are looked up at least this often."""
    lookup_ms: int = 10
    """How long a background thread takes to look up what patterns match."""
    clock_starts_ms: int = CLOCK_STARTS_MS
    """What the broker's clock shows when the run begins."""


class Refused(Exception):  # noqa: N818 - a way out of a request, not an error of ours
    """The request is refused with this code; no record is written."""

    def __init__(self, code: ErrorCode) -> None:
        """Refuse with a code."""
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingAppend:
    """An append of a classic group that is not replicated yet, and what follows it."""

    generation: int
    plan: dict[str, bytes] | None = None
    returned: str | None = None
    """The static member that came back with it."""
    replaced: GroupMember | None = None
    """The static member in whose place it came: that is back if this is not written."""
    came: GroupMember | None = None
    """The member itself, which Kafka changes back even after it has gone."""
    skips_assignment: bool = True
    """Whether it hears that it leads, if it does (`SKIPS_ASSIGNMENT`)."""
    left: int | None = None
    """The LeaveGroup that led to it, and is answered then: the last member has left."""
    made_by: int | None = None
    """The JoinGroup that made the group, which is gone if this is not written."""


class WrittenRecords(NamedTuple):
    """Records of a consumer group that are appended, and the group to which they were applied."""

    group: ConsumerGroup | None
    records: tuple[Record, ...]


class WrittenGroup(NamedTuple):
    """The group as of the last batch in the local log: to this one Kafka goes back.

    What records cannot say of it has to be kept: a classic group is more than its record, and a
    consumer group without members may have gone, or another one have come, without any record.
    What a consumer group's records say is read from the log, but for its epochs: those of one that
    went without a record are still in there.

    Source: `SnapshotRegistry` of Kafka 4.4, `GroupMetadataManager.groups`.
    """

    group: Group | None
    appends: dict[int, WaitingAppend]
    epochs: tuple[object, ...]
    """Of a consumer group: the values of `EPOCHS`."""
    still_watched: frozenset[str]


class Committed(NamedTuple):
    """A committed offset, when it was committed, and its place among the records."""

    offset: int
    at_ms: int
    order: int


@dataclass(slots=True)
class OffsetTable:
    """The committed offsets of one group."""

    committed: dict[Partition, Committed] = field(default_factory=dict)
    pending: dict[int, dict[Partition, Committed]] = field(default_factory=dict)
    """Producer id -> what its open transaction commits."""
    records: int = 0
    """How many records have made the table."""

    def apply(self, record: OffsetRecord) -> None:
        """Take over a record, one just written or one of a log. Cost: O(open transactions)."""
        self.records += 1
        partition = (record.topic, record.partition)
        if record.offset is None:
            self.committed.pop(partition, None)
            for waiting in self.pending.values():
                waiting.pop(partition, None)
            return
        value = Committed(record.offset, record.at_ms, self.records)
        if record.producer_id == NO_PRODUCER:
            self.committed[partition] = value
        else:
            self.pending.setdefault(record.producer_id, {})[partition] = value

    def end(self, producer_id: int, *, is_commit: bool) -> None:
        """End a transaction. Cost: O(its partitions)."""
        for partition, value in self.pending.pop(producer_id, {}).items():
            before = self.committed.get(partition)
            if is_commit and (before is None or before.order < value.order):
                self.committed[partition] = value

    def is_pending(self, partition: Partition) -> bool:
        """Return whether an open transaction commits this partition."""
        return any(partition in waiting for waiting in self.pending.values())


@dataclass(slots=True, kw_only=True)
class Offsets:
    """The offsets that a group has committed, and the requests about them that wait for the log."""

    retention_ms: int = 604_800_000
    """`offsets.retention.minutes`."""
    check_ms: int = 0
    """`offsets.retention.check.interval.ms`; 0: offsets never expire, and groups neither."""
    table: OffsetTable = field(default_factory=OffsetTable)
    """As of the last record written."""
    replicated: dict[Partition, int] = field(default_factory=dict)
    """Partition -> the committed offset, as far as records are replicated."""
    is_shadowed: bool = False
    """Whether the group has gone without a record: fetches, which see what is replicated, see it
    still, and without members."""
    is_watched: bool = False
    """Whether the timer for expired offsets runs."""
    waiting: dict[int, tuple[Reply | None, tuple[OffsetRecord, ...]]] = field(default_factory=dict)
    """Token of an append -> the answer that waits for it, and the offsets it writes."""
    tokens: int = 0
    """The token of the last append: they count down from -1."""


@dataclass(slots=True, kw_only=True)
class GroupCoordinator:
    """The coordinator of one group, whatever protocol its members speak."""

    config: CoordinatorConfig = field(default_factory=CoordinatorConfig)
    cluster: Cluster = field(default_factory=lambda: Cluster(topics={}))
    assignors: Mapping[str, Assignor] = field(default_factory=dict)
    """`group.consumer.assignors`, by Kafka's names; the first one is the default."""
    new_id: Callable[[str], str]
    """Client or instance id -> the id of a new member of a classic group."""
    new_uuid: Callable[[], str]
    """Makes the id of a new member of the classic protocol in a consumer group."""
    group: Group | None = None
    now_ms: int = field(default=0, compare=False)
    """What the broker's clock shows in the step that runs."""
    tokens: int = 0
    """The token of the last append."""
    offsets: Offsets = field(default_factory=Offsets)

    out: list[Effect] = field(default_factory=list)
    """The effects of the step that runs, as far as a classic group asks for them."""
    appends: dict[int, WaitingAppend] = field(default_factory=dict)
    """Appends of the classic group, by their tokens."""
    is_behind: bool = False
    """Whether the last record was not written: what the log says is not what the group is."""

    waiting: dict[int, list[Effect]] = field(default_factory=dict)
    """Answers of the consumer group, and timers that start with them, by the token of the append
    that they wait for."""
    unwritten: dict[int, WrittenRecords] = field(default_factory=dict, compare=False)
    """What each append of the consumer group has changed that may still fail."""
    target_changes: int = 0
    """How often a target, or that of a member, has been written or deleted."""
    version: int = 1
    """Of the topics; counts up with every change."""
    version_of_new_topics: int = 1
    """The version that last brought a new topic."""
    still_watched: set[str] = field(default_factory=set)
    """Topics that a group of this name subscribed to when it became a classic one: Kafka goes on
    refreshing the next consumer group of the name when they change, until that drops them."""
    lookup: frozenset[str] | None = None
    """The patterns that a background thread is looking up."""
    join_timers: set[str] = field(default_factory=set)
    """Members of the classic protocol that have to join the consumer group again in time."""

    upgraded: dict[int, tuple[ClassicGroup, dict[int, WaitingAppend]]] = field(
        default_factory=dict, compare=False
    )
    """Token of the append by which a classic group became a consumer group -> the group as it was,
    and what waited for its own appends."""
    written: WrittenGroup | None = field(default=None, compare=False)
    """Where appends may fail: `coordinator.note_written`."""

    @property
    def classic(self) -> ClassicGroup:
        """The classic group; only for events that are for one."""
        assert isinstance(self.group, ClassicGroup)
        return self.group

    @property
    def consumer(self) -> ConsumerGroup | None:
        """The consumer group, if there is one."""
        return self.group if isinstance(self.group, ConsumerGroup) else None

    @property
    def assignor(self) -> Assignor:
        """The broker's default assignor for consumer groups."""
        return next(iter(self.assignors.values()))

    def taken_removed(self) -> list[str]:
        """Return the members removed since the last call. Cost: O(1)."""
        group = self.group
        return group.taken_removed() if group is not None and group.removed else []

    def awaited(self) -> Iterator[int]:
        """Yield the numbers of the requests that the group has yet to answer. Cost: O(members)."""
        if isinstance(self.group, ClassicGroup):
            for member in self.group.members.values():
                for number in (member.waiting_join, member.waiting_sync):
                    if number is not None:
                        yield number
        for append in self.appends.values():
            if append.left is not None:
                yield append.left
        for effects in self.waiting.values():
            for each in effects:
                if isinstance(each, Reply):
                    yield each.number


@dataclass(slots=True, kw_only=True)
class Changes:
    """What one step of a consumer group asks for."""

    records: list[Record] = field(default_factory=list)
    timers: list[Timer] = field(default_factory=list)
    response: Response | None = None
    later: list[Timer] = field(default_factory=list)
    """Timers that start once the records are replicated."""
    replies: list[tuple[int, Response]] = field(default_factory=list)
    """Answers to other requests, by their number, that do not wait for the records."""
    is_converted: bool = False
    """The group is a classic one from now on: the records are not for it."""


class Work(NamedTuple):
    """A request to a consumer group that is being handled."""

    state: GroupCoordinator
    group: ConsumerGroup
    """The group that it is about; it may be about to be made, and not be the state's yet."""
    out: Changes
    """What it leads to."""


def record_of(group: ClassicGroup, plan: Mapping[str, bytes]) -> GroupRecord:
    """Return the record of a group with these assignments, member id -> bytes."""
    protocol = group.protocol
    members: tuple[RecordedMember, ...] = ()
    if protocol is not None:
        members = tuple(
            RecordedMember(
                each.member_id,
                each.instance_id,
                each.client_id,
                each.session_timeout_ms,
                each.rebalance_timeout_ms,
                each.metadata(protocol),
                plan.get(each.member_id, b""),
            )
            for each in group.in_order()
        )
    leader = None if protocol is None else group.leader
    is_just_made = not group.generation and not members
    kind = None if is_just_made else group.protocol_type
    return GroupRecord(group.generation, kind, protocol, leader, members, group.since_ms)
