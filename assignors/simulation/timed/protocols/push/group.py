"""A group of the push protocol as its coordinator knows it: members and partitions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.assignor import Assignor
from assignors.model import Cluster
from assignors.simulation.timed.protocols.effects import Effect, Reply, Schedule
from assignors.simulation.timed.protocols.kafka.state import Offsets
from assignors.simulation.timed.protocols.push.messages import (
    HeartbeatResponse,
    Partition,
    PushError,
)
from assignors.simulation.timed.protocols.push.states import (
    IN_MOTION,
    NEXT,
    PartitionEvent,
    PartitionState,
)
from assignors.simulation.timed.scenario import PushConfig


class RightsChanged(NamedTuple):
    """An effect: the brokers refuse a member more than before, or less."""

    member_id: str
    reason: str


PushEffect = Effect | RightsChanged


@dataclass(slots=True, kw_only=True)
class PushMember:
    """A member of the group."""

    member_id: str
    topics: tuple[str, ...]
    rack_id: str | None
    session_us: int
    rebalance_us: int
    version: int = 1
    """Of `assigned` and `removing`: grows with every change."""
    assigned: dict[Partition, int] = field(default_factory=dict)
    """What it may consume, with the number of each grant."""
    removing: dict[Partition, int] = field(default_factory=dict)
    """What it has been asked to give up, until its notification arrives."""
    parked: int | None = None
    """The request that waits for news, by number."""
    fetch: int | None = None
    """The fetch that has not been refused yet, by number."""
    refused: dict[Partition, int] = field(default_factory=dict)
    """What its next fetch will be refused for."""


@dataclass(slots=True)
class Place:
    """Where a partition is."""

    state: PartitionState = PartitionState.UNOWNED
    holder: str | None = None
    """The member that may still consume it or commit its offset, as the coordinator knows it."""
    grant: int = 0
    """The number of the holder's grant."""
    owner: str | None = None
    """The member that has it or shall have it."""
    inquiry: int = 0
    """The last time that the brokers were informed of it."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """Partitions of which the brokers are informed at once, each with its old owner."""

    moves: tuple[tuple[Partition, str | None, bool], ...]
    """Partition, old owner, whether it also loses the right to commit."""


@dataclass(slots=True, kw_only=True)
class PushCoordinator:
    """The state of the coordinator's side, and of the brokers that it informs."""

    assignor: Assignor
    cluster: Cluster
    config: PushConfig
    new_id: Callable[[str], str]
    draw: Callable[[str, str, int], int]
    """(entity, `"network"` or `"fetch"`, limit) -> a random time in microseconds."""
    max_size: int = 2**31 - 1
    epoch: int = 0
    """Grows with every change of members, subscriptions or topics."""
    must_refresh: bool = False
    """Topics have changed: the next heartbeat moves their partitions."""
    members: dict[str, PushMember] = field(default_factory=dict)
    places: dict[Partition, Place] = field(default_factory=dict)
    waiting: deque[tuple[Partition, str]] = field(default_factory=deque)
    """Moves that wait for their turn, with their next owners."""
    paced: set[Partition] = field(default_factory=set)
    """Moves that have had their turn and are not over."""
    has_turn: bool = False
    """Whether the timer of the next turn runs."""
    in_motion: int = 0
    """Partitions that are on their way."""
    removed: list[str] = field(default_factory=list)
    """Members removed since `taken_removed` was called last."""
    changes: int = 0
    """How often a member has had news."""
    grants: int = 0
    inquiries: dict[int, Inquiry] = field(default_factory=dict)
    inquiry_count: int = 0
    reaches: list[int] = field(default_factory=list)
    """Broker -> when the last message to it arrives."""
    closed: dict[str, set[Partition]] = field(default_factory=dict)
    """Member id -> partitions that it may neither fetch nor commit any more."""
    expired: set[str] = field(default_factory=set)
    """Members whose lease is over."""
    leased: set[str] = field(default_factory=set)
    """Members that are no longer in the group, and whose lease runs on."""
    news: dict[str, None] = field(default_factory=dict)
    """Members for which this step has changed something."""
    out: list[PushEffect] = field(default_factory=list)
    offsets: Offsets = field(default_factory=Offsets)

    @property
    def is_at_rest(self) -> bool:
        """Whether no partition moves or waits for it. Cost: O(1)."""
        return not self.in_motion and not self.waiting and not self.must_refresh

    def taken_removed(self) -> list[str]:
        """Return the members removed since the last call. Cost: O(1)."""
        removed, self.removed = self.removed, []
        return removed

    def advance(self, place: Place, event: PartitionEvent) -> None:
        """Bring a partition to its next state."""
        before, place.state = place.state, NEXT[place.state, event]
        self.in_motion += (place.state in IN_MOTION) - (before in IN_MOTION)

    def close(self, member_id: str, partition: Partition) -> None:
        """Take a member's right to a partition, that to commit too."""
        self.closed.setdefault(member_id, set()).add(partition)

    def grant(self, partition: Partition, place: Place) -> None:
        """Let the next owner start; the partition ends where there is none."""
        self.paced.discard(partition)
        place.holder = place.owner
        if place.owner is None:
            self.advance(place, PartitionEvent.ENDED)
            return
        self.advance(place, PartitionEvent.GRANTED)
        self.grants += 1
        place.grant = self.grants if self.config.has_epochs else 0
        member = self.members[place.owner]
        member.assigned[partition] = place.grant
        member.removing.pop(partition, None)
        closed = self.closed.get(place.owner)
        if closed and partition in closed:  # it may not have heard of the plan between
            closed.discard(partition)
            self.out.append(RightsChanged(place.owner, "granted again"))
        self.news[place.owner] = None

    def ask(self, member_id: str, partition: Partition) -> None:
        """Ask a member to give a partition up, and bound the time that it may take."""
        member = self.members.get(member_id)
        if member is None:
            return
        if not member.removing:
            self.out.append(Schedule(("removal", member_id), member.rebalance_us))
        asked_before = member.removing.get(partition, 0)
        member.removing[partition] = member.assigned.pop(partition, asked_before)
        self.news[member_id] = None

    def send_news(self) -> None:
        """Answer the parked requests of members for which something has changed."""
        for member_id in self.news:
            member = self.members.get(member_id)
            if member is None:
                continue
            member.version += 1
            self.changes += member.parked is None
            if member.parked is not None:
                self.out.append(Reply(member.parked, news(self, member)))
                member.parked = None
        self.news = {}


def news(state: PushCoordinator, member: PushMember) -> HeartbeatResponse:
    """Return all that a member may consume, and all that it has to give up."""
    return HeartbeatResponse(
        PushError.NONE, member.version, state.epoch, dict(member.assigned), dict(member.removing)
    )
