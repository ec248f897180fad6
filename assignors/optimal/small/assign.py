"""The sticky and the cooperative-sticky answer of a small group."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import compress

import numpy as np

from assignors.assignor import UserData
from assignors.group_bytes.shares import AssignedShares
from assignors.metrics import stats
from assignors.model import Group
from assignors.optimal.small.best import best_owners
from assignors.optimal.small.claims import SmallClaims, favoured_members, small_claims
from assignors.optimal.small.problem import (
    PARTITIONS_MAX,
    NumberedShare,
    SmallProblem,
    by_topic,
    is_numbered,
    small_problem,
)
from assignors.options import Options, Prefer
from assignors.problem import NOBODY, problem_of
from assignors.rebalance import ComputedMapping, Figure, LazyFigures, Rebalance


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

    def figures() -> dict[str, Figure]:
        before, now, then = (np.array(owners, np.int32) for owners in (favoured, given, target))
        counted = stats(
            problem_of(group, with_racks=False), favoured=before, given=now, target=then
        )
        more: dict[str, Figure] = {"follow_up": follow_up}
        return {**counted, **more} if kind is UserData.COOPERATIVE else dict(counted)

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
        stats=LazyFigures(figures),
    )


def _without(target: list[int], withheld: list[int]) -> list[int]:
    """Return the target assignment in which nobody gets what is withheld."""
    given = target.copy()
    for partition in withheld:
        given[partition] = NOBODY
    return given


def waiting(claims: SmallClaims, target: list[int], changed: list[int]) -> list[int]:
    """Return the partitions that are withheld in this round, ascending.

    Cost: O(changes), O(P) where the claims of some member are not known.
    """
    if claims.held is not None and not any(claims.held.counts):
        return []
    claimed: Iterable[int] = range(len(target))
    if not claims.unknown:
        claimed = [partition for partition in changed if claims.claimant[partition] != NOBODY]
        if not claims.contested:  # each leaves its only claimant
            return claimed
        claimed = sorted({*claimed, *claims.contested})
    return [
        partition
        for partition in claimed
        if not _is_own_alone(claims, partition, target[partition])
    ]


def needs_follow_up(claims: SmallClaims, withheld: list[int]) -> bool:
    """Return whether a withheld partition has no claimant that must give it up and rejoins."""
    if claims.held is not None and claims.last >= 0:  # each has one claimant
        claimants = map(claims.claimant.__getitem__, withheld)
        return set(map(claims.generation.__getitem__, claimants)) != {claims.last}
    return any(
        not any(
            claims.may_count(partition, member) and member not in claims.unknown
            for member in _last_claimants(claims, partition)
        )
        for partition in withheld
    )


def shares_of(
    problem: SmallProblem, claims: SmallClaims, given: list[int], changed: Iterable[int]
) -> list[NumberedShare]:
    """Return what each member is given.

    `changed` are the partitions that do not stay with whom stickiness favours: a member that has
    none of them and was given what it has by the same numbering keeps that very mapping.
    Cost: O(P).
    """
    kept: dict[int, NumberedShare] = {}
    if claims.held is not None:
        touched = {given[partition] for partition in changed}
        touched.update([claims.claimant[partition] for partition in changed])
        numbering = problem.numbering
        for member, owned in enumerate(claims.held.owned):
            if member not in touched and is_numbered(owned, numbering):
                numbering = owned.numbering
                kept[member] = owned
    partitions: list[list[int]] = [[] for _ in range(len(problem.members) + 1)]
    is_fresh = [member not in kept for member in range(len(partitions))]
    fresh = compress(range(len(given)), map(is_fresh.__getitem__, given))
    for partition in fresh:
        partitions[given[partition]].append(partition)  # the last one is nobody's
    numbering = problem.numbering
    return [
        kept[member] if member in kept else NumberedShare(numbering, partitions[member])
        for member in range(len(problem.members))
    ]


def _is_own_alone(claims: SmallClaims, partition: int, member: int) -> bool:
    """Return whether a member alone claims a partition with the group's last generation."""
    return _last_claimants(claims, partition) == [member]


def _last_claimants(claims: SmallClaims, partition: int) -> list[int]:
    """Return who claims a partition with the group's last generation."""
    if claims.last < 0:
        return []
    claimants = claims.contested.get(partition, (claims.claimant[partition],))
    return [m for m in claimants if m != NOBODY and claims.generation[m] == claims.last]
