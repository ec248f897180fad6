"""Bring one member a step nearer to its target assignment.

First a member gives up what is not in its target: until it reports that it no longer owns it, it
stays in its epoch (`UNREVOKED`). Then it moves to the target's epoch and gets what is free; what
others still have comes later (`UNRELEASED`). So no partition has two owners at any time, and no
member waits for one that it has nothing to do with.

Source: `CurrentAssignmentBuilder` of Kafka 4.4, KIP-848.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from assignors.simulation.timed.protocols.kafka.consumer_group import ConsumerMember, MemberState
from assignors.simulation.timed.protocols.kafka.records import EpochsByPartition
from wire import TopicPartitions

FEW = 5
"""Of fewer topics a set costs more than it saves."""
STABLE, UNREVOKED = MemberState.STABLE, MemberState.UNREVOKED


def reconciled(
    member: ConsumerMember,
    *,
    target_epoch: int,
    target: TopicPartitions,
    has_changed_topics: bool,
    topics: Sequence[str],
    known: Container[str],
    owned: TopicPartitions | None,
    partition_epochs: Mapping[str, Mapping[int, int]],
) -> ConsumerMember:
    """Return the member after one step; itself if there is nothing to do.

    `topics` is what it subscribes to, `known` what exists; `owned` is what it reports to own,
    `None` where it reports nothing. Cost: O(its partitions).
    """
    is_waiting = member.state is UNREVOKED and _owns_any(owned, member.revoking)
    is_there = member.state is STABLE and member.epoch == target_epoch
    if is_waiting or is_there:
        if not has_changed_topics:
            return member
        if not (topics or member.revoking or member.assigned or member.is_fresh):
            return _moved(member, member.epoch)  # as in Kafka: a record that says nothing new
        return _without_unsubscribed(member, {each for each in topics if each in known}, owned)
    asked = topics if len(topics) < FEW else set(topics)
    for topic in target:
        if topic not in asked or topic not in known:
            target = {each: n for each, n in target.items() if each in asked and each in known}
            break
    found = given_up(member.assigned, target)
    if found is None:
        kept, lost, gained, must_wait = _shared_out(member, target_epoch, target, partition_epochs)
    else:
        (kept, lost), gained, must_wait = found, {}, False
    if lost and _owns_any(owned, lost):
        return member.brought_to(member.epoch, member.epoch, UNREVOKED, kept, lost)
    if gained:
        kept = {**kept, **{topic: {**kept.get(topic, {}), **gained[topic]} for topic in gained}}
    state = MemberState.UNRELEASED if must_wait else STABLE
    return member.brought_to(target_epoch, member.epoch, state, kept, {})


def _shared_out(
    member: ConsumerMember,
    target_epoch: int,
    target: TopicPartitions,
    partition_epochs: Mapping[str, Mapping[int, int]],
) -> tuple[EpochsByPartition, EpochsByPartition, EpochsByPartition, bool]:
    """Return what a member keeps, loses and gains, and whether it has to wait for the rest.

    Cost: O(its partitions).
    """
    kept: dict[str, Mapping[int, int]] = {}
    lost: dict[str, Mapping[int, int]] = {}
    gained: dict[str, Mapping[int, int]] = {}
    must_wait = False
    for topic in {**target, **member.assigned}:
        wanted = set(target.get(topic, ()))
        had = member.assigned.get(topic, {})
        if had and len(had) == len(wanted) and had.keys() == wanted:
            kept[topic] = had
            continue
        goes: dict[int, int] = {}
        if not had.keys() <= wanted:
            goes = {number: epoch for number, epoch in had.items() if number not in wanted}
        stays: Mapping[int, int] = _without(had, goes) if goes else had
        free: dict[int, int] = {}
        if len(stays) < len(wanted):
            own, taken = member.revoking.get(topic, {}), partition_epochs.get(topic, {})
            free = {
                number: target_epoch
                for number in wanted - had.keys()
                if number not in taken or number in own
            }
        must_wait = must_wait or len(stays) + len(free) < len(wanted)
        if stays:
            kept[topic] = stays
        if goes:
            lost[topic] = goes
        if free:
            gained[topic] = free
    return kept, lost, gained, must_wait


def given_up(
    assigned: EpochsByPartition, target: TopicPartitions
) -> tuple[EpochsByPartition, EpochsByPartition] | None:
    """Return what a member keeps, and what it loses; `None`: it also gains something.

    Most are so. Cost: O(its partitions).
    """
    kept: dict[str, Mapping[int, int]] = {}
    lost: dict[str, Mapping[int, int]] = {}
    for topic, numbers in target.items():
        if not numbers:
            continue
        had = assigned.get(topic)
        if had is None or len(numbers) > len(had):
            return None
        try:
            stays = {number: had[number] for number in numbers}
        except KeyError:
            return None
        if len(stays) == len(had):
            kept[topic] = had
        else:
            kept[topic] = stays
            lost[topic] = {number: epoch for number, epoch in had.items() if number not in stays}
    if len(kept) < len(assigned):
        lost.update((topic, had) for topic, had in assigned.items() if had and topic not in kept)
    return kept, lost


def _without(epochs: Mapping[int, int], gone: Mapping[int, int]) -> dict[int, int]:
    """Return partitions but for some of them. Cost: O(partitions), with a small constant."""
    rest = dict(epochs)
    for number in gone:
        del rest[number]
    return rest


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
        epoch = member.epoch
        return member.brought_to(epoch, epoch, MemberState.UNREVOKED, kept, revoking)
    return _moved(member, member.epoch)._replace(assigned=kept)


def _moved(member: ConsumerMember, epoch: int) -> ConsumerMember:
    """Return the member in another epoch, the last one remembered."""
    return member._replace(epoch=epoch, previous_epoch=member.epoch)


def _owns_any(owned: TopicPartitions | None, epochs: EpochsByPartition) -> bool:
    """Return whether a member still owns any of these; one that reports nothing may."""
    if owned is None:
        return True
    for topic, numbers in owned.items():
        of_topic = epochs.get(topic)
        if of_topic and not of_topic.keys().isdisjoint(numbers):
            return True
    return False
