"""The lag-based assignor for real groups: the benchmark's port of its rule, with a broker's lags.

It is eager and keeps nothing where it was. As the original it asks for offsets inside `assign`; a
partition without a committed offset counts as read from its first record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from assignors.assignor import Assignor
from assignors.group_bytes.assignments import assigned
from assignors.model import Cluster, Group
from assignors.problem import NOBODY, problem_of
from assignors.rebalance import Rebalance
from tests.benchmarks.weighted.peers.lag_based import lag_based
from tests.benchmarks.weighted.peers.task import Task
from tests.interop.admin import Admin

Lags = Mapping[tuple[str, int], int]


def lag_based_assignor(lags_of: Callable[[Cluster], Lags]) -> Assignor:
    """Return the assignor, for groups whose members all read the same topics.

    `lags_of` is asked in every round.
    """

    def assign(group: Group) -> Rebalance:
        problem = problem_of(group)
        assert problem.takes.all(), "every member reads every topic"
        lags = lags_of(group.cluster)
        task = Task(
            weight=np.array(
                [
                    lags.get((topic, number), 0)
                    for topic in problem.topics
                    for number in range(group.cluster.topics[topic].partition_count)
                ],
                dtype=np.int64,
            ),
            owner=np.full(problem.partition_count, NOBODY, dtype=np.int32),
            member_count=len(group.members),
            topic_of=problem.topic_of,
        )
        return Rebalance(assignment=assigned(problem, lag_based(task)))

    return Assignor(family="measured", name="lag-based", assign=assign)


def lags_on(bootstrap: str, group: str) -> Callable[[Cluster], Lags]:
    """Return what asks a broker for the lags of a group."""
    admin = Admin(bootstrap)

    def lags_of(cluster: Cluster) -> Lags:
        counts = {topic: one.partition_count for topic, one in cluster.topics.items()}
        committed = admin.committed(group)
        ends = admin.ends(counts)
        return {place: end - committed.get(place, 0) for place, end in ends.items()}

    return lags_of
