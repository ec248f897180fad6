"""The rule of the lag-based assignor, grantneale/kafka-lag-based-assignor (2020), as an `Assignor`.

By topic: partitions by falling lag; each goes to the member with the fewest partitions of the
topic, among those to the one with the least lag of the topic, then by member id. It is eager and
keeps nothing where it was. As the original it asks for offsets inside `assign`: a partition
without a committed offset counts as read from its first record.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping

from assignors.assignor import Assignor
from assignors.model import Cluster, Group
from assignors.rebalance import Rebalance
from tests.interop.admin import Admin

Lags = Mapping[tuple[str, int], int]


def lag_based(lags_of: Callable[[Cluster], Lags]) -> Assignor:
    """Return the assignor; `lags_of` is asked in every round."""

    def assign(group: Group) -> Rebalance:
        lags = lags_of(group.cluster)
        given: dict[str, dict[str, tuple[int, ...]]] = {
            each.member_id: {} for each in group.members
        }
        for topic in sorted(group.cluster.topics):
            takers = [each.member_id for each in group.members if topic in each.topics]
            count = group.cluster.topics[topic].partition_count
            found = shares(takers, [lags.get((topic, number), 0) for number in range(count)])
            for member_id, numbers in found.items():
                given[member_id][topic] = tuple(numbers)
        return Rebalance(assignment=given)

    return Assignor(family="measured", name="lag-based", assign=assign)


def shares(takers: list[str], lags: list[int]) -> dict[str, list[int]]:
    """Return who gets which partitions of one topic. Cost: O(P log P).

    >>> shares(["b", "a"], [100, 90, 10, 5])
    {'a': [0, 3], 'b': [1, 2]}
    """
    found: dict[str, list[int]] = {}
    heap = [(0, 0, member_id) for member_id in sorted(takers)]
    for number in sorted(range(len(lags)), key=lambda number: (-lags[number], number)):
        if not heap:
            break
        count, lag, member_id = heap[0]
        found.setdefault(member_id, []).append(number)
        heapq.heapreplace(heap, (count + 1, lag + lags[number], member_id))
    return {member_id: sorted(numbers) for member_id, numbers in found.items()}


def lags_on(bootstrap: str, group: str) -> Callable[[Cluster], Lags]:
    """Return what asks a broker for the lags of a group."""
    admin = Admin(bootstrap)

    def lags_of(cluster: Cluster) -> Lags:
        counts = {topic: one.partition_count for topic, one in cluster.topics.items()}
        committed = admin.committed(group)
        ends = admin.ends(counts)
        return {place: end - committed.get(place, 0) for place, end in ends.items()}

    return lags_of
