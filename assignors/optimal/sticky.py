"""Sticky: the best possible balance, the fewest moves that reach it, and even topics.

The order of aims is Java's: loads as equal as the subscriptions allow, then racks, then
movement; the spread of topics comes last. Java's own assignor stops when no single move improves;
this one returns an optimum, which `solve` proves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from assignors.assignor import Assignor, UserData
from assignors.claims import Claims, claims_of, favoured_owners
from assignors.group_bytes.assignments import AssignedPartitions
from assignors.metrics import lazy_stats
from assignors.model import Group
from assignors.optimal.small.assign import assign_small
from assignors.optimal.solve import Solved, solve
from assignors.options import Options, Prefer
from assignors.problem import Int32, Int64, Problem, problem_of
from assignors.rebalance import Rebalance


def target_assignment(problem: Problem, favoured: Int32) -> Int32:
    """Return who should hold each partition, int32[P], when stickiness favours `favoured`.

    Cost: that of `solve`: O(P + M log M) for equal subscriptions.
    """
    return _solved(problem, favoured, None, Options()).owner


def place(problem: Problem, claims: Claims) -> tuple[Int32, Int32]:
    """Return whom stickiness favours and who should hold each partition, int32[P] each."""
    placed = place_within(problem, claims, options=Options())
    return placed.favoured(), placed.target


class Placed(NamedTuple):
    """What `place` returns, and more."""

    favoured: Callable[[], Int32]
    """Makes the array of those whom stickiness favours: figures alone are computed of it."""
    target: Int32
    kept: int
    """Partitions that stay with the owner whom stickiness favours."""
    changed: Int64
    """Those that are given to another member, ascending."""
    cut_off: Mapping[str, int | bool]
    """Figures if the limit of steps was too few: `limit_reached`, and how far from the best the
    answer is at most in each aim (`balance_gap_max`, `racks_gap_max`, `moves_gap_max`,
    `spread_gap_max`)."""


def place_within(problem: Problem, claims: Claims, *, options: Options) -> Placed:
    """Return what `place` does under options: the order of aims, and a limit of steps."""
    favoured = partial(favoured_owners, problem, claims)
    # Where each partition has one claimant, `solve` passes over those that do not subscribe.
    owner, owned_count = claims.claimant, claims.claim_count
    if owner is None:
        owner, owned_count = favoured(), None
    solved = _solved(problem, owner, owned_count, options)
    figures: dict[str, int | bool] = {}
    if not solved.is_best:
        figures = {
            "limit_reached": True,
            "balance_gap_max": solved.gap,
            "racks_gap_max": solved.racks_gap,
            "moves_gap_max": solved.moves_gap,
            "spread_gap_max": solved.spread_gap,
        }
    return Placed(favoured, solved.owner, solved.kept, solved.changed, figures)


def _solved(
    problem: Problem, favoured: Int32, owned_count: Int64 | None, options: Options
) -> Solved:
    return solve(
        first=problem.first,
        takes=problem.takes,
        class_of=problem.class_of,
        owner=favoured,
        owned_count=owned_count,
        rack=problem.rack,
        replica_set=problem.replica_set,
        replica_racks=problem.replica_racks,
        limit=options.limit,
        moves_last=options.prefer is Prefer.SPREAD,
    )


def assign(group: Group, *, options: Options = Options()) -> Rebalance:  # noqa: B008 - a value
    """Return the optimal eager assignment. Source: KIP-54.

    Small groups take lists (`small.assign`), others arrays; the answer is the same.

    >>> from assignors.model import Cluster, Member
    >>> members = (
    ...     Member(member_id="a", topics=("t",), owned={"t": (0, 1, 2, 3)}, generation=1),
    ...     Member(member_id="b", topics=("t",)),
    ... )
    >>> assign(Group(cluster=Cluster.of({"t": 4}), members=members)).assignment
    {'a': {'t': (0, 1)}, 'b': {'t': (2, 3)}}
    """
    answer = assign_small(group, UserData.STICKY, options)
    return answer or assign_by_arrays(group, options=options)


def assign_by_arrays(group: Group, *, options: Options = Options()) -> Rebalance:  # noqa: B008 - a value
    """Return the same assignment, computed on arrays whatever the size."""
    problem = problem_of(group)
    claims = claims_of(problem, group, UserData.STICKY)
    placed = place_within(problem, claims, options=options)
    return Rebalance(
        assignment=AssignedPartitions(problem, placed.target),
        notes=claims.notes,
        stats=lazy_stats(
            problem, favoured=placed.favoured, given=placed.target, more=placed.cut_off
        ),
    )


STICKY = Assignor(
    family="optimal",
    name="sticky",
    assign=assign,
    user_data=UserData.STICKY,
    configure=lambda options: partial(assign, options=options) if options.are_of_search else None,
    takes_arrays=True,
)
