"""What the coordinator of a consumer group does with each heartbeat and timer.

A heartbeat does all there is: it joins or leaves, reports what the member owns, and its response
brings the next step towards the target. A change makes the group epoch grow; the target assignment
is computed anew by the first heartbeat that finds it older than the group, but not more often than
the assignment interval allows (KIP-1263).

A request works out its records first and changes nothing; then they are replayed. So one that is
refused leaves the group as it was.

Timers: `("session", member_id)`, which every heartbeat starts anew; `("rebalance", member_id)`, by
which the member must have given up what it has to; `("lookup", "")`, the end of a lookup of
patterns; `("offload", "")`, that of a target's computation. For members of the classic protocol
`("join", member_id)` and `("sync", member_id)`.

Source: `GroupMetadataManager.consumerGroupHeartbeat` of Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Mapping

from assignors.model import Cluster
from assignors.simulation.timed.protocols.consumer.assignment.offload import (
    OFFLOAD_KEY,
    computed,
)
from assignors.simulation.timed.protocols.consumer.assignment.patterns import (
    LOOKUP_KEY,
    PatternChange,
    change_pattern,
    looked_up,
)
from assignors.simulation.timed.protocols.consumer.assignment.rounds import (
    Update,
    apply,
    bring_on,
    replacement,
    require_room,
    require_static,
    write_member,
)
from assignors.simulation.timed.protocols.consumer.coordinator_state import (
    Changes,
    ConsumerCoordinator,
    Refused,
    Work,
)
from assignors.simulation.timed.protocols.consumer.group import (
    ConsumerGroup,
    ConsumerMember,
    in_java_order,
    partitions_of,
)
from assignors.simulation.timed.protocols.consumer.leaving import fence, leave
from assignors.simulation.timed.protocols.consumer.messages import (
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    ConsumerError,
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
)
from assignors.simulation.timed.protocols.effects import MILLISECOND
from wire import TopicPartitions

NONE = ConsumerError.NONE
LEAVES = frozenset({LEAVE_EPOCH, STATIC_LEAVE_EPOCH})


def heartbeat(state: ConsumerCoordinator, now_ms: int, request: ConsumerHeartbeat) -> Changes:
    """Return what a heartbeat leads to; `state` is changed in place unless it is refused.

    Cost: O(partitions of the member), plus the assignor where a target is computed.
    """
    if request.epoch not in LEAVES:
        group = state.group if state.exists else ConsumerGroup()
        return heartbeat_in(Work(state, group, now_ms, Changes()), request)
    out = Changes()
    try:
        leave(state, request, out)
    except Refused as refused:
        return refusal(refused, out)
    apply(state, state.group, out)
    return out


def heartbeat_in(work: Work, request: ConsumerHeartbeat) -> Changes:
    """Return what a heartbeat leads to in a group, which may be about to be made.

    `work.out` has what was needed to make it. Nothing of its records stays where the heartbeat is
    refused; its answers and timers do, as in Kafka.
    """
    try:
        _heartbeat(work, request)
    except Refused as refused:
        return refusal(refused, work.out)
    apply(work.state, work.group, work.out)
    return work.out


def fired(state: ConsumerCoordinator, now_ms: int, key: tuple[str, str], data: int) -> Changes:
    """Return what a timer leads to: the end of work in the background, or of a member."""
    if key == LOOKUP_KEY:
        out = looked_up(state, now_ms)
    elif key == OFFLOAD_KEY:
        out = computed(state, now_ms)
    else:
        out = _removed(state, key, data)
    apply(state, state.group, out)
    return out


def _removed(state: ConsumerCoordinator, key: tuple[str, str], data: int) -> Changes:
    """Return what becomes of a group whose member is silent, or too slow."""
    kind, member_id = key
    out = Changes()
    if kind == "join":
        state.join_timers.discard(member_id)
    member = state.group.members.get(member_id) if state.exists else None
    if member is not None and (kind != "rebalance" or member.epoch == data):
        fence(state, [member], out)
    return out


def topics_changed(state: ConsumerCoordinator, cluster: Cluster) -> None:
    """Take over topics as they are now; the next heartbeat acts on them."""
    before, state.cluster = state.cluster, cluster
    state.version += 1
    if cluster.topics.keys() - before.topics.keys():
        state.version_of_new_topics = state.version
    group = state.group
    subscribed = group.subscribed | state.still_watched
    if any(before.topics.get(topic) != cluster.topics.get(topic) for topic in subscribed):
        group.must_refresh = True


def refusal(refused: Refused, out: Changes) -> Changes:
    """Return what is left of a request that is refused."""
    code = ConsumerError(refused.code)
    response = ConsumerHeartbeatResponse(code)
    return Changes(timers=out.timers, replies=out.replies, response=response)


def _heartbeat(work: Work, request: ConsumerHeartbeat) -> None:
    state, group, _, out = work
    if request.assignor is not None and request.assignor not in state.assignors:
        raise Refused(ConsumerError.UNSUPPORTED_ASSIGNOR)
    if not state.exists and request.epoch != 0:
        raise Refused(ConsumerError.GROUP_ID_NOT_FOUND)
    require_room(state, group, request.member_id, request.instance_id)
    member, replaced = _sender(group, request, out)
    asks = updated(member, request)
    has_changed = must_count_up = False
    if asks is not member or request.epoch == 0 or not group.counts.are_plain:
        names_changed = write_member(group, member, asks, out, is_new=replaced is None)
        pattern = change_pattern(work, member, asks)
        has_changed = names_changed or pattern is not PatternChange.NONE
        must_count_up = (
            names_changed
            or pattern is PatternChange.RESOLVED
            or _has_other_assignor(state, group, member, asks)
        )
    update = Update(member, asks, replaced, request.owned, has_changed)
    after = bring_on(work, update, must_count_up=must_count_up)
    session = state.config.session_timeout_ms * MILLISECOND
    out.timers.append((("session", after.member_id), session, 0))
    is_new = request.is_full or after.assigned != member.assigned
    out.response = ConsumerHeartbeatResponse(
        NONE,
        after.member_id,
        after.epoch,
        partitions_of(after.assigned) if is_new else None,
    )


def updated(member: ConsumerMember, request: ConsumerHeartbeat) -> ConsumerMember:
    """Return the member with what the heartbeat says anew, itself if that is nothing."""
    timeout, topics = request.rebalance_timeout_ms, request.topics
    if (
        timeout == -1
        and topics is None
        and request.pattern is None
        and request.assignor is None
        and member.classic is None
        and request.client_id == member.client_id
        and (not request.instance_id or request.instance_id == member.instance_id)
        and (request.rack_id is None or request.rack_id == member.rack_id)
    ):
        return member
    return member._replace(
        instance_id=request.instance_id or member.instance_id,
        rack_id=member.rack_id if request.rack_id is None else request.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout == -1 else timeout,
        client_id=request.client_id,
        topics=member.topics if topics is None else in_java_order(topics),
        pattern=member.pattern if request.pattern is None else request.pattern,
        assignor=member.assignor if request.assignor is None else request.assignor,
        classic=None,
    )


def _has_other_assignor(
    state: ConsumerCoordinator,
    group: ConsumerGroup,
    member: ConsumerMember,
    updated: ConsumerMember,
) -> bool:
    """Return whether most members would now like another one of the broker's assignors."""
    counts = group.counts
    if not counts.assignors and updated.assignor is None:
        return False
    default = state.assignor.name
    now, then = counts.preferred_assignor, counts.preferred_after(member, updated)
    return (now or default) != (then or default)


def _sender(
    group: ConsumerGroup, request: ConsumerHeartbeat, out: Changes
) -> tuple[ConsumerMember, str | None]:
    """Return the member that sends, and the id of the static one that it replaces.

    Raises `Refused`.
    """
    old = group.static_member(request.instance_id)
    if request.epoch == 0 and old is not None:
        if old.epoch != STATIC_LEAVE_EPOCH and old.classic is None:
            raise Refused(ConsumerError.UNRELEASED_INSTANCE_ID)
        return replacement(group, old, request.member_id, out), old.member_id
    if request.instance_id is not None and request.epoch != 0:
        member = require_static(old, request.member_id)
    else:
        known = group.members.get(request.member_id)
        if known is None and request.epoch != 0:
            raise Refused(ConsumerError.UNKNOWN_MEMBER_ID)
        member = known or ConsumerMember(member_id=request.member_id)
    _require_epoch(member, request)
    return member, None


def _require_epoch(member: ConsumerMember, request: ConsumerHeartbeat) -> None:
    """Refuse an epoch other than the member's; the last one may come from a lost response."""
    if request.epoch in {0, member.epoch}:
        return
    is_behind = request.epoch < member.epoch and request.epoch == member.previous_epoch
    if not is_behind or not _is_within(request.owned, member.assigned):
        raise Refused(ConsumerError.FENCED_MEMBER_EPOCH)


def _is_within(owned: TopicPartitions | None, assigned: Mapping[str, Mapping[int, int]]) -> bool:
    if owned is None:
        return False
    return all(
        topic in assigned and assigned[topic].keys() >= set(numbers)
        for topic, numbers in owned.items()
    )
