"""Bring one member a step nearer to its target assignment.

First a member gives up what is not in its target: until it reports that it no longer owns it, it
stays in its epoch (`UNREVOKED`). Then it moves to the target's epoch and gets what is free; what
others still have comes later (`UNRELEASED`). So no partition has two owners at any time, and no
member waits for one that it has nothing to do with.

Source: `CurrentAssignmentBuilder` of Kafka 4.4, KIP-848.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from assignors.simulation.timed.protocols.consumer.group import ConsumerMember, MemberState
from assignors.simulation.timed.protocols.consumer.records import EpochsByPartition
from wire import TopicPartitions

Epochs = dict[str, dict[int, int]]


def reconciled(
    member: ConsumerMember,
    *,
    target_epoch: int,
    target: TopicPartitions,
    has_changed_topics: bool,
    topics: Sequence[str],
    known: Container[str],
    owned: TopicPartitions | None,
    partition_epochs: Mapping[tuple[str, int], int],
) -> ConsumerMember:
    """Return the member after one step; itself if there is nothing to do.

    `topics` is what it subscribes to, `known` what exists; `owned` is what it reports to own,
    `None` where it reports nothing. Cost: O(its partitions).
    """
    subscribed = {topic for topic in topics if topic in known}
    is_waiting = member.state is MemberState.UNREVOKED and _owns_any(owned, member.revoking)
    is_there = member.state is MemberState.STABLE and member.epoch == target_epoch
    if is_waiting or is_there:
        if not has_changed_topics:
            return member
        if not (topics or member.revoking or member.assigned or member.is_fresh):
            return member.moved_to(member.epoch)  # as in Kafka: a record that says nothing new
        return _without_unsubscribed(member, subscribed, owned)
    wanted = {topic: n for topic, n in target.items() if topic in subscribed}
    return _next(member, target_epoch, wanted, owned, partition_epochs)


def _next(
    member: ConsumerMember,
    target_epoch: int,
    target: TopicPartitions,
    owned: TopicPartitions | None,
    partition_epochs: Mapping[tuple[str, int], int],
) -> ConsumerMember:
    kept: Epochs = {}
    lost: Epochs = {}
    gained: Epochs = {}
    must_wait = False
    for topic in {**target, **member.assigned}:
        wanted = set(target.get(topic, ()))
        had = member.assigned.get(topic, {})
        stays = {number: epoch for number, epoch in had.items() if number in wanted}
        goes = {number: epoch for number, epoch in had.items() if number not in wanted}
        own = member.revoking.get(topic, {})
        free = {
            number: target_epoch
            for number in wanted - had.keys()
            if (topic, number) not in partition_epochs or number in own
        }
        must_wait = must_wait or len(stays) + len(free) < len(wanted)
        for into, found in ((kept, stays), (lost, goes), (gained, free)):
            if found:
                into[topic] = found
    if lost and _owns_any(owned, lost):
        return member.moved_to(
            member.epoch, state=MemberState.UNREVOKED, assigned=kept, revoking=lost
        )
    for topic, numbers in gained.items():
        kept[topic] = {**kept.get(topic, {}), **numbers}
    state = MemberState.UNRELEASED if must_wait else MemberState.STABLE
    return member.moved_to(target_epoch, state=state, assigned=kept, revoking={})


def _without_unsubscribed(
    member: ConsumerMember, subscribed: set[str], owned: TopicPartitions | None
) -> ConsumerMember:
    """Take away the topics that the member no longer subscribes to: no new target is needed."""
    gone = {topic: n for topic, n in member.assigned.items() if topic not in subscribed}
    if not gone:
        return member
    kept = {topic: n for topic, n in member.assigned.items() if topic in subscribed}
    revoking = {
        topic: {**member.revoking.get(topic, {}), **gone.get(topic, {})}
        for topic in {**member.revoking, **gone}
    }
    if _owns_any(owned, revoking):
        return member.moved_to(
            member.epoch, state=MemberState.UNREVOKED, assigned=kept, revoking=revoking
        )
    return member.moved_to(member.epoch, assigned=kept)


def _owns_any(owned: TopicPartitions | None, epochs: EpochsByPartition) -> bool:
    """Return whether a member still owns any of these; one that reports nothing may."""
    if owned is None:
        return True
    return any(
        not epochs.get(topic, {}).keys().isdisjoint(numbers) for topic, numbers in owned.items()
    )
