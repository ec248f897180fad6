"""What the coordinator of the push protocol does with each request and timer.

Timers: `("session", id)`, started anew by every heartbeat; `("lease", id)` likewise; `("removal",
id)`, by which a member must have given up what it was asked for; `("turn",)`, the next move of the
budget; and of the brokers `("broker", broker, inquiry)`, `("acknowledged", inquiry)` and
`("fetch", id)`.
"""

from __future__ import annotations

from collections.abc import Callable

from assignors.model import Cluster
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Arrived,
    Cancel,
    CoordinatorEvent,
    Fired,
    Reply,
    Schedule,
)
from assignors.simulation.timed.protocols.push.fetch_fencing import fence, refuse, refuse_later
from assignors.simulation.timed.protocols.push.group import (
    PushCoordinator,
    PushEffect,
    PushMember,
    RightsChanged,
    news,
)
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
from assignors.simulation.timed.protocols.push.moves import (
    acknowledged,
    is_reader,
    rebalance,
    released,
    take_turn,
)
from assignors.simulation.timed.protocols.push.states import PartitionState


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


# Requests


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


# Timers


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


def _refuse(state: PushCoordinator, _at_us: int, member_id: str, _data: int) -> None:
    refuse(state, member_id)


def _turn(state: PushCoordinator, at_us: int, _key: str, _data: int) -> None:
    take_turn(state, at_us)


_TIMERS: dict[str, Callable[[PushCoordinator, int, str, int], None]] = {
    "session": _evict,
    "removal": _evict,
    "lease": _lease_over,
    "broker": _fence,
    "acknowledged": _acknowledged,
    "fetch": _refuse,
    "turn": _turn,
}
