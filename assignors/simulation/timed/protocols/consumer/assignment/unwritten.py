"""Heartbeats that ask for nothing else than before, where nobody keeps what is written.

Most heartbeats amid a rebalance are so. `coordinator.heartbeat` writes one record for such a one,
of where its member is then, and replays it. Here the member is put there at once: it, its group,
its timers and the answer are the same.
"""

from __future__ import annotations

from typing import NamedTuple

from assignors.model import Cluster
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
from assignors.simulation.timed.protocols.consumer.records import EpochsByPartition
from wire import TopicPartitions

NONE = ConsumerError.NONE
STABLE, UNREVOKED = MemberState.STABLE, MemberState.UNREVOKED


class Kept(NamedTuple):
    """What a member is to come to that only gives something up."""

    target: TopicPartitions
    """All that it keeps, as its target has it."""
    gone: EpochsByPartition
    """What it gives up."""
    cluster: Cluster
    """The topics as they were then."""


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
    if not _stays_as_it_is(state, now_ms, member, epoch):
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


def released(
    state: ConsumerCoordinator, now_ms: int, member: ConsumerMember, epoch: int, kept: Kept
) -> ConsumerHeartbeatResponse | None:
    """Return the answer to a report that a member owns nothing more of what it had to give up.

    What it keeps is all that its target has. `None`: that is another one by now, or it leads to
    more, and nothing has changed. Else its timer stops. Cost: O(partitions of the member).
    """
    group, (target, gone, cluster) = state.group, kept
    if (
        member.revoking is not gone
        or group.target_of(member) is not target
        or state.cluster is not cluster
        or not _stays_as_it_is(state, now_ms, member, epoch)
    ):
        return None
    after = member.brought_to(group.target_epoch, epoch, STABLE, member.assigned, {})
    group.move(member, after)
    return ConsumerHeartbeatResponse(NONE, after.member_id, after.epoch)


def _stays_as_it_is(
    state: ConsumerCoordinator, now_ms: int, member: ConsumerMember, epoch: int
) -> bool:
    """Return whether a heartbeat that asks for nothing changes nothing but its member."""
    group = state.group
    return (
        0 < epoch == member.epoch
        and not (member.instance_id and group.static_member(member.instance_id) is not member)
        and group.counts.are_plain
        and not group.is_refresh_due
        and (group.target_epoch == group.epoch or not may_compute(state, group, now_ms))
    )
