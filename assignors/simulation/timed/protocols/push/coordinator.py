"""What the coordinator of the push protocol does with each request and timer, and its brokers.

The states of a partition at the coordinator:

    UNOWNED --moved--> INFORMING --awaited--> REMOVING --granted--> OWNED --moved--> INFORMING
                           |                                          ^
                           +------------------granted-----------------+

A change of plan leads back to INFORMING from everywhere. `NEXT` is the whole table; a pair that is
not in it is a fault of the simulator. Owners are computed with every change, from where each
partition is or goes, so that it moves once. With a movement budget, owned partitions wait for their
turn; those without an owner do not.

The coordinator informs all live brokers of the partitions that move. Each refuses the old owners'
fetches as soon as its message has arrived, and acknowledges; the slowest decides how long the
coordinator waits. A member keeps the right to commit until its notification, or until the
coordinator takes that right too: from a silent member, or from all if nobody waits for commits.

Timers: `("session", id)`, started again by every heartbeat; `("lease", id)` likewise; `("removal",
id)`, by which a member must have given up what it was asked for; `("turn",)`, the next move of the
budget; and of the brokers `("broker", broker, inquiry)`, `("acknowledged", inquiry)` and
`("fetch", id)`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple
from zlib import crc32

from assignors.assignor import Assignor
from assignors.model import Cluster, Group, Member
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Arrived,
    Cancel,
    CoordinatorEvent,
    Effect,
    Fired,
    Reply,
    Schedule,
)
from assignors.simulation.timed.protocols.kafka.state import Offsets
from assignors.simulation.timed.protocols.push.messages import (
    AwaitAssignment,
    Fetch,
    FetchResponse,
    Heartbeat,
    HeartbeatResponse,
    JoinGroup,
    JoinGroupResponse,
    LeaveGroup,
    LeaveGroupResponse,
    Partition,
    PartitionCommittedNotification,
    PartitionCommittedResponse,
    PushError,
)
from assignors.simulation.timed.scenario import PushConfig


class PartitionState(StrEnum):
    """Where a partition is on its way from one owner to the next."""

    UNOWNED = "unowned"
    """No member has it or shall have it."""
    INFORMING = "informing"
    """The brokers are informed of the next owner, and have not all acknowledged."""
    REMOVING = "removing"
    """The old owner is asked to give it up, and its notification is outstanding."""
    OWNED = "owned"
    """Its owner has been granted it."""


class PartitionEvent(StrEnum):
    """What happens to a partition."""

    MOVED = "moved"
    """Another owner is chosen, or none."""
    AWAITED = "awaited"
    """All brokers have acknowledged; the old owner has to commit first."""
    GRANTED = "granted"
    """All brokers have acknowledged, and nobody else has it: the owner may start."""
    ENDED = "ended"
    """Nobody has it any more, and nobody shall have it."""


IN_MOTION = (PartitionState.INFORMING, PartitionState.REMOVING)
NEXT: dict[tuple[PartitionState, PartitionEvent], PartitionState] = {
    (PartitionState.UNOWNED, PartitionEvent.MOVED): PartitionState.INFORMING,
    (PartitionState.INFORMING, PartitionEvent.MOVED): PartitionState.INFORMING,
    (PartitionState.REMOVING, PartitionEvent.MOVED): PartitionState.INFORMING,
    (PartitionState.OWNED, PartitionEvent.MOVED): PartitionState.INFORMING,
    (PartitionState.INFORMING, PartitionEvent.AWAITED): PartitionState.REMOVING,
    (PartitionState.INFORMING, PartitionEvent.GRANTED): PartitionState.OWNED,
    (PartitionState.INFORMING, PartitionEvent.ENDED): PartitionState.UNOWNED,
    (PartitionState.REMOVING, PartitionEvent.GRANTED): PartitionState.OWNED,
    (PartitionState.REMOVING, PartitionEvent.ENDED): PartitionState.UNOWNED,
    # An owner was refused a fetch and gave the partition up; meanwhile it became its owner again.
    (PartitionState.OWNED, PartitionEvent.GRANTED): PartitionState.OWNED,
}
"""(state, what happens) -> the next state: all that can happen to a partition."""


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


def leader(partition: Partition, brokers: int) -> int:
    """Return the broker that leads a partition: those of a topic are spread over all."""
    topic, number = partition
    return (crc32(topic.encode("utf-8", "surrogatepass")) + number) % brokers


def inform(state: PushCoordinator, at_us: int, inquiry: int) -> None:
    """Send the moves of an inquiry to all brokers. Cost: O(brokers + moves)."""
    brokers = state.config.brokers
    state.reaches = state.reaches or [0] * brokers
    leaders = {leader(each, brokers) for each, _, _ in state.inquiries[inquiry].moves}
    slowest = at_us
    for broker in range(brokers):
        there = at_us + state.draw(f"broker {broker}", "network", 0)
        state.reaches[broker] = max(there, state.reaches[broker])
        back = state.reaches[broker] + state.draw(f"broker {broker}", "network", 0)
        slowest = max(slowest, back)
        if broker in leaders:
            after = state.reaches[broker] - at_us
            state.out.append(Schedule(("broker", str(broker), str(inquiry)), after, inquiry))
    state.out.append(Schedule(("acknowledged", str(inquiry)), slowest - at_us, inquiry))


def fence(state: PushCoordinator, broker: int, inquiry: int) -> None:
    """Let a broker refuse the old owners of an inquiry from now on."""
    brokers = state.config.brokers
    closed: dict[str, None] = {}
    for partition, reader, is_closed in state.inquiries[inquiry].moves:
        place = state.places[partition]
        is_stale = state.config.has_epochs and place.inquiry != inquiry
        if reader is None or reader == place.owner or is_stale:
            continue
        if leader(partition, brokers) != broker:
            continue
        if is_closed:
            state.close(reader, partition)
            closed[reader] = None
        _refuse(state, reader, partition)
    state.out += [RightsChanged(reader, "fenced") for reader in closed]


def refuse(state: PushCoordinator, member_id: str) -> None:
    """Answer a member's fetch: it is refused for what was fenced since the last answer.

    But what the member has given up meanwhile it does not ask for.
    """
    member = state.members.get(member_id)
    if member is None or member.fetch is None:
        return
    has = member.assigned.keys() | member.removing.keys()
    refused = {each: grant for each, grant in member.refused.items() if each in has}
    member.refused = {}
    if refused:
        state.out.append(Reply(member.fetch, FetchResponse(refused)))
        member.fetch = None


def refuse_later(state: PushCoordinator, member_id: str) -> None:
    """Let a member's next fetch be refused: it comes within `fetch_ms`."""
    wait = state.draw(member_id, "fetch", state.config.fetch_ms * MILLISECOND)
    state.out.append(Schedule(("fetch", member_id), wait))


def _refuse(state: PushCoordinator, reader: str, partition: Partition) -> None:
    member = state.members.get(reader)
    if member is None or partition not in member.assigned:
        return
    if not member.refused and member.fetch is not None:
        refuse_later(state, reader)
    member.refused[partition] = member.assigned[partition]


SECOND = 1_000_000


def rebalance(
    state: PushCoordinator, at_us: int, lost: Collection[Partition] = frozenset()
) -> None:
    """Compute new owners, and begin or queue the moves; those of `lost` begin in any case.

    Cost: O(partitions + members), plus the assignor.
    """
    state.epoch += 1
    state.must_refresh = False
    owners = _owners(state)
    for partition in sorted(owners.keys() - state.places.keys()):
        state.places[partition] = Place()
    state.waiting = deque()
    now: list[tuple[Partition, str | None]] = []
    for partition, place in state.places.items():
        owner = owners.get(partition)
        if owner == place.owner and partition not in lost:
            continue
        if owner is not None and partition not in lost and _may_wait(state, partition, place):
            state.waiting.append((partition, owner))
        else:
            now.append((partition, owner))
    _begin(state, at_us, now)
    if state.waiting:
        _schedule_turn(state)


def take_turn(state: PushCoordinator, at_us: int) -> None:
    """Begin the next move that waits, unless as many as the budget allows are not over yet."""
    state.has_turn = False
    if len(state.paced) < state.config.moves_per_second and state.waiting:
        partition, owner = state.waiting.popleft()
        state.paced.add(partition)
        _begin(state, at_us, [(partition, owner)])
    if state.waiting:
        _schedule_turn(state)


def acknowledged(state: PushCoordinator, number: int) -> None:
    """All brokers have acknowledged: grant what is free, ask the old owners for the rest."""
    config = state.config
    for partition, reader, _ in state.inquiries.pop(number).moves:
        place = state.places[partition]
        if reader is not None and reader != place.owner and is_reader(state, reader, partition):
            state.ask(reader, partition)
        if place.inquiry != number:
            continue  # the plan has changed since: a later inquiry is on its way
        must_wait = config.waits_for_commit or place.holder in state.leased
        if place.holder in {None, place.owner} or not must_wait:
            state.grant(partition, place)
        else:
            state.advance(place, PartitionEvent.AWAITED)


def is_reader(state: PushCoordinator, member_id: str, partition: Partition) -> bool:
    """Return whether a member has a partition as far as the coordinator knows."""
    return state.places[partition].holder == member_id or not state.config.has_epochs


def released(state: PushCoordinator, partition: Partition) -> None:
    """Let the next owner start: the holder has committed, or has lost its right."""
    place = state.places[partition]
    place.holder = None
    if place.state is not PartitionState.INFORMING:
        state.grant(partition, place)


def _owners(state: PushCoordinator) -> dict[Partition, str]:
    """Return the owner that each partition shall have."""
    owned: dict[str, dict[str, list[int]]] = {member_id: {} for member_id in state.members}
    for (topic, number), place in state.places.items():
        if place.owner in owned:
            owned[place.owner].setdefault(topic, []).append(number)
    if not state.members:
        return {}
    answer = state.assignor.assign(
        Group(
            cluster=state.cluster,
            members=tuple(
                Member(
                    member_id=each.member_id,
                    topics=each.topics,
                    owned={
                        topic: tuple(sorted(numbers))
                        for topic, numbers in owned[each.member_id].items()
                    },
                    rack_id=each.rack_id,
                )
                for each in state.members.values()
            ),
        )
    )
    return {
        (topic, number): member_id
        for member_id, given in answer.assignment.items()
        for topic, numbers in given.items()
        for number in numbers
    }


def _may_wait(state: PushCoordinator, partition: Partition, place: Place) -> bool:
    """Return whether a partition is consumed by a member that may keep it for a while."""
    if not state.config.moves_per_second or place.state is not PartitionState.OWNED:
        return False
    owner = state.members.get(place.owner or "")
    return owner is not None and partition[0] in owner.topics


def _schedule_turn(state: PushCoordinator) -> None:
    if state.has_turn:
        return
    state.has_turn = True
    state.out.append(Schedule(("turn",), SECOND // state.config.moves_per_second))


def _begin(
    state: PushCoordinator, at_us: int, moves: Iterable[tuple[Partition, str | None]]
) -> None:
    """Bring partitions on their way, and inform the brokers of all of them at once."""
    state.inquiry_count += 1
    number = state.inquiry_count
    informed: list[tuple[Partition, str | None, bool]] = []
    for partition, owner in moves:
        place = state.places[partition]
        is_lost = place.holder is not None and place.holder not in state.members
        reader = place.holder
        if not state.config.has_epochs and not is_lost and place.owner in state.members:
            # Without grant numbers the owner of the last plan counts as the holder.
            reader = place.holder = place.owner
        place.owner, place.inquiry = owner, number
        state.advance(place, PartitionEvent.MOVED)
        if is_lost and reader not in state.leased:
            place.holder = None
        informed.append((partition, reader, is_lost or not state.config.waits_for_commit))
    if not informed:
        return
    state.inquiries[number] = Inquiry(tuple(informed))
    if state.config.fences_fetches:
        inform(state, at_us, number)
    else:
        acknowledged(state, number)


def step(state: PushCoordinator, at_us: int, event: CoordinatorEvent) -> list[PushEffect]:
    """Return what the coordinator does about an event at `at_us`; `state` is changed in place.

    Cost: O(1) for a heartbeat, O(partitions) and the assignor for a change of the group.
    """
    state.out = []
    match event:
        case Arrived(number, JoinGroup() as request):
            _join(state, at_us, number, request)
        case Arrived(number, Heartbeat() as request):
            _heartbeat(state, at_us, number, request)
        case Arrived(number, AwaitAssignment() as request):
            _await(state, number, request)
        case Arrived(number, PartitionCommittedNotification() as request):
            _committed(state, number, request)
        case Arrived(number, LeaveGroup(member_id)):
            _leave(state, at_us, number, member_id)
        case Arrived(number, Fetch(member_id)):
            _fetch(state, number, member_id)
        case Fired((kind, *rest), data):
            _TIMERS[kind](state, at_us, rest[0] if rest else "", data)
        case _:
            raise AssertionError(event)
    if state.news:
        state.send_news()
    return state.out


def topics_changed(state: PushCoordinator, cluster: Cluster) -> None:
    """Take over new topics or partition counts; the next heartbeat acts on them."""
    state.cluster = cluster
    state.must_refresh = True


def _join(state: PushCoordinator, at_us: int, number: int, request: JoinGroup) -> None:
    member = state.members.get(request.member_id)
    if member is not None:
        member.topics = request.topics
    elif len(state.members) >= state.max_size:
        state.out.append(Reply(number, JoinGroupResponse(PushError.GROUP_MAX_SIZE_REACHED)))
        return
    else:
        member = PushMember(
            member_id=state.new_id(request.client_id),
            topics=request.topics,
            rack_id=request.rack_id,
            session_us=request.session_timeout_ms * MILLISECOND,
            rebalance_us=request.rebalance_timeout_ms * MILLISECOND,
        )
        state.members[member.member_id] = member
    state.out.append(Reply(number, JoinGroupResponse(PushError.NONE, member.member_id)))
    _is_alive(state, member)
    rebalance(state, at_us)


def _heartbeat(state: PushCoordinator, at_us: int, number: int, request: Heartbeat) -> None:
    """Answer with what has changed, and with what is still to be given up."""
    member = state.members.get(request.member_id)
    if member is None:
        state.out.append(Reply(number, HeartbeatResponse(PushError.UNKNOWN_MEMBER_ID)))
        return
    _is_alive(state, member)
    if state.must_refresh:
        rebalance(state, at_us)
        state.send_news()
    # A notification may have been lost, or the answer with the news.
    is_behind = request.version != member.version and member.parked is None
    answer = news(state, member) if is_behind or member.removing else HeartbeatResponse()
    state.out.append(Reply(number, answer))


def _await(state: PushCoordinator, number: int, request: AwaitAssignment) -> None:
    """Keep a request until there is something to answer."""
    member = state.members.get(request.member_id)
    if member is None:
        state.out.append(Reply(number, HeartbeatResponse(PushError.UNKNOWN_MEMBER_ID)))
    elif request.version != member.version:
        state.out.append(Reply(number, news(state, member)))
    else:
        if member.parked is not None:
            state.out.append(Reply(member.parked, HeartbeatResponse()))
        member.parked = number


def _is_alive(state: PushCoordinator, member: PushMember) -> None:
    """Start the member's session and its lease anew."""
    state.out.append(Schedule(("session", member.member_id), member.session_us))
    if state.config.lease_ms:
        after = state.config.lease_ms * MILLISECOND
        state.out.append(Schedule(("lease", member.member_id), after))
        if member.member_id in state.expired:
            state.expired.discard(member.member_id)
            state.out.append(RightsChanged(member.member_id, "lease renewed"))


def _committed(
    state: PushCoordinator, number: int, request: PartitionCommittedNotification
) -> None:
    """Let the next owners start; a notification of another grant than the holder's is ignored."""
    state.out.append(Reply(number, PartitionCommittedResponse()))
    member = state.members.get(request.member_id)
    if member is None:
        return
    for partition, grant in request.partitions.items():
        if member.removing.get(partition) == grant:
            del member.removing[partition]
        if member.assigned.get(partition) == grant:
            del member.assigned[partition]
        place = state.places[partition]
        if not state.config.has_epochs:
            if place.state in {PartitionState.INFORMING, PartitionState.REMOVING}:
                released(state, partition)
        elif is_reader(state, request.member_id, partition) and place.grant == grant:
            released(state, partition)
    if not member.removing:
        state.out.append(Cancel(("removal", request.member_id)))


def _leave(state: PushCoordinator, at_us: int, number: int, member_id: str) -> None:
    state.out.append(Reply(number, LeaveGroupResponse()))
    member = state.members.get(member_id)
    if member is None:
        return
    lost = _remove(state, member)
    for partition in lost:
        place = state.places[partition]
        place.holder = None if place.holder == member_id else place.holder
    state.out.append(Cancel(("lease", member_id)))
    state.leased.discard(member_id)
    rebalance(state, at_us, lost)


def _fetch(state: PushCoordinator, number: int, member_id: str) -> None:
    """Keep the fetch until a partition is refused."""
    member = state.members.get(member_id)
    if member is None:
        state.out.append(Reply(number, FetchResponse({})))
        return
    if member.fetch is not None:
        state.out.append(Reply(member.fetch, FetchResponse({})))
    member.fetch = number
    if member.refused:
        refuse_later(state, member_id)


def _evict(state: PushCoordinator, at_us: int, member_id: str, _data: int) -> None:
    """Remove a member that is silent or too slow; brokers fence it, its offsets stay."""
    member = state.members.get(member_id)
    if member is None:
        return
    config = state.config
    if config.lease_ms and not config.fences_fetches and member_id not in state.expired:
        state.leased.add(member_id)
    rebalance(state, at_us, _remove(state, member))


def _remove(state: PushCoordinator, member: PushMember) -> set[Partition]:
    """Remove a member from the group; return what it had."""
    del state.members[member.member_id]
    state.removed.append(member.member_id)
    state.out += [Cancel((kind, member.member_id)) for kind in ("session", "removal", "fetch")]
    if member.parked is not None:
        gone = HeartbeatResponse(PushError.UNKNOWN_MEMBER_ID)
        state.out.append(Reply(member.parked, gone))
    if member.fetch is not None:
        state.out.append(Reply(member.fetch, FetchResponse({})))
    return {
        partition
        for partition, place in state.places.items()
        if member.member_id in {place.holder, place.owner}
    }


def _lease_over(state: PushCoordinator, _at_us: int, member_id: str, _data: int) -> None:
    """Let a member read nothing until its next heartbeat: its lease is over.

    What it was asked to give up goes to the next owner, with the offset as it is.
    """
    state.expired.add(member_id)
    state.leased.discard(member_id)
    for partition, place in state.places.items():
        if place.holder == member_id and place.state is PartitionState.REMOVING:
            state.close(member_id, partition)
            member = state.members.get(member_id)
            if member is not None:
                member.removing.pop(partition, None)
            released(state, partition)
    state.out.append(RightsChanged(member_id, "lease over"))


def _fence(state: PushCoordinator, _at_us: int, broker: str, inquiry: int) -> None:
    fence(state, int(broker), inquiry)


def _acknowledged(state: PushCoordinator, _at_us: int, _key: str, inquiry: int) -> None:
    acknowledged(state, inquiry)


def _refuse_fetch(state: PushCoordinator, _at_us: int, member_id: str, _data: int) -> None:
    refuse(state, member_id)


def _turn(state: PushCoordinator, at_us: int, _key: str, _data: int) -> None:
    take_turn(state, at_us)


_TIMERS: dict[str, Callable[[PushCoordinator, int, str, int], None]] = {
    "session": _evict,
    "removal": _evict,
    "lease": _lease_over,
    "broker": _fence,
    "acknowledged": _acknowledged,
    "fetch": _refuse_fetch,
    "turn": _turn,
}
