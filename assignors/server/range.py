"""The broker's range: every subscriber of a topic gets consecutive partitions.

Static members come first, by instance id, then the others by member id. Unlike the client's
assignor of that name it does not use racks; and it is not sticky.
"""

from __future__ import annotations

import numpy as np

from assignors.assignor import Assignor
from assignors.model import Group
from assignors.problem import NOBODY, Int32
from assignors.rebalance import Rebalance
from assignors.server.results import rebalance_of
from assignors.server.spec import Spec, spec_of
from wire.text import utf16_key


def assign(group: Group) -> Rebalance:
    """Return what the broker's `RangeAssignor` returns.

    Cost: O(M log M + P + T M). Source: KIP-848, KAFKA-16944.

    >>> from assignors.model import Cluster, Member
    >>> members = tuple(Member(member_id=name, topics=("t", "u")) for name in ("a", "b"))
    >>> dict(assign(Group(cluster=Cluster.of({"t": 3, "u": 1}), members=members)).lists)
    {'a': (('t', 0), ('t', 1), ('u', 0)), 'b': (('t', 2),)}
    """
    spec = spec_of(group, needs_ids=False)
    owner = np.full(spec.problem.partition_count, NOBODY, dtype=np.int32)
    rank = _rank(spec)
    first = spec.problem.first.tolist()
    for topic, column in enumerate(spec.takes.T):
        subscribers = rank[column[rank]]
        size = first[topic + 1] - first[topic]
        quota, extra = divmod(size, len(subscribers))
        shares = np.full(len(subscribers), quota, dtype=np.int64)
        shares[:extra] += 1
        owner[first[topic] : first[topic + 1]] = np.repeat(subscribers, shares)
    return rebalance_of(spec, owner)


def _rank(spec: Spec) -> Int32:
    """Return the members (places in map order) in the order in which they are dealt."""
    members = spec.members

    def key(place: int) -> tuple[bool, bytes]:
        member = members[place]
        is_dynamic = member.instance_id is None
        return is_dynamic, utf16_key(member.member_id if is_dynamic else member.instance_id or "")

    return np.array(sorted(range(len(members)), key=key), dtype=np.int32)


RANGE = Assignor(family="server", name="range", assign=assign, keeps_lists=True)
