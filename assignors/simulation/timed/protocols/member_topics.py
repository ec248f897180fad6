"""What a member knows of topics: its metadata, and the topics that its pattern matches there.

A member that subscribes by a pattern matches it over its own metadata, and joins again where that
gives another subscription. It fetches new metadata before it joins: so one member that has seen a
new topic makes the others see it, too.

Source: `ConsumerCoordinator.updatePatternSubscription`, `poll` of Kafka's Java client.
"""

from __future__ import annotations

from collections.abc import Iterable

from assignors.model import Cluster
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.topic_patterns import matching


def learn_topics(member: ClassicMember, cluster: Cluster, group: Iterable[ClassicMember]) -> bool:
    """Take over new metadata; return whether the member has to join again because of it.

    A leader has to where a topic has changed that anybody in the group subscribes to: only it
    knows of partitions. Anybody has to whose pattern now matches other topics.
    Cost: O(topics), for a leader O(members).
    """
    before, member.cluster = member.cluster.topics, cluster
    if follow_pattern(member):
        return True
    if not member.is_leader:
        return False
    subscribed = {topic for each in group if each.is_up for topic in each.topics}
    return any(before.get(topic) != cluster.topics.get(topic) for topic in subscribed)


def follow_pattern(member: ClassicMember) -> bool:
    """Subscribe to what the pattern matches now; return whether that is something else."""
    if member.config.pattern is None:
        return False
    found = matching(member.config.pattern, member.cluster.topics)
    topics = tuple(dict.fromkeys((*member.config.topics, *found)))
    has_changed = set(topics) != set(member.topics)
    member.topics = topics
    return has_changed
