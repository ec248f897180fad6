"""How good an assignment of a small group can be: `optimal.bounds.optimum` on lists."""

from __future__ import annotations

from assignors.model import Assignment, Group
from assignors.optimal.small.best import best_loads
from assignors.optimal.small.problem import SmallProblem, small_problem
from assignors.problem import NOBODY


def small_optimum(group: Group, held: Assignment) -> tuple[int, int] | None:
    """Return the least sum of squared loads, and with how few moves it can be had.

    `None` where the group wants arrays. `held` is who has what now: partitions that exist, each
    with one subscriber of its topic. Cost: that of `best_owners`, without the spread of topics.

    >>> from assignors.model import Cluster, Member
    >>> members = (Member(member_id="a", topics=("t",)), Member(member_id="b", topics=("t",)))
    >>> group = Group(cluster=Cluster.of({"t": 4}), members=members)
    >>> small_optimum(group, {"a": {"t": (0, 1, 2, 3)}, "b": {}})
    (8, 2)
    """
    problem = small_problem(group)
    if problem is None:
        return None
    owner = _owners(problem, held)
    loads, kept = best_loads(problem, owner)
    return sum([load * load for load in loads]), len(owner) - owner.count(NOBODY) - kept


def _owners(problem: SmallProblem, held: Assignment) -> list[int]:
    """Return who has each partition, -1 for nobody."""
    owner = [NOBODY] * problem.first[-1]
    place = problem.numbering.place
    for number, member in enumerate(problem.members):
        for topic, partitions in held[member.member_id].items():
            begin, _ = place[topic]
            for partition in partitions:
                owner[begin + partition] = number
    return owner
