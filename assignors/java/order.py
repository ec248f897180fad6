"""The orders in which Java's range and round-robin go through members and topics."""

from __future__ import annotations

from itertools import chain

import numpy as np

from assignors.arrays import Int64
from assignors.jvm.hash_trees import name_order
from assignors.problem import Problem
from wire.text import utf16_key


def dealing_order(problem: Problem) -> Int64:
    """Return the members (numbers of `problem`) as they are dealt, int64[M].

    Static members by instance id, then the others by member id. A static member keeps its place
    through restarts, which give it a new member id. Cost: O(M + S log S) for S static members.

    >>> from assignors.model import Cluster, Group, Member
    >>> from assignors.problem import problem_of
    >>> members = (Member(member_id="z", instance_id="i"), Member(member_id="a"))
    >>> dealing_order(problem_of(Group(cluster=Cluster.of({}), members=members))).tolist()
    [1, 0]
    """
    instance_ids = [member.instance_id for member in problem.members]
    static = sorted(
        (utf16_key(instance_id), number)
        for number, instance_id in enumerate(instance_ids)
        if instance_id is not None
    )
    others = [number for number, instance_id in enumerate(instance_ids) if instance_id is None]
    return np.array([*(number for _, number in static), *others], dtype=np.int64)


def topic_order(problem: Problem, order: Int64) -> list[int]:
    """Return the topics that have partitions (numbers of `problem`) in the order of Java's map.

    A hash set collects what members ask for, member by member in `order`, int64[M], that of the
    map of members, and fills the map of topics.
    Cost: O(M + total length of different subscriptions).
    """
    lists = [problem.members[number].topics for number in order.tolist()]
    different = {id(topics): topics for topics in lists}  # most members share one tuple
    asked = list(dict.fromkeys(chain.from_iterable(different.values())))
    collected = [asked[place] for place in name_order(asked).tolist()]
    index = problem.topic_index()
    sizes = np.diff(problem.first)
    topics = [topic for topic in collected if topic in index and sizes[index[topic]]]
    return [index[topics[place]] for place in name_order(topics).tolist()]
