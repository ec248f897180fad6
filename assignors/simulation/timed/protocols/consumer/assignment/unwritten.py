"""Heartbeats that ask for nothing else than before, where nobody keeps what is written.

Most heartbeats amid a rebalance are so. `coordinator.heartbeat` writes one record for such a one,
of where its member is then, and replays it. Here the member is put there at once: it, its group,
its timers and the answer are the same.
"""

from __future__ import annotations

from assignors.simulation.timed.protocols.consumer.assignment.rounds import nearer, rebalance_timer
from assignors.simulation.timed.protocols.consumer.assignment.targets import may_compute
from assignors.simulation.timed.protocols.consumer.coordinator_state import (
    ConsumerCoordinator,
    Timer,
)
from assignors.simulation.timed.protocols.consumer.group import (
    ConsumerMember,
    MemberState,
    partitions_of,
)
from assignors.simulation.timed.protocols.consumer.messages import (
    ConsumerError,
    ConsumerHeartbeatResponse,
)
from wire import TopicPartitions

NONE = ConsumerError.NONE
STABLE, UNREVOKED = MemberState.STABLE, MemberState.UNREVOKED


def brought_on(
    state: ConsumerCoordinator,
    now_ms: int,
    member: ConsumerMember,
    epoch: int,
    owned: TopicPartitions | None,
) -> tuple[ConsumerHeartbeatResponse, Timer | None] | None:
    """Return the answer to a heartbeat, and the timer that changes if its member is brought on.

    It says an epoch and what the member owns, `None` for nothing, and asks for what the member has
    asked for. `None`: it leads to more than that, and nothing has changed. Else its session begins
    anew as well. Cost: O(partitions of the member).
    """
    group = state.group
    target_epoch = group.target_epoch
    if (
        not 0 < epoch == member.epoch
        or (member.instance_id and group.static_member(member.instance_id) is not member)
        or not group.counts.are_plain
        or group.is_refresh_due
        or (target_epoch < group.epoch and may_compute(state, group, now_ms))
    ):
        return None
    if epoch == target_epoch and member.state is STABLE:
        return ConsumerHeartbeatResponse(NONE, member.member_id, epoch), None
    target = group.target_of(member)
    after = nearer(state, group, member, target_epoch=target_epoch, target=target, owned=owned)
    if after is member:
        return ConsumerHeartbeatResponse(NONE, member.member_id, epoch), None
    keeps = after.state is UNREVOKED and not member.revoking
    group.move(member, after, keeps=keeps)
    given = None if after.assigned == member.assigned else partitions_of(after.assigned)
    response = ConsumerHeartbeatResponse(NONE, after.member_id, after.epoch, given)
    return response, rebalance_timer(after)
