"""How good an assignment of a small group can be: `optimal.bounds.optimum` on lists."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from assignors.model import Assignment, Group
from assignors.optimal.bounds import Bound
from assignors.optimal.small.best import best_owners
from assignors.optimal.small.problem import SmallProblem, small_problem
from assignors.problem import NOBODY


def small_optimum(group: Group, held: Assignment) -> Bound | None:
    """Return the best any assignment can do; `None` where the group wants arrays.

    `held` is who has what now: partitions that exist, each with one subscriber of its topic.
    Cost: that of `best_owners`.

    >>> from assignors.model import Cluster, Member
    >>> members = (Member(member_id="a", topics=("t",)), Member(member_id="b", topics=("t",)))
    >>> group = Group(cluster=Cluster.of({"t": 4}), members=members)
    >>> small_optimum(group, {"a": {"t": (0, 1, 2, 3)}, "b": {}})
    Bound(load_square_sum=8, load_max=2, rack_mismatch_min=0, kept_max=2, moves_min=2, spread_min=8)
    """
    problem = small_problem(group)
    if problem is None:
        return None
    owner = _owners(problem, held)
    best, changed = best_owners(problem, owner)
    loads = Counter(best).values()
    kept = len(owner) - len(changed)
    return Bound(
        load_square_sum=sum([load * load for load in loads]),
        load_max=max(loads, default=0),
        rack_mismatch_min=0,
        kept_max=kept,
        moves_min=len(owner) - owner.count(NOBODY) - kept,
        spread_min=sum(
            [
                count * count
                for begin, end in pairwise(problem.first)
                for count in Counter(best[begin:end]).values()
            ]
        ),
    )


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
