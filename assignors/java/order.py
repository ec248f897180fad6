"""The orders in which Java's range and round-robin go through members and topics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assignors.jvm.hash_trees import name_order
from assignors.jvm.map_order import map_order
from assignors.model import Group, Member
from assignors.problem import Problem
from wire.text import utf16_key


def dealing_order(members: Sequence[Member]) -> list[Member]:
    """Return static members by instance id, then the others by member id.

    A static member keeps its place through restarts, which give it a new member id.

    >>> members = [Member(member_id="z", instance_id="i"), Member(member_id="a")]
    >>> [member.member_id for member in dealing_order(members)]
    ['z', 'a']
    """
    return sorted(
        members,
        key=lambda member: (
            member.instance_id is None,
            utf16_key(member.instance_id or ""),
            utf16_key(member.member_id),
        ),
    )


def subscribers(group: Group) -> dict[str, list[Member]]:
    """Return the subscribers of each known topic that has any, topics in UTF-16 order.

    A topic that a member names twice counts once. Topics without partitions are left out.
    """
    asked: dict[str, list[Member]] = {}
    for member in dealing_order(group.members):
        for topic in dict.fromkeys(member.topics):
            asked.setdefault(topic, []).append(member)
    known = group.cluster.topics
    return {
        topic: asked[topic]
        for topic in sorted(asked, key=utf16_key)
        if topic in known and known[topic].partition_count > 0
    }


def topic_order(group: Group, problem: Problem) -> list[int]:
    """Return the topics that have partitions (numbers of `problem`) in the order of Java's map.

    A hash set collects what members ask for, member by member in map order, and fills the map.
    Cost: O(total length of the subscriptions).
    """
    members = [problem.members[number] for number in map_order(group, problem).tolist()]
    asked = list(dict.fromkeys(topic for member in members for topic in member.topics))
    collected = [asked[place] for place in name_order(asked).tolist()]
    index = problem.topic_index()
    sizes = np.diff(problem.first)
    topics = [topic for topic in collected if topic in index and sizes[index[topic]]]
    return [index[topics[place]] for place in name_order(topics).tolist()]
