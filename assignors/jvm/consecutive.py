"""Consecutive partitions for the subscribers of each topic: what both range assignors deal.

A topic with S partitions and N subscribers gives S // N to each and one more to the first S % N.
So the subscriber of a partition follows from its number alone, and all topics are one piece of
arithmetic on arrays.
"""

from __future__ import annotations

import numpy as np

from assignors.arrays import Int32, Int64
from assignors.problem import Problem


def consecutive_owners(problem: Problem, order: Int64) -> Int32:
    """Return who owns each partition, int32[P].

    `order` (int64[M]) has the members as they are dealt: who comes first gets the lowest numbers.
    Cost: O(P + D M) for D different sets of subscribers.

    >>> from assignors.model import Cluster, Group, Member
    >>> from assignors.problem import problem_of
    >>> members = (Member(member_id="a", topics=("t",)), Member(member_id="b", topics=("t", "u")))
    >>> problem = problem_of(Group(cluster=Cluster.of({"t": 3, "u": 2}), members=members))
    >>> consecutive_owners(problem, np.array([1, 0])).tolist()
    [1, 1, 0, 1, 1]
    """
    some, kind = _different_columns(problem)
    takes = problem.takes[:, some].T[:, problem.class_of[order]]
    count = np.count_nonzero(takes, axis=1)
    begin = (np.cumsum(count) - count)[kind]
    subscriber = order[np.nonzero(takes)[1]].astype(np.int32)
    share, extra = np.divmod(np.diff(problem.first), count[kind])
    topic = problem.topic_of
    number = np.arange(len(topic)) - problem.first[topic]
    # The first rule holds for the first `extra` subscribers, the second one for all others, and
    # each gives too low a place where it does not hold.
    place = np.maximum(
        number // (share + 1)[topic], (number - extra[topic]) // np.maximum(share, 1)[topic]
    )
    owner: Int32 = subscriber[begin[topic] + place]
    return owner


def _different_columns(problem: Problem) -> tuple[list[int], Int64]:
    """Return topics with different sets of subscribers, and which of those each topic has."""
    found: dict[bytes, int] = {}
    some: list[int] = []
    kind = np.empty(len(problem.topics), dtype=np.int64)
    for topic, column in enumerate(np.ascontiguousarray(problem.takes.T)):
        kind[topic] = found.setdefault(column.tobytes(), len(some))
        if kind[topic] == len(some):
            some.append(topic)
    return some, kind
