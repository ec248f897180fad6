"""The target assignment: when it is computed, from what, and what is written of it.

Source: `TargetAssignmentBuilder` of Kafka 4.4, KIP-848, KIP-1263.
"""

from __future__ import annotations

from collections.abc import Iterable

from assignors.jvm.hash_trees import name_order
from assignors.model import Cluster, Group, Member
from assignors.rebalance import Rebalance
from assignors.simulation.timed.protocols.consumer.coordinator_state import (
    Changes,
    ConsumerCoordinator,
)
from assignors.simulation.timed.protocols.consumer.group import ConsumerMember
from assignors.simulation.timed.protocols.consumer.records import TargetEpochRecord, TargetRecord
from wire import TopicPartitions


def topics_seen(cluster: Cluster, members: Iterable[ConsumerMember]) -> frozenset[tuple[str, int]]:
    """Return the subscribed topics that exist, with their partition counts."""
    known = cluster.topics
    subscribed = {topic for member in members for topic in member.topics}
    return frozenset(
        (topic, known[topic].partition_count) for topic in subscribed if topic in known
    )


def may_compute(state: ConsumerCoordinator, now_ms: int) -> bool:
    """Return whether the assignment interval has passed, or no target was ever computed."""
    at, interval = state.group.target_at_ms, state.config.assignment_interval_ms
    return at == 0 or interval == 0 or now_ms >= at + interval


def compute_target(
    state: ConsumerCoordinator, now_ms: int, members: list[ConsumerMember], out: Changes
) -> None:
    """Compute the target for the group epoch, from the target before."""
    group = state.group
    answer = state.assignor.assign(
        Group(
            cluster=state.cluster,
            members=tuple(
                Member(
                    member_id=each.member_id,
                    topics=each.topics,
                    owned=group.target.get(each.member_id, {}),
                    rack_id=each.rack_id,
                    instance_id=each.instance_id,
                )
                for each in members
            ),
        )
    )
    ids = [each.member_id for each in members]
    for each in (members[number] for number in name_order(ids).tolist()):
        new = _in_order(answer, each.member_id)
        if new != group.target.get(each.member_id):
            out.records.append(TargetRecord(each.member_id, new))
        group.target[each.member_id] = new
    group.target_epoch, group.target_at_ms = group.epoch, now_ms
    out.records.append(TargetEpochRecord(group.target_epoch, now_ms))


def _in_order(answer: Rebalance, member_id: str) -> TopicPartitions:
    """Return what a member gets, topics in the order in which the assignor listed them.

    The next target depends on it where two topic ids fall into one bucket of a Java map.
    """
    given = answer.assignment.get(member_id, {})
    listed = (answer.lists or {}).get(member_id)
    topics = given if listed is None else dict.fromkeys(topic for topic, _ in listed)
    return {topic: tuple(sorted(given[topic])) for topic in topics if given[topic]}
