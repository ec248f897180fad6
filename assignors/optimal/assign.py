"""The optimal answer for a group: claims, the best target, and what of it is safe now.

Small groups take lists, others arrays; the answer is the same. A call of numpy takes about a
microsecond however little it does, and a group takes a hundred of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import compress
from typing import Generic, NamedTuple

import numpy as np

from assignors.assignor import UserData
from assignors.claims import Claims, Owners, claims_of, favoured_owners
from assignors.group_bytes.assignments import Assigned, assigned
from assignors.handover import withhold
from assignors.metrics import stats
from assignors.model import Group, require_group
from assignors.optimal.small.best import best_owners
from assignors.optimal.small.claims import small_claims
from assignors.optimal.small.problem import (
    Held,
    NumberedShare,
    SmallProblem,
    by_topic,
    is_numbered,
    small_problem,
)
from assignors.optimal.solve import Solved, solve
from assignors.options import Options, Prefer
from assignors.problem import NOBODY, Int32, Problem, partitions_by_topic, problem_of
from assignors.rebalance import ComputedMapping, Figure, Rebalance


def target_assignment(problem: Problem, favoured: Int32) -> Int32:
    """Return who should hold each partition, int32[P], when stickiness favours `favoured`.

    Cost: that of `solve`: O(P + M log M) for equal subscriptions.
    """
    return solved(problem, favoured, Options()).owner


def solved(problem: Problem, favoured: Int32, options: Options) -> Solved:
    """Return the best assignment under options: the order of aims, and a limit of steps."""
    return solve(
        first=problem.first,
        takes=problem.takes,
        class_of=problem.class_of,
        owner=favoured,
        rack=problem.rack,
        replica_set=problem.replica_set,
        replica_racks=problem.replica_racks,
        limit=options.limit,
        moves_last=options.prefer is Prefer.SPREAD,
    )


def assign(group: Group, kind: UserData, options: Options) -> Rebalance:
    """Return the optimal assignment.

    `UserData.STICKY` is the eager assignor, `UserData.COOPERATIVE` withholds what has to wait.
    Cost: O(P + claims), and that of `solve`.
    """
    require_group(group)
    problem = small_problem(group)
    if problem is None:
        return assign_by_arrays(group, kind, options)
    return _assign_by_lists(problem, group, kind, options)


def assign_by_arrays(
    group: Group,
    kind: UserData,
    options: Options = Options(),  # noqa: B008 - a value
) -> Rebalance:
    """Return the same assignment, computed on arrays whatever the size."""
    problem = problem_of(group)
    claims = claims_of(problem, group, kind)
    favoured = favoured_owners(claims)
    found = solved(problem, favoured, options)
    changed = found.changed[claims.claimant[found.changed] != NOBODY]
    parts = _parts(claims, favoured, found.owner, changed.tolist(), kind)

    def figures() -> dict[str, Figure]:
        return _figures(problem, parts, gaps(found), kind)

    return Rebalance(
        assignment=assigned(problem, parts.given),
        withheld=ComputedMapping(partial(partitions_by_topic, problem, parts.withheld))
        if parts.withheld
        else {},
        follow_up=parts.follow_up,
        notes=claims.notes,
        stats=ComputedMapping(figures),
    )


def _assign_by_lists(
    problem: SmallProblem, group: Group, kind: UserData, options: Options
) -> Rebalance:
    """Return the assignment of a small group."""
    claims, held = small_claims(problem, group, kind)
    favoured = favoured_owners(claims)
    cut_off: Mapping[str, Figure] = {}
    if problem.has_racks or options.limit is not None:
        found = solved(problem_of(group), np.array(favoured, dtype=np.int32), options)
        target, changed, cut_off = found.owner.tolist(), found.changed.tolist(), gaps(found)
    else:
        is_moves_last = options.prefer is Prefer.SPREAD
        target, changed = best_owners(problem, favoured, held, moves_last=is_moves_last)
    parts = _parts(claims, favoured, target, changed, kind)

    def figures() -> dict[str, Figure]:
        return _figures(problem_of(group), parts, cut_off, kind)

    def shares() -> dict[str, NumberedShare]:
        owned = _shares(problem, claims, held, parts.given, changed)
        return dict(zip(problem.member_ids, owned, strict=True))

    return Rebalance(
        assignment=Assigned(
            member_ids=problem.member_ids,
            topics=problem.topics,
            first=problem.first,
            owner=parts.given,
            compute=shares,
        ),
        withheld=ComputedMapping(partial(by_topic, problem.numbering, parts.withheld))
        if parts.withheld
        else {},
        follow_up=parts.follow_up,
        notes=claims.notes,
        stats=ComputedMapping(figures),
    )


class _Parts(NamedTuple, Generic[Owners]):
    """The answer: a target and what of it is given now. Lists or arrays of P members."""

    favoured: Owners
    target: Owners
    given: Owners
    withheld: list[int]
    follow_up: bool


def _parts(
    claims: Claims[Owners], favoured: Owners, target: Owners, changed: list[int], kind: UserData
) -> _Parts[Owners]:
    """Return the answer; under the eager protocol all is given at once."""
    if kind is not UserData.COOPERATIVE:
        return _Parts(favoured, target, target, [], follow_up=False)
    return _Parts(favoured, target, *withhold(claims, target, changed))


def _figures(
    problem: Problem, parts: _Parts[Owners], more: Mapping[str, Figure], kind: UserData
) -> dict[str, Figure]:
    favoured, given, target = (
        np.array(owners, dtype=np.int32) for owners in (parts.favoured, parts.given, parts.target)
    )
    counted = stats(problem, favoured=favoured, given=given, target=target)
    last = {"follow_up": parts.follow_up} if kind is UserData.COOPERATIVE else {}
    return {**counted, **more, **last}


def gaps(found: Solved) -> dict[str, Figure]:
    """Return how far from the best an answer is at most, if the limit of steps was too few."""
    if found.is_best:
        return {}
    return {
        "limit_reached": True,
        "balance_gap_max": found.gap,
        "racks_gap_max": found.racks_gap,
        "moves_gap_max": found.moves_gap,
        "spread_gap_max": found.spread_gap,
    }


def _shares(
    problem: SmallProblem,
    claims: Claims[list[int]],
    held: Held | None,
    given: list[int],
    changed: Iterable[int],
) -> list[NumberedShare]:
    """Return what each member is given.

    `changed` are the partitions that do not stay with whom stickiness favours: a member that has
    none of them and was given what it has by the same numbering keeps that very mapping.
    Cost: O(P).
    """
    kept: dict[int, NumberedShare] = {}
    numbering = problem.numbering
    if held is not None:
        touched = {given[partition] for partition in changed}
        touched.update([claims.claimant[partition] for partition in changed])
        for member, owned in enumerate(held.owned):
            if member not in touched and is_numbered(owned, numbering):
                numbering = owned.numbering
                kept[member] = owned
    partitions: list[list[int]] = [[] for _ in range(len(problem.members) + 1)]
    is_fresh = [member not in kept for member in range(len(partitions))]
    for partition in compress(range(len(given)), map(is_fresh.__getitem__, given)):
        partitions[given[partition]].append(partition)  # the last one is nobody's
    return [
        kept[member] if member in kept else NumberedShare(problem.numbering, partitions[member])
        for member in range(len(problem.members))
    ]
