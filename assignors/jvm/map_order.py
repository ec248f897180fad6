"""The order in which Java iterates over the map of a group's members."""

from __future__ import annotations

from operator import is_

import numpy as np

from assignors.arrays import Int64
from assignors.jvm.hash_trees import name_order
from assignors.model import Group
from assignors.problem import Problem


def map_order(group: Group, problem: Problem) -> Int64:
    """Return member numbers (of `problem`) in the order of Java's map from member id, int64[M].

    The map is filled in the order of `group.members`. Cost: O(M log M).

    >>> from assignors.model import Cluster, Member
    >>> from assignors.problem import problem_of
    >>> members = tuple(Member(member_id=name) for name in ("c0", "c1", "c10", "a"))
    >>> group = Group(cluster=Cluster.of({}), members=members)
    >>> problem = problem_of(group)
    >>> [problem.members[number].member_id for number in map_order(group, problem).tolist()]
    ['a', 'c10', 'c0', 'c1']
    """
    ids = [member.member_id for member in group.members]
    if all(map(is_, group.members, problem.members)):
        return name_order(ids)
    number_of = {member.member_id: number for number, member in enumerate(problem.members)}
    given = np.array([number_of[member_id] for member_id in ids], dtype=np.int64)
    return given[name_order(ids)]
