"""What every request of a member of a consumer group has in common, whatever its protocol.

The member's subscription is written if it has changed, the group epoch grows, a new target is
computed if one is due, and the member is brought a step nearer to it.

Source: `GroupMetadataManager` of Kafka 4.4, where `consumerGroupHeartbeat` and
`classicGroupJoinToConsumerGroup` agree.
"""

from __future__ import annotations

from typing import NamedTuple

from assignors.simulation.timed.protocols.consumer.assignment.everybody import (
    Everybody,
    hidden_target,
    target_before,
)
from assignors.simulation.timed.protocols.consumer.assignment.offload import begin
from assignors.simulation.timed.protocols.consumer.assignment.reconciliation import reconciled
from assignors.simulation.timed.protocols.consumer.assignment.targets import (
    compute_target,
    may_compute,
    write_target,
)
from assignors.simulation.timed.protocols.consumer.assignment.topics import (
    subscribed_topics,
    topics_seen,
)
from assignors.simulation.timed.protocols.consumer.coordinator_state import (
    Changes,
    ConsumerCoordinator,
    Refused,
    Timer,
    Work,
)
from assignors.simulation.timed.protocols.consumer.counts import is_homogeneous
from assignors.simulation.timed.protocols.consumer.group import (
    ConsumerGroup,
    ConsumerMember,
    MemberState,
)
from assignors.simulation.timed.protocols.consumer.messages import ConsumerError
from assignors.simulation.timed.protocols.consumer.records import (
    CurrentRecord,
    GroupEpochRecord,
    MemberRecord,
    TargetEpochRecord,
    TargetRecord,
)
from assignors.simulation.timed.protocols.consumer.replay import REPLAYS
from assignors.simulation.timed.protocols.effects import MILLISECOND
from wire import TopicPartitions

STABLE, UNREVOKED = MemberState.STABLE, MemberState.UNREVOKED


class Update(NamedTuple):
    """A member before and after what its request says."""

    before: ConsumerMember
    after: ConsumerMember
    replaced: str | None
    """The id of the static member in whose place it comes."""
    owned: TopicPartitions | None
    """What it reports to own; `None`: it reports nothing."""
    has_changed: bool
    """Whether it subscribes to something else."""


def require_room(
    state: ConsumerCoordinator, group: ConsumerGroup, member_id: str, instance_id: str | None
) -> None:
    """Raise `Refused` if the group is full and the member is not in it."""
    is_in = instance_id in group.static_ids or member_id in group.members
    if not is_in and len(group.members) >= state.config.max_size:
        raise Refused(ConsumerError.GROUP_MAX_SIZE_REACHED)


def require_static(known: ConsumerMember | None, member_id: str) -> ConsumerMember:
    """Return the static member, which must have this id. Raises `Refused`."""
    if known is None:
        raise Refused(ConsumerError.UNKNOWN_MEMBER_ID)
    if known.member_id != member_id:
        raise Refused(ConsumerError.FENCED_INSTANCE_ID)
    return known


def replacement(
    group: ConsumerGroup, old: ConsumerMember, member_id: str, out: Changes
) -> ConsumerMember:
    """Return the member that comes in the place of a static one, in epoch 0."""
    new = old._replace(member_id=member_id, epoch=0, previous_epoch=0)
    target = group.target.get(old.member_id, {})
    remove_member(old.member_id, out)
    out.records += [new.subscription, TargetRecord(member_id, target), new.record]
    return new


def remove_member(member_id: str, out: Changes) -> None:
    """Write what deletes a member."""
    out.records += [
        CurrentRecord(member_id),
        TargetRecord(member_id, None),
        MemberRecord(member_id, None),
    ]


def write_member(
    group: ConsumerGroup,
    before: ConsumerMember,
    after: ConsumerMember,
    out: Changes,
    *,
    is_new: bool,
) -> bool:
    """Write what a member asks for, if it is new; return whether it names other topics."""
    has_changed = after is not before and after != before
    if has_changed or (is_new and before.member_id not in group.members):
        out.records.append(after.subscription)
    return after.topics is not before.topics and set(after.topics) != set(before.topics)


def bring_on(work: Work, update: Update, *, must_count_up: bool) -> ConsumerMember:
    """Count up, compute the target if one is due, and return the member a step nearer to it."""
    state, group, now_ms, _ = work
    epoch, homogeneous = count_up(work, update, is_due=must_count_up)
    target_epoch = group.target_epoch
    if target_epoch < epoch and may_compute(state, group, now_ms):
        if homogeneous is None:
            homogeneous = group.is_homogeneous
        everybody = _everybody(group, update, homogeneous)
        if state.config.offload_ms:
            begin(work, epoch, everybody)
        else:
            computed = compute_target(work, everybody)
            write_target(work, epoch, computed, everybody.before)
            return reconcile(work, update, epoch, computed[update.after.member_id])
    target = group.target_of(update.after)
    return reconcile(work, update, target_epoch, target)


def count_up(work: Work, update: Update, *, is_due: bool) -> tuple[int, bool | None]:
    """Return the group epoch, which grows where subscriptions or subscribed topics change.

    With it whether all subscribe to the same topics then; `None`: the group knows.
    """
    state, group, _, out = work
    if not (is_due or group.is_refresh_due):
        return group.epoch, None
    counts = group.counts.changed(update.before, update.after)
    resolved, old = group.resolved, update.before.pattern
    if old and old != update.after.pattern and group.counts.patterns[old] == 1:
        resolved = {pattern: each for pattern, each in resolved.items() if pattern != old}
    after = update.after
    is_in = after.member_id in group.members or after.instance_id in group.static_ids
    homogeneous = is_homogeneous(counts, resolved, len(group.members) + (not is_in))
    seen = topics_seen(state.cluster, counts, resolved)
    group.must_refresh, group.refreshed_in = False, group.epoch
    if is_due or seen != group.topics_seen:
        group.refreshed_in += 1
        out.records.append(GroupEpochRecord(group.refreshed_in, seen))
    return group.refreshed_in, homogeneous


def reconcile(
    work: Work, update: Update, target_epoch: int, target: TopicPartitions
) -> ConsumerMember:
    """Return the member one step nearer to its target, and watch over what it has to give up.

    A member of the classic protocol has its own timer for that: `("join", member_id)`.
    """
    state, group, _, out = work
    member = update.after
    after = nearer(
        state,
        group,
        member,
        target_epoch=target_epoch,
        target=target,
        owned=update.owned,
        has_changed=update.has_changed,
    )
    if after is not member:
        out.records.append(after.record)
        if after.classic is None:
            out.timers.append(rebalance_timer(after))
    return after


def rebalance_timer(member: ConsumerMember) -> Timer:
    """Return what starts or stops the timer by which a member must have given up what it has to."""
    is_revoking = member.state is UNREVOKED
    wait = member.rebalance_timeout_ms * MILLISECOND if is_revoking else None
    return ("rebalance", member.member_id), wait, member.epoch


def nearer(
    state: ConsumerCoordinator,
    group: ConsumerGroup,
    member: ConsumerMember,
    *,
    target_epoch: int,
    target: TopicPartitions,
    owned: TopicPartitions | None,
    has_changed: bool = False,
) -> ConsumerMember:
    """Return a member one step nearer to its target, itself if it stays where it is.

    `owned` is what it reports to own, `has_changed` whether it subscribes to something else.
    """
    if member.epoch == target_epoch and member.state is STABLE and not has_changed:
        return member
    after = reconciled(
        member,
        target_epoch=target_epoch,
        target=target,
        has_changed_topics=has_changed,
        topics=subscribed_topics(member, group.resolved),
        known=state.cluster.topics,
        owned=owned,
        partition_epochs=group.partition_epochs,
    )
    return member if after.epoch == member.epoch and after == member else after


def apply(state: ConsumerCoordinator, group: ConsumerGroup, out: Changes) -> None:
    """Replay the records of a request that worked on `group`, into a new one if it is not kept."""
    if out.is_converted or not out.records:
        return
    if group is not state.group or not state.exists:
        state.group, state.exists = ConsumerGroup(), True
    before = state.group.subscribed if state.still_watched else frozenset()
    for record in out.records:
        change = REPLAYS.get(type(record))
        if change is not None:
            change(state.group, record)
        if isinstance(record, TargetRecord | TargetEpochRecord):
            state.target_changes += 1
    if before:
        state.still_watched -= before - state.group.subscribed


def _everybody(group: ConsumerGroup, update: Update, homogeneous: bool) -> Everybody:  # noqa: FBT001 - one of two values of a pair
    """Return all members as they will be; who is new in Kafka's map comes last.

    Cost: O(members log members).
    """
    asking, known = update.after.member_id, group.members
    ids = list(group.order)
    if update.replaced not in {None, asking}:
        ids.remove(update.replaced)
    if asking not in known:
        ids.append(asking)
    return Everybody(
        ids,
        known,
        update.after,
        update.replaced,
        homogeneous,
        group.counts.preferred_after(update.before, update.after),
        target_before(group, asking, update.replaced),
        hidden_target(group, asking, update.replaced),
    )
