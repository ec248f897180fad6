"""Members that go: of their own will, or because they were silent or too slow."""

from __future__ import annotations

from collections import Counter

from assignors.simulation.timed.protocols.consumer.assignment.rounds import (
    remove_member,
    require_static,
)
from assignors.simulation.timed.protocols.consumer.assignment.topics import topics_seen
from assignors.simulation.timed.protocols.consumer.coordinator_state import (
    Changes,
    ConsumerCoordinator,
    Refused,
)
from assignors.simulation.timed.protocols.consumer.group import ConsumerMember
from assignors.simulation.timed.protocols.consumer.messages import (
    STATIC_LEAVE_EPOCH,
    ConsumerError,
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
)
from assignors.simulation.timed.protocols.consumer.records import (
    GroupEpochRecord,
    PatternRecord,
    TargetEpochRecord,
)

TIMERS = ("session", "rebalance", "join", "sync")


def leave(state: ConsumerCoordinator, request: ConsumerHeartbeat, out: Changes) -> None:
    """Let a member go that says so; a static one may keep its place. Raises `Refused`."""
    if not state.exists:
        raise Refused(ConsumerError.GROUP_ID_NOT_FOUND)
    group = state.group
    if request.instance_id is None:
        member = group.members.get(request.member_id)
        if member is None:
            raise Refused(ConsumerError.UNKNOWN_MEMBER_ID)
    else:
        member = require_static(group.static_member(request.instance_id), request.member_id)
    if request.instance_id is not None and request.epoch == STATIC_LEAVE_EPOCH:
        zero = {topic: dict.fromkeys(numbers, 0) for topic, numbers in member.assigned.items()}
        away = member._replace(epoch=STATIC_LEAVE_EPOCH, assigned=zero, revoking={})
        out.records.append(away.record)
    else:
        fence(state, [member], out)
    out.response = ConsumerHeartbeatResponse(ConsumerError.NONE, request.member_id, request.epoch)


def fence(state: ConsumerCoordinator, members: list[ConsumerMember], out: Changes) -> None:
    """Remove members; their partitions are free at once.

    Where only members of the classic protocol are left the group may become a classic one.
    """
    group = state.group
    if state.downgrade(members, out):
        return
    for member in members:
        remove_member(member.member_id, out)
    left = {each.member_id for each in members}
    counts, resolved = group.counts, dict(group.resolved)
    for member in members:
        counts = counts.changed(member, None)
    for pattern in Counter(each.pattern for each in members if each.pattern):
        if not counts.patterns[pattern]:
            out.records.append(PatternRecord(pattern))
            resolved.pop(pattern, None)
    epoch = group.epoch + 1
    out.records.append(GroupEpochRecord(epoch, topics_seen(state.cluster, counts, resolved)))
    if group.members.keys() <= left:
        out.records.append(TargetEpochRecord(epoch, 0))
    for member in members:
        out.timers += [((kind, member.member_id), None, 0) for kind in TIMERS]
        state.join_timers.discard(member.member_id)
