"""The sticky and the cooperative-sticky answer of a small group."""

from __future__ import annotations

from functools import partial

from assignors.assignor import UserData
from assignors.group_bytes.shares import AssignedShares
from assignors.model import Group
from assignors.optimal.small.answer import (
    needs_follow_up,
    shares_of,
    small_stats,
    waiting,
)
from assignors.optimal.small.best import best_owners
from assignors.optimal.small.claims import favoured_members, small_claims
from assignors.optimal.small.problem import PARTITIONS_MAX, by_topic, small_problem
from assignors.options import Options, Prefer
from assignors.problem import NOBODY
from assignors.rebalance import ComputedMapping, LazyFigures, Rebalance


def assign_small(
    group: Group,
    kind: UserData,
    options: Options = Options(),  # noqa: B008 - a value
    *,
    partitions_max: int = PARTITIONS_MAX,
) -> Rebalance | None:
    """Return the optimal assignment; `None` where the group wants arrays (`small_problem`).

    A search with a limit takes arrays as well.

    `UserData.STICKY` is the eager assignor, `UserData.COOPERATIVE` withholds what has to wait.
    Cost: O(P + claims), and that of `best_owners`.
    """
    if options.limit is not None:
        return None
    problem = small_problem(group, partitions_max=partitions_max)
    if problem is None:
        return None
    claims = small_claims(problem, group, kind)
    favoured = favoured_members(claims)
    target, changed = best_owners(
        problem, favoured, claims.held, moves_last=options.prefer is Prefer.SPREAD
    )
    withheld = waiting(claims, target, changed) if kind is UserData.COOPERATIVE else []
    given = _without(target, withheld) if withheld else target
    follow_up = bool(withheld) and needs_follow_up(claims, withheld)

    def stats() -> dict[str, int | float | bool]:
        figures = small_stats(
            problem, favoured=favoured, target=target, changed=changed, withheld=withheld
        )
        return {**figures, "follow_up": follow_up} if kind is UserData.COOPERATIVE else figures

    ids = problem.member_ids
    return Rebalance(
        assignment=AssignedShares(
            member_ids=ids,
            topics=problem.topics,
            first=problem.first,
            owner=given,
            compute=lambda: dict(zip(ids, shares_of(problem, claims, given, changed), strict=True)),
        ),
        withheld=ComputedMapping(partial(by_topic, problem.numbering, withheld))
        if withheld
        else {},
        follow_up=follow_up,
        notes=claims.notes,
        stats=LazyFigures(stats),
    )


def _without(target: list[int], withheld: list[int]) -> list[int]:
    """Return the target assignment in which nobody gets what is withheld."""
    given = target.copy()
    for partition in withheld:
        given[partition] = NOBODY
    return given
