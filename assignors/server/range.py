"""The broker's range: every subscriber of a topic gets consecutive partitions.

Static members come first, by instance id, then the others by member id. Unlike the client's
assignor of that name it does not use racks; and it is not sticky.
"""

from __future__ import annotations

from operator import itemgetter

import numpy as np

from assignors.arrays import Int64
from assignors.assignor import Assignor
from assignors.jvm.consecutive import consecutive_owners
from assignors.model import Group
from assignors.rebalance import Rebalance
from assignors.server.results import rebalance_of
from assignors.server.spec import Spec, spec_of
from wire.text import utf16_key


def assign(group: Group) -> Rebalance:
    """Return what the broker's `RangeAssignor` returns.

    Cost: O(M log M + P + D M) for D different sets of subscribers. Source: KIP-848, KAFKA-16944.

    >>> from assignors.model import Cluster, Member
    >>> members = tuple(Member(member_id=name, topics=("t", "u")) for name in ("a", "b"))
    >>> dict(assign(Group(cluster=Cluster.of({"t": 3, "u": 1}), members=members)).lists)
    {'a': (('t', 0), ('t', 1), ('u', 0)), 'b': (('t', 2),)}
    """
    spec = spec_of(group, needs_ids=False)
    place = np.empty(spec.member_count, dtype=np.int32)
    place[spec.order] = np.arange(spec.member_count)
    return rebalance_of(spec, place[consecutive_owners(spec.problem, _dealing_order(spec))])


def _dealing_order(spec: Spec) -> Int64:
    """Return the members, as numbers of the problem, in the order in which they are dealt.

    Of static members with one instance id the first in map order comes first.
    """
    members = spec.problem.members
    static = [
        (utf16_key(members[number].instance_id or ""), number)
        for number in spec.order.tolist()
        if members[number].instance_id is not None
    ]
    static.sort(key=itemgetter(0))
    others = [number for number, member in enumerate(members) if member.instance_id is None]
    return np.array([*(number for _, number in static), *others], dtype=np.int64)


RANGE = Assignor(family="server", name="range", assign=assign, keeps_lists=True)
