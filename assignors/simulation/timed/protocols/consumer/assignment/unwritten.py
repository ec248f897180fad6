"""Heartbeats that ask for nothing else than before, where nobody keeps what is written.

Most heartbeats amid a rebalance are so. `coordinator.heartbeat` writes one record for such a one,
of where its member is then, and replays it. Here the member is put there at once: it, its group,
its timers and the answer are the same.
"""

from __future__ import annotations

from typing import NamedTuple

from assignors.model import Cluster
from assignors.simulation.timed.protocols.consumer.assignment.reconciliation import given_up
from assignors.simulation.timed.protocols.consumer.assignment.rounds import nearer, rebalance_timer
from assignors.simulation.timed.protocols.consumer.assignment.targets import may_compute
from assignors.simulation.timed.protocols.consumer.coordinator_state import (
    ConsumerCoordinator,
    Timer,
)
from assignors.simulation.timed.protocols.consumer.group import (
    ConsumerGroup,
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
    """What comes of a heartbeat whose member has only to give something up."""

    member: ConsumerMember
    """As it is until its heartbeat is handled."""
    target: TopicPartitions
    assigned: EpochsByPartition
    """What it keeps, all of its target."""
    revoking: EpochsByPartition
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


def to_give_up(state: ConsumerCoordinator, now_ms: int, member_id: str, epoch: int) -> Kept | None:
    """Return what a heartbeat that says nothing leads to, where its member only gives something up.

    Nothing has changed: see `told` and `released`. Cost: O(partitions of the member).
    """
    group, cluster = state.group, state.cluster
    member = group.members.get(member_id)
    if (
        member is None
        or member.state is UNREVOKED
        or member.revoking
        or member.epoch == group.target_epoch
        or not _stays_as_it_is(state, now_ms, member, epoch)
    ):
        return None
    target, known = group.target_of(member), cluster.topics
    for topic in target:
        if topic not in member.topics or topic not in known:
            return None
    found = given_up(member.assigned, target)
    if found is None or not found[1]:
        return None
    return Kept(member, target, *found, cluster)


def told(state: ConsumerCoordinator, kept: Kept) -> tuple[ConsumerHeartbeatResponse, Timer]:
    """Let a heartbeat have been handled that tells its member to give something up.

    Returns the answer, and the timer that starts then. Cost: O(partitions of the member).
    """
    member, _, assigned, revoking, _ = kept
    after = member.brought_to(member.epoch, member.epoch, UNREVOKED, assigned, revoking)
    state.group.move(member, after, keeps=True)
    given = partitions_of(assigned)
    response = ConsumerHeartbeatResponse(NONE, after.member_id, after.epoch, given)
    return response, rebalance_timer(after)


def released(
    state: ConsumerCoordinator, now_ms: int, epoch: int, kept: Kept
) -> ConsumerHeartbeatResponse | None:
    """Return the answer to the report of a member that has given up what it was told to.

    That it was told leaves no trace. `None`: it has another target by now, or its report leads to
    more, and nothing has changed. Cost: O(partitions of the member).
    """
    group, (member, target, assigned, revoking, cluster) = state.group, kept
    if (
        group.members.get(member.member_id) is not member
        or group.target_of(member) is not target
        or state.cluster is not cluster
        or not _stays_as_it_is(state, now_ms, member, epoch)
    ):
        return None
    after = member.brought_to(group.target_epoch, epoch, STABLE, assigned, {})
    _move(group, member, after, revoking)
    return ConsumerHeartbeatResponse(NONE, after.member_id, after.epoch)


def _move(
    group: ConsumerGroup, before: ConsumerMember, after: ConsumerMember, gone: EpochsByPartition
) -> None:
    """Put a member in its target's epoch that has given up `gone`, and nothing else has changed.

    As `ConsumerGroup.move`. Cost: O(its partitions).
    """
    group.members[after.member_id] = after
    group.order.put_again()
    group.known_homogeneous = None
    stable, held, was, epoch = group.stable, group.partition_epochs, before.epoch, after.epoch
    if before.state is STABLE:
        stable[was] -= 1
    stable[epoch] += 1
    for topic, numbers in gone.items():
        known = held[topic]
        for number in numbers:
            if known.get(number) == was:
                del known[number]
    for topic, numbers in after.assigned.items():
        held[topic].update(dict.fromkeys(numbers, epoch))


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
