"""Hand-over, figures and names of a small group: `handover`, `metrics` and `problem` on lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import compress

from assignors.optimal.small.claims import SmallClaims
from assignors.optimal.small.problem import (
    NumberedShare,
    SmallProblem,
    is_numbered,
)
from assignors.problem import NOBODY


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


def small_stats(
    problem: SmallProblem,
    *,
    favoured: list[int],
    target: list[int],
    changed: list[int],
    withheld: list[int],
) -> dict[str, int | float | bool]:
    """Return `metrics.stats` of `target`, of which `withheld` waits. Cost: O(P + T)."""
    held = Counter(target)
    held.subtract([target[partition] for partition in withheld])
    loads = [held[member] for member in range(len(problem.members))]
    left = {*changed, *withheld}
    moved = len(left) - [favoured[partition] for partition in left].count(NOBODY)
    spread, spread_max = _topic_spread(problem, target)
    return {
        "member_count": len(loads),
        "partition_count": len(favoured),
        "load_max": max(loads),
        "load_min": min(loads),
        "load_square_sum": sum([load * load for load in loads]),
        "moved": moved,
        "kept": len(favoured) - len(left),
        "withheld": len(withheld),
        "unassigned": len(withheld),  # every topic here has a subscriber
        "topic_spread": spread,
        "topic_spread_max": spread_max,
        "rack_mismatches": 0,
    }


def _topic_spread(problem: SmallProblem, owner: list[int]) -> tuple[int, int]:
    """Return `metrics.topic_spread`."""
    square_sum = widest = 0
    for t, topic in enumerate(problem.topics):
        sizes = Counter(owner[problem.first[t] : problem.first[t + 1]]).values()
        if sizes:  # else a topic without partitions
            square_sum += sum([size * size for size in sizes])
            least = min(sizes) if len(sizes) >= problem.subscriber_count(topic) else 0
            widest = max(widest, max(sizes) - least)
    return square_sum, widest


def _is_own_alone(claims: SmallClaims, partition: int, member: int) -> bool:
    """Return whether a member alone claims a partition with the group's last generation."""
    return _last_claimants(claims, partition) == [member]


def _last_claimants(claims: SmallClaims, partition: int) -> list[int]:
    """Return who claims a partition with the group's last generation."""
    if claims.last < 0:
        return []
    claimants = claims.contested.get(partition, (claims.claimant[partition],))
    return [m for m in claimants if m != NOBODY and claims.generation[m] == claims.last]
