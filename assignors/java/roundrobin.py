"""Round-robin: all partitions of all topics dealt around the table.

Topics by name, partitions by number, members in a ring; a member that does not subscribe to
the topic at hand is passed over. Nothing stays where it was and racks do not count.
"""

from __future__ import annotations

import numpy as np

from assignors.assignor import Assignor, UserData
from assignors.claims import gather
from assignors.java.order import dealing_order
from assignors.metrics import stats
from assignors.model import Group
from assignors.problem import NOBODY, Int32, Problem, name, number
from assignors.rebalance import Rebalance


def assign(group: Group) -> Rebalance:
    """Return the deal. Java fails for a group without members; this is an empty answer.

    Cost: O(P + M T). Source: `RoundRobinAssignor` of Kafka 4.4.

    >>> from assignors.model import Cluster, Member
    >>> members = tuple(Member(member_id=name, topics=("t", "u")) for name in ("a", "b"))
    >>> assign(Group(cluster=Cluster.of({"t": 3, "u": 1}), members=members)).assignment
    {'a': {'t': (0, 2)}, 'b': {'t': (1,), 'u': (0,)}}
    """
    problem = number(group)
    owner = _deal(problem)
    favoured = np.full(problem.partition_count, NOBODY, dtype=np.int32)
    return Rebalance(
        assignment=name(problem, owner),
        notes=gather(problem, group, UserData.NONE).notes,
        stats=stats(problem, favoured=favoured, given=owner),
    )


def _deal(problem: Problem) -> Int32:
    """Return who gets each partition, int32[P]."""
    place = {member.member_id: number for number, member in enumerate(problem.members)}
    ring = np.array(
        [place[member.member_id] for member in dealing_order(problem.members)], dtype=np.int32
    )
    owner = np.full(problem.partition_count, NOBODY, dtype=np.int32)
    position = 0  # in the ring: whose turn it is
    for topic in range(len(problem.topics)):
        start, end = int(problem.first[topic]), int(problem.first[topic + 1])
        seats = np.flatnonzero(problem.takes[problem.class_of[ring], topic])
        if start == end:
            continue
        turn = int(np.searchsorted(seats, position)) + np.arange(end - start)
        dealt = seats[turn % len(seats)]
        owner[start:end] = ring[dealt]
        position = (int(dealt[-1]) + 1) % len(ring)
    return owner


ROUNDROBIN = Assignor(family="java", name="roundrobin", assign=assign)
