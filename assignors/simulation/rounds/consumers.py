"""Who consumes each partition of a group as an array, where an array can say it.

An array has one consumer a partition. Partitions with two, and partitions that nobody subscribes
to or that do not exist, occur only where an assignor is wrong: then members' mappings are compared
one by one, as `ownership.monitors` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from assignors.arrays import partition_arrays
from assignors.group_bytes.assignments import AssignedPartitions
from assignors.model import Assignment, Group
from assignors.problem import NOBODY, Bool, Int32, Problem, problem_of
from wire import TopicPartitions

Shares: TypeAlias = list[TopicPartitions]
"""What each member of a problem has, in the order of its members."""

NO_PARTITIONS: TopicPartitions = {}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Consumers:
    """Who consumes each partition before and after a round."""

    problem: Problem
    """Of the group as the leader saw it; its claims may be those of an earlier round."""
    before: Int32
    """int32[P]: the consumer when the answer arrived, `NOBODY` where there was none."""
    after: Int32
    """int32[P]: the consumer once every member had applied the answer."""

    @property
    def is_taken(self) -> Bool:
        """bool[P]: taken from its consumer, which has to revoke it."""
        taken: Bool = (self.before != NOBODY) & (self.before != self.after)
        return taken

    @property
    def has_started_twice(self) -> bool:
        """Whether a partition is started on a member while another one consumes it."""
        return bool((self.is_taken & (self.after != NOBODY)).any())


def consumers(
    group: Group, consumed: Assignment, given: Assignment, last: Consumers | None
) -> Consumers | None:
    """Return who consumes what before and after a round; `None` where arrays cannot say it.

    `consumed` is what each member consumes, `given` what it is assigned. `last` is the result
    for the round before, if nothing has happened to the group since. Cost: O(partitions); with
    `last`, and an answer of the optimal family, a few comparisons.
    """
    if last is not None and _is_of(last.problem, group):
        problem, before = last.problem, last.after
    else:
        problem = problem_of(group)
        found = single_owners(problem, consumed)
        if found is None:
            return None
        before = found
    after = single_owners(problem, given)
    if after is None:
        return None
    return Consumers(problem=problem, before=before, after=after)


def single_owners(problem: Problem, assignment: Assignment) -> Int32 | None:
    """Return who holds each partition, int32[P]; `None` where that does not say everything.

    That is where a partition is held twice, does not exist, or is of a topic that no member
    subscribes to. Members that the problem lacks are left out. Cost: O(size of the assignment);
    O(T) for an answer of the optimal family to the same group.

    >>> from assignors.model import Cluster, Member
    >>> members = (Member(member_id="a", topics=("t",)), Member(member_id="b"))
    >>> problem = problem_of(Group(cluster=Cluster.of({"t": 2}), members=members))
    >>> single_owners(problem, {"a": {"t": (1,)}})
    array([-1,  0], dtype=int32)
    >>> single_owners(problem, {"a": {"t": (1,)}, "b": {"t": (1,)}})
    """
    if isinstance(assignment, AssignedPartitions) and _is_numbered_as(assignment.problem, problem):
        return assignment.owner
    shares: Shares = [assignment.get(m.member_id, NO_PARTITIONS) for m in problem.members]
    lists = partition_arrays(shares, problem.topic_index())
    if len(lists.topic) != sum(map(len, shares)):
        return None
    topic, number = lists.topic_of, lists.number
    if not ((number >= 0) & (number < np.diff(problem.first)[topic])).all():
        return None
    owner = np.full(problem.partition_count, NOBODY, dtype=np.int32)
    owner[problem.first[topic] + number] = lists.member_of
    return owner if np.count_nonzero(owner != NOBODY) == len(number) else None


def _is_of(problem: Problem, group: Group) -> bool:
    """Return whether the members are the same, with the same subscriptions, as in the problem.

    The cluster is: it changes with an event, after which nothing is kept.
    """
    topics = {member.member_id: member.topics for member in group.members}
    return topics == {member.member_id: member.topics for member in problem.members}


def _is_numbered_as(one: Problem, other: Problem) -> bool:
    """Return whether members and partitions have the same numbers in both problems."""
    if one is other:
        return True
    return (
        one.topics == other.topics
        and [member.member_id for member in one.members]
        == [member.member_id for member in other.members]
        and bool((one.first == other.first).all())
    )
