"""The least that was possible: the best balance, and the fewest moves of an assignment that has it.

Two bounds cost no search. Nothing is more equal than the mean load, rounded up or down, for every
member that may take something; and of assignments with those loads none keeps more than the sum
of min(owned, load), the larger loads given to those that own more. Where every member may take
everything both bounds are reached. Elsewhere an assignment that reaches them is its own proof, as
a good assignor's is after most events. Only where it does not is the optimum computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assignors.metrics import loads
from assignors.optimal.bounds import optimum
from assignors.problem import NOBODY, Bool, Int32, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Least:
    """What no assignment of a group can do better."""

    load_square_sum: int
    """The smallest sum of squared partition counts."""
    moves_min: int
    """The fewest partitions that leave a member that may keep them, among assignments with it."""


def least(problem: Problem, before: Int32, after: Int32) -> Least:
    """Return the least that is possible for members that hold `before`.

    `before` is int32[P], of members that may keep what they hold; `after`, int32[P], is any
    assignment: the better it is, the sooner the answer is known. Cost: O(P + M log M), or that
    of `optimal.bounds.optimum`.

    >>> from assignors.model import Cluster, Group, Member
    >>> from assignors.problem import problem_of
    >>> members = (Member(member_id="a", topics=("t",)), Member(member_id="b", topics=("t",)))
    >>> problem = problem_of(Group(cluster=Cluster.of({"t": 4}), members=members))
    >>> nothing = np.full(4, NOBODY, dtype=np.int32)
    >>> least(problem, np.zeros(4, dtype=np.int32), after=nothing)
    Least(load_square_sum=8, moves_min=2)
    """
    found = without_search(problem, before, after)
    if found is not None:
        return found
    best = optimum(problem.first, problem.takes, problem.class_of, before)
    return Least(load_square_sum=best.load_square_sum, moves_min=best.moves_min)


def without_search(problem: Problem, before: Int32, after: Int32) -> Least | None:
    """Return `least` where the bounds at the head of this module prove it, else `None`."""
    asked = problem.takes[:, np.diff(problem.first) > 0]
    takes_some: Bool = np.any(asked, axis=1)
    active_count = int(np.count_nonzero(takes_some[problem.class_of]))
    if not active_count:
        return Least(load_square_sum=0, moves_min=0)
    floor, spare = divmod(problem.partition_count, active_count)
    held = loads(problem, before)
    kept_max = int(np.minimum(held, floor).sum()) + min(spare, int(np.count_nonzero(held > floor)))
    bound = Least(
        load_square_sum=active_count * floor * floor + spare * (2 * floor + 1),
        moves_min=int(held.sum()) - kept_max,
    )
    takes_all: Bool = np.all(asked, axis=1)
    if (takes_some == takes_all).all() or _reaches(problem, before, after, bound):
        return bound
    return None


def _reaches(problem: Problem, before: Int32, after: Int32, bound: Least) -> bool:
    """Return whether `after` is complete, allowed, and as good as `bound`."""
    held = loads(problem, after)
    return (
        bool((after != NOBODY).all())
        and int(held @ held) == bound.load_square_sum
        and int(np.count_nonzero((before != NOBODY) & (before != after))) == bound.moves_min
        and bool(problem.may_take(after, np.arange(len(after))).all())
    )
