"""Members: how their consumers are configured, and who comes at random."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated

from assignors.documents import schemas
from assignors.documents.keys import Kind, read_several, schema_of
from assignors.documents.values import DocumentError, ErrorCode, Place, as_list
from assignors.names.sequences import as_names, take
from assignors.simulation.timed.dialects.time_limits import (
    join_limit_ms,
    sync_limit_ms,
    times_of,
)
from assignors.simulation.timed.dialects.timing import Timing
from assignors.simulation.timed.group_protocols import (
    NOT_OF_CONSUMER,
    OF_CLASSIC,
    OF_CONSUMER,
    OF_KAFKA,
    GroupProtocol,
)
from assignors.simulation.timed.scenario.kinds import (
    Client,
    Hexadecimal,
    MemberAssignors,
    Pattern,
    Positive,
    Ppm,
)
from wire import TopicPartitions

MEMBERS_MAX = 100_000
AUTO_COMMIT_MS = 5000
"""Kafka's `auto.commit.interval.ms`."""


class Claims(StrEnum):
    """What a member writes as its owned partitions."""

    TRUE = "true"
    """What it consumes; or what its `client` writes."""
    STALE = "stale"
    """Its last assignment, even if it has lost it since."""
    ABSENT = "absent"
    """Nothing, in a version without owned partitions."""
    SENTINEL = "sentinel"
    """What it consumes, with generation -1."""
    EVERYTHING = "everything"
    """All partitions of its topics, those of other members too."""


class ClientModel(StrEnum):
    """How a client divides its work among threads; docs/models.md compares the three.

    Its application polls at even times, `poll_ms` apart, and at once while it consumes nothing.
    """

    IN_POLL = "in_poll"
    """One thread does everything inside `poll`, heartbeats too."""
    HEARTBEAT_THREAD = "heartbeat_thread"
    """A second thread sends heartbeats; rebalances go on in polls. Java's client of the classic
    protocol."""
    BACKGROUND_THREAD = "background_thread"
    """A second thread does all that needs the network; polls run callbacks. Java's client of
    KIP-848."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberConfig:
    """A consumer, as its configuration sets it up."""

    name: str
    """The client id; member ids begin with it."""
    topics: tuple[str, ...]
    """Its subscription."""
    assignors: Annotated[MemberAssignors, OF_CLASSIC] = ("optimal/cooperative-sticky",)
    """Full names, the preferred one first (`partition.assignment.strategy`);
    `package.module:object` is one of your own, which the caller allows (`--own-assignor`)."""
    instance_id: Annotated[str | None, OF_KAFKA] = None
    """`group.instance.id`: a static member (KIP-345)."""
    rack_id: str | None = None
    """`client.rack`."""
    heartbeat_interval_ms: Annotated[Positive, NOT_OF_CONSUMER] = 3000
    """`heartbeat.interval.ms`."""
    clock_ppm: Ppm = 0
    """How slow its clock is, in millionths; negative: fast."""
    session_timeout_ms: Annotated[int, NOT_OF_CONSUMER] = 45_000
    """`session.timeout.ms`."""
    rebalance_timeout_ms: int = 300_000
    """`max.poll.interval.ms`."""
    poll_ms: int = 1000
    """The longest time between two polls, in which the application handles records. A rebalance
    waits for the next poll."""
    poll_spread_ms: int | None = None
    """A poll takes up to so much less than `poll_ms`, at random; null: half of it. Polls of a
    member with a `client_model` are even."""
    revoke_ms: int = 20
    """Duration of its callback for revoked partitions, commit included."""
    assign_ms: int = 5
    """Duration of its callback for assigned partitions."""
    sync_delay_us: Annotated[int, OF_CLASSIC] = 0
    """Mean time from the answer to JoinGroup to the follower's SyncGroup."""
    metadata_age_ms: Annotated[int, OF_CLASSIC] = 300_000
    """`metadata.max.age.ms`."""
    request_timeout_ms: int = 30_000
    """`request.timeout.ms`. A classic leader that rebalances in `poll` alone has to poll more
    often, or no round ends."""
    leaves_if_poll_is_late: bool = True
    """It leaves the group when it has not polled for `rebalance_timeout_ms`. Sarama and franz-go do
    not."""
    stops_without_answer: Annotated[bool, OF_CLASSIC] = False
    """It gives up its partitions after a session timeout without an answer, as librdkafka does."""
    timing: Annotated[Timing | None, OF_KAFKA] = None
    """When its client does what is due; null: as its `client` does, or Java's."""
    protocol: GroupProtocol | None = None
    """`group.protocol`; null: the group's. A group with members of both migrates."""
    pattern: Pattern | None = None
    """A regular expression: it also subscribes to the topics that match."""
    remote_assignor: Annotated[str | None, OF_CONSUMER] = None
    """`group.remote.assignor`: the broker's assignor that it asks for, as `uniform`."""
    starts_at_ms: int | None = 0
    """When it first starts; null: only the plan starts it."""
    restarts_after_ms: int | None = None
    """How long after its process has ended by itself it is started again; null: never."""
    client: Annotated[Client | None, OF_KAFKA] = None
    """Client and version whose bytes it writes and reads and whose times it has, as `java-4.4.0`;
    null: this package's bytes, Java's times."""
    owned: Annotated[TopicPartitions, OF_CLASSIC] = field(default_factory=dict)
    """Partitions that it claims as it first joins, as it had them before the run."""
    claims: Annotated[Claims, OF_CLASSIC] = Claims.TRUE
    """What it writes as its owned partitions."""
    subscription_hex: Annotated[Hexadecimal | None, OF_CLASSIC] = None
    """It writes these bytes as its Subscription, in hexadecimal, whatever it knows."""
    auto_commit_ms: int | None = None
    """`auto.commit.interval.ms`; 0: it does not commit by itself; null: 5000 where there are
    records (`processing`) and it does not commit synchronously."""
    sync_commit_ms: int = 0
    """Every so often it commits and waits for the answer; 0: never."""
    requires_stable: bool = True
    """It waits for the offsets of open transactions, as Java's consumers do."""
    commits_on_revoke: bool = True
    """It commits in the callback for revoked partitions."""
    forgets_generation: Annotated[bool, OF_CLASSIC] = False
    """A commit of an older generation makes it forget its own and join again: librdkafka 1.6 up to
    2025 (its issue 4059)."""
    runs_handlers: bool = False
    """Its application has a handler for each partition, in sessions, as with Sarama. At the end of
    a session each handler returns after up to `poll_ms`; then `Cleanup` takes `revoke_ms`, and
    `Setup` of the next one `assign_ms`."""
    keeps_pauses: bool = False
    """A paused partition that it loses is paused again when it comes back: Sarama from 1.60.1 on,
    franz-go."""
    client_model: Annotated[ClientModel | None, OF_KAFKA] = None
    """How its client divides its work among threads; null: heartbeats and answers never wait for a
    poll."""
    assign: TopicPartitions = field(default_factory=dict)
    """Partitions that it takes by `assign()`, outside the group."""

    def __post_init__(self) -> None:
        """Take lists for tuples; `ValueError` for what is neither, as one name for several."""
        take(
            self,
            topics=as_names(self.topics, "topics"),
            assignors=as_names(self.assignors, "assignors"),
        )

    @property
    def times(self) -> Timing:
        """When its client does what is due. One that runs handlers has no polls to wait for."""
        if self.timing is not None:
            return self.timing
        if self.runs_handlers:
            return Timing(heartbeat_late_us=times_of(self.client).heartbeat_late_us)
        return times_of(self.client)

    @property
    def poll_spread_us(self) -> int:
        """By how many microseconds its polls differ."""
        spread_ms = self.poll_spread_ms
        return self.poll_ms * 500 if spread_ms is None else spread_ms * 1000

    @property
    def commits_every_ms(self) -> int:
        """How often it commits by itself where there are records; 0: it does not."""
        if self.auto_commit_ms is not None:
            return self.auto_commit_ms
        return 0 if self.sync_commit_ms else AUTO_COMMIT_MS

    @property
    def join_limit_ms(self) -> int:
        """How long it waits for the answer to a JoinGroup."""
        return join_limit_ms(self)

    @property
    def sync_limit_ms(self) -> int:
        """The same of a SyncGroup."""
        return sync_limit_ms(self)

    def by_its_clock(self, ms: int) -> int:
        """Return how many microseconds pass until its clock has counted so many milliseconds."""
        return ms * (1_000_000 + self.clock_ppm) // 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbering:
    """Further keys of an entry of `members`, which may stand for several members."""

    count: int | None = None
    """So many members, named `c0`, `c1`, ... where `name` is `c`; so are instance ids."""
    numbered_from: int = 0
    """The number of the first of them."""
    starts_every_ms: int = 0
    """Each of them starts so long after the one before it."""

    def members(self, one: MemberConfig) -> list[MemberConfig]:
        """Return the members that an entry stands for."""
        static, start_ms = one.instance_id, one.starts_at_ms
        return [
            replace(
                one,
                name=f"{one.name}{number}",
                instance_id=None if static is None else f"{static}{number}",
                starts_at_ms=None if start_ms is None else start_ms + self.starts_every_ms * turn,
            )
            for turn, number in enumerate(
                range(self.numbered_from, self.numbered_from + (self.count or 0))
            )
        ]


def _read_members(value: object, place: Place) -> tuple[MemberConfig, ...]:
    members: list[MemberConfig] = []
    for number, each in enumerate(as_list(value, place)):
        where = (*place, number)
        one, numbering = read_several((MemberConfig, Numbering), each, where)
        count = numbering.count
        if count is None and numbering != Numbering():
            words = "numbered_from and starts_every_ms need a count"
            raise DocumentError(ErrorCode.MISSING, words, where)
        if len(members) + (1 if count is None else count) > MEMBERS_MAX:
            words = f"more than {MEMBERS_MAX} members"
            raise DocumentError(
                ErrorCode.TOO_LARGE, words, where if count is None else (*where, "count")
            )
        members += [one] if count is None else numbering.members(one)
    return tuple(members)


MEMBERS = Kind(
    _read_members,
    lambda: schemas.array(schema_of(MemberConfig, Numbering)),
    (("[]", MemberConfig), ("[]", Numbering)),
)
"""Entries of a scenario's `members`; one with a `count` stands for so many."""


NOT_WITH_HANDLERS = (
    "assign",
    "client_model",
    "stops_without_answer",
    "forgets_generation",
)
"""Fields of clients of another kind than those whose applications have handlers."""


def require_fitting(member: MemberConfig, protocol: GroupProtocol, place: Place) -> None:
    """Raise `DocumentError` where settings of one member exclude each other. Cost: O(1)."""
    field_, words = _excluded(member, protocol)
    if words:
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, field_))


def _excluded(member: MemberConfig, protocol: GroupProtocol) -> tuple[str, str]:
    """Return the first field that does not fit the others, and why; twice nothing if all do."""
    words = _times_excluded(member.times)
    if words:
        return "timing", words
    if (member.poll_spread_ms or 0) > member.poll_ms:
        words = f"a poll of {member.poll_ms} ms is not {member.poll_spread_ms} ms shorter"
        return "poll_spread_ms", words
    if member.client_model is not None and member.poll_spread_ms is not None:
        return "poll_spread_ms", "polls of a member with a client_model are even"
    return _excluded_with_handlers(member, protocol) if member.runs_handlers else ("", "")


def _excluded_with_handlers(member: MemberConfig, protocol: GroupProtocol) -> tuple[str, str]:
    """Return the same of a member that runs handlers."""
    if protocol is not GroupProtocol.CLASSIC:
        words = f"sessions with handlers are of the classic protocol, not of {protocol.value}"
        return "runs_handlers", words
    for name in NOT_WITH_HANDLERS:
        if getattr(member, name):
            return name, f"a member that runs handlers has no {name}"
    if member.times.between_polls_us or member.times.heartbeats_go_on:
        return "timing", "a member that runs handlers has no times of clients that poll"
    return "", ""


def _times_excluded(times: Timing) -> str:
    """Return why times exclude each other, or nothing."""
    if times.wake_ms and not times.heartbeats_go_on:
        return "`wake_ms`: looks from time to time belong to `heartbeats_go_on`"
    if times.wake_late_us and not times.wake_ms:
        return "`wake_late_us`: only looks from time to time (`wake_ms`) are late"
    return ""


class End(StrEnum):
    """How the life of a short-lived member ends."""

    STOP = "stop"
    """It closes its consumer, and leaves the group."""
    CRASH = "crash"
    """Its process ends; the coordinator finds out by the session timeout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """Short-lived members of one kind."""

    member: MemberConfig
    """What each of them is; they are named `job.0`, `job.1`, ... after its name."""
    every_ms: Positive
    """The mean time from one arrival to the next."""
    lifetime_ms: int
    """The mean time from the start of a process to its end."""
    from_ms: int = 0
    """When they begin to come."""
    until_ms: int
    """When no more of them come; who is there then lives on for its time."""
    ends: End = End.STOP
    """How each of them ends."""
