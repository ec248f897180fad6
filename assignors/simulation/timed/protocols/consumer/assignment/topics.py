"""What members subscribe to: the topics they name, and those that their patterns match."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from assignors.model import Cluster
from assignors.server.spec import made_id
from assignors.simulation.timed.protocols.consumer.counts import Counts
from assignors.simulation.timed.protocols.consumer.group import ConsumerMember, in_java_order
from assignors.simulation.timed.protocols.consumer.records import PatternRecord


def topics_seen(
    cluster: Cluster, counts: Counts, resolved: Mapping[str, PatternRecord]
) -> frozenset[tuple[str, int]]:
    """Return the subscribed topics that exist, with their partition counts. Cost: O(topics)."""
    known = cluster.topics
    subscribed = set(counts.topics)
    for each in resolved.values():
        subscribed.update(each.topics or ())
    return frozenset(
        (topic, known[topic].partition_count) for topic in subscribed if topic in known
    )


def subscribed_topics(
    member: ConsumerMember, resolved: Mapping[str, PatternRecord]
) -> tuple[str, ...]:
    """Return what a member subscribes to: first the larger of the two sets, as in Kafka."""
    found = resolved.get(member.pattern) if member.pattern else None
    if found is None or not found.topics:
        return member.topics
    first, second = in_java_order(found.topics), member.topics
    if len(second) > len(first):
        first, second = second, first
    return (*first, *(topic for topic in second if topic not in first))


def with_ids(cluster: Cluster) -> Cluster:
    """Return the cluster with an id for every topic, made from its name. Cost: O(topics).

    The broker's assignors order topics by them.
    """
    return Cluster(
        topics={
            name: topic if topic.topic_id else replace(topic, topic_id=made_id(name))
            for name, topic in cluster.topics.items()
        }
    )
