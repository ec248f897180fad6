"""What the classic and the consumer protocol know of heartbeats that say and change nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from assignors.simulation.timed.protocols.classic.coordinator_state import ClassicCoordinator
from assignors.simulation.timed.protocols.classic.group import ClassicGroup
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.protocols.classic.messages import ErrorCode, HeartbeatResponse
from assignors.simulation.timed.protocols.classic.states import GroupState
from assignors.simulation.timed.protocols.consumer.coordinator_state import ConsumerCoordinator
from assignors.simulation.timed.protocols.consumer.group import STABLE, ConsumerGroup
from assignors.simulation.timed.protocols.consumer.member_state import ConsumerClient
from assignors.simulation.timed.protocols.consumer.messages import (
    ConsumerError,
    ConsumerHeartbeatResponse,
)
from assignors.simulation.timed.protocols.consumer.step import awaited_from_us
from assignors.simulation.timed.protocols.effects import MILLISECOND, CoordinatorEvent, Response
from assignors.simulation.timed.scenario import BrokerConfig
from wire import TopicPartitions

Int64 = NDArray[np.int64]
MANY = 256
"""Of fewer members at rest all are read each time."""


class Rest(NamedTuple):
    """A member that rests. Times are microseconds since the run began."""

    due: int
    """When its first heartbeat is due that is not queued."""
    every: int
    session_over: int
    """When its session would run out without any further heartbeat."""
    session_timeout: int
    member_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resting:
    """Members at rest, int64[N] each: what `Rest` has, and their connections' last messages."""

    numbers: Int64
    due: Int64
    every: Int64
    session_timeout: Int64
    arrived: Int64
    """When the last request before arrived."""
    returned: Int64
    """When the last answer came."""

    @classmethod
    def of(
        cls, resting: Mapping[int, Rest], last_messages: Callable[[int], tuple[int, int]]
    ) -> Resting:
        """Return these members. Cost: O(members).

        `last_messages`: a member's number -> when its last request arrives, and its last answer.
        """
        rows = [
            (number, each.due, each.every, each.session_timeout, *last_messages(number))
            for number, each in resting.items()
        ]
        columns = np.array(rows, dtype=np.int64).reshape(-1, 6).T
        return cls(**dict(zip(cls.__slots__, columns, strict=True)))

    def chosen(self, rows: Int64) -> Resting:
        """Return some of them. Cost: O(those)."""
        return Resting(**{name: getattr(self, name)[rows] for name in self.__slots__})

    def and_also(self, others: Resting) -> Resting:
        """Return these and others. Cost: O(members)."""
        columns = {
            name: np.concatenate([getattr(self, name), getattr(others, name)])
            for name in self.__slots__
        }
        return Resting(**columns)


@dataclass(slots=True)
class LatestResting:
    """The members at rest as arrays: of many only what has changed is read again."""

    known: Resting | None = None
    changed: set[int] = field(default_factory=set)
    """Who came to rest since they were read, or was woken."""

    def read(
        self, resting: Mapping[int, Rest], last_messages: Callable[[int], tuple[int, int]]
    ) -> Resting:
        """Return the members at rest, as `Resting.of`, in any order. Cost: O(those that changed).

        With few members or in arrays O(all).
        """
        known, changed = self.known, self.changed
        if known is None or len(resting) < MANY:
            known = Resting.of(resting, last_messages)
        elif changed:
            stays = ~np.isin(known.numbers, np.fromiter(changed, np.int64, len(changed)))
            fresh = {each: resting[each] for each in sorted(changed) if each in resting}
            others = Resting.of(fresh, last_messages)
            known = known.chosen(np.flatnonzero(stays)).and_also(others)
        self.known, self.changed = known, set()
        return known


class News(NamedTuple):
    """Whose heartbeats are answered with something new from now on."""

    member_ids: Collection[str] | None = None
    """`None`: everybody's."""
    epoch: int | None = None
    """To which the others move, with nothing else new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainHeartbeats:
    """What a protocol knows of heartbeats that say nothing and are answered with nothing new."""

    request: str
    """The name of their type."""
    may_rest: Callable[[int], bool]
    """Whether the next heartbeats of a member, by its number, will be so until there are `news`."""
    news: Callable[[], News | None]
    """What members at rest have to learn of since this was last asked for."""
    timing: Callable[[int], tuple[str, int, int]]
    """A member's id, its heartbeat interval and its session timeout in microseconds."""
    answer: Callable[[int, int], Response]
    """A member's number and its epoch or generation -> what it is answered while it rests."""
    awaited_from: Callable[[], int | None] | None = None
    """The time in microseconds from which on the coordinator acts on the first heartbeat of
    anybody; 0: at once; `None`: it waits for none, or never does."""
    standing: Callable[[int], int] | None = None
    """How many requests of a member the coordinator keeps until it has news; `None`: never any."""
    promote: Callable[[int, int, int, int], None] | None = None
    """For a member that has moved while it rested: its number, its epoch, the one before, and the
    one that it believes to be in."""
    counts_ahead: Callable[[Callable[[int], int]], None] | None = None
    """Takes what counts the members that have moved to an epoch and still rest."""


class Together(Protocol):
    """Members at rest that go through a round together (`stages`)."""

    def begin(self) -> Collection[int]:
        """Let members begin a round that do so together; return who does."""
        ...

    def wake(self, number: int) -> bool:
        """Let a member go on by events, as something happens to it; return whether it does now."""
        ...

    def before(self, event: CoordinatorEvent) -> None:
        """Prepare for an event of the coordinator."""
        ...

    def after(self) -> None:
        """Go on after an event of the coordinator."""
        ...

    def check(self) -> None:
        """Look at what an event of a member has changed."""
        ...

    def before_consuming(self, name: str, owned: TopicPartitions) -> None:
        """Prepare for a member that consumes other partitions."""
        ...

    def touch(self, number: int) -> None:
        """Let a member go on by events if it is not at rest."""
        ...

    def settle(self) -> bool:
        """Let members go on by events whose assignment is still on its way; whether any is."""
        ...

    def release(self) -> bool:
        """Let all members go on by events; return whether some had not."""
        ...

    def due(self) -> None:
        """Do what is due."""
        ...


class Underway(Protocol):
    """Members of a consumer group on the way to their target, with few events each (`stages`)."""

    def happen(self, number: int) -> None:
        """Let happen what is next for a member."""
        ...

    def may_wait(self, number: int) -> bool:
        """Return whether nothing happens to a member until its next heartbeat is answered."""
        ...

    def wait(self, number: int, rest: Rest) -> None:
        """Let a member wait of which nothing is in the queue."""
        ...

    def arrive(self, event: CoordinatorEvent, leaves: int) -> bool:
        """Let a member join whose request arrives, if that is all that comes of it."""
        ...

    def join(self, token: int, replicated: int) -> bool:
        """Let a member that joins go its way, if its answer alone waits for an append."""
        ...

    def expect(self, number: int) -> bool:
        """Let the next heartbeat of a member at rest be an event; return whether it is."""
        ...

    def catch_up(self) -> None:
        """Let all members know what has happened to them until now."""
        ...

    def release(self, number: int) -> None:
        """Let a member go on by events, if it is on its way."""
        ...

    def take_back(self, number: int) -> None:
        """Let a member at rest not know of an answer that is still on its way."""
        ...

    def close(self, at: int) -> None:
        """Count heartbeats up to the end of a run."""
        ...


def news_by(changes: Callable[[], int]) -> Callable[[], News | None]:
    """Return what has news for everybody whenever `changes` gives another number."""
    seen = 0

    def news() -> News | None:
        nonlocal seen
        count = changes()
        if count == seen:
            return None
        seen = count
        return News()

    return news


def classic_plain(
    coordinator: ClassicCoordinator, members: Sequence[ClassicMember]
) -> PlainHeartbeats:
    """Return what the classic protocol knows: a rebalance concerns everybody."""
    return PlainHeartbeats(
        request="Heartbeat",
        may_rest=lambda number: _classic_may_rest(members[number], coordinator.group),
        news=news_by(lambda: coordinator.group.changes),
        timing=lambda number: (
            members[number].member_id,
            members[number].config.by_its_clock(members[number].config.heartbeat_interval_ms),
            members[number].config.session_timeout_ms * MILLISECOND,
        ),
        answer=lambda *_: HeartbeatResponse(ErrorCode.NONE),
    )


def _classic_may_rest(member: ClassicMember, group: ClassicGroup) -> bool:
    """Return whether the heartbeats of a member are answered with nothing new."""
    return (
        member.is_at_rest
        and not member.config.wake_ms
        and group.state is not GroupState.PREPARING_REBALANCE
        and member.generation == group.generation
        and group.refusal(member.member_id, member.config.instance_id) is ErrorCode.NONE
    )


def consumer_plain(
    coordinator: ConsumerCoordinator, members: Sequence[ConsumerClient], broker: BrokerConfig
) -> PlainHeartbeats:
    """Return what the protocol of KIP-848 knows: a target concerns whom it gives something else."""
    return PlainHeartbeats(
        request="ConsumerHeartbeat",
        may_rest=lambda number: _consumer_may_rest(members[number], coordinator.group),
        news=lambda: _consumer_news(coordinator),
        awaited_from=lambda: awaited_from_us(coordinator),
        timing=lambda number: (
            members[number].member_id,
            members[number].config.by_its_clock(broker.consumer_heartbeat_interval_ms),
            broker.consumer_session_timeout_ms * MILLISECOND,
        ),
        answer=lambda number, epoch: ConsumerHeartbeatResponse(
            ConsumerError.NONE, members[number].member_id, epoch
        ),
        promote=lambda number, *epochs: _promote(members[number], coordinator.group, *epochs),
        counts_ahead=lambda count: setattr(coordinator, "ahead", count),
    )


def _consumer_news(coordinator: ConsumerCoordinator) -> News | None:
    """Return what has changed since this was last asked for."""
    member_ids, epoch = coordinator.news, coordinator.news_epoch
    if not member_ids and epoch is None:
        return None
    coordinator.news, coordinator.news_epoch = set(), None
    return News(member_ids, epoch)


def _promote(
    client: ConsumerClient, group: ConsumerGroup, epoch: int, previous: int, believed: int
) -> None:
    """Bring both sides of a member to the epoch to which it has moved at rest."""
    client.epoch = believed
    member = group.members.get(client.member_id)
    if member is not None:  # else it has just been removed
        at = (member.state, member.assigned, member.revoking)
        group.move(member, member.brought_to(epoch, previous, *at))


def _consumer_may_rest(client: ConsumerClient, group: ConsumerGroup) -> bool:
    """Return whether a member has nothing to say, and its heartbeats are answered so."""
    if not client.epoch == group.target_epoch == group.epoch:
        return False
    member = group.members.get(client.member_id)
    return (
        client.is_at_rest
        and not client.is_busy
        and member is not None
        and member.state is STABLE
        and not member.pattern
        and client.epoch == member.epoch
        and not group.is_refresh_due
    )
