"""Hand-over, figures and names of a small group: `handover`, `metrics` and `problem` on lists."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress
from operator import ne

from assignors.optimal.small.claims import SmallClaims
from assignors.optimal.small.problem import SmallProblem
from assignors.problem import NOBODY

Shares = list[dict[str, tuple[int, ...]]]
"""Topic -> numbers for each member, topics in their order, numbers ascending."""


def changed_partitions(favoured: list[int], target: list[int]) -> list[int]:
    """Return the partitions that do not stay with whom stickiness favours. Cost: O(P)."""
    if target is favoured:
        return []
    return list(compress(range(len(target)), map(ne, favoured, target)))


def waiting(claims: SmallClaims, target: list[int], changed: list[int]) -> list[int]:
    """Return the partitions that are withheld in this round, ascending.

    Cost: O(changes), O(P) where the claims of some member are not known.
    """
    claimed: Iterable[int] = range(len(target))
    if not claims.has_unknown:
        claimed = [partition for partition in changed if claims.claimant[partition] != NOBODY]
        if claims.contested:
            claimed = sorted({*claimed, *claims.contested})
    return [
        partition
        for partition in claimed
        if not _is_own_alone(claims, partition, target[partition])
    ]


def needs_follow_up(claims: SmallClaims, withheld: list[int]) -> bool:
    """Return whether a withheld partition has no claimant that must give it up and rejoins."""
    return any(
        not any(
            claims.may_count(partition, member) for member in _last_claimants(claims, partition)
        )
        for partition in withheld
    )


def shares_of(problem: SmallProblem, owner: list[int]) -> tuple[Shares, int]:
    """Return what each member holds, and `metrics.topic_spread_max` of it. Cost: O(P + T)."""
    shares: Shares = [{} for _ in problem.members]
    spread = 0
    for t, topic in enumerate(problem.topics):
        held: dict[int, list[int]] = {}
        for number, member in enumerate(owner[problem.first[t] : problem.first[t + 1]]):
            if member in held:
                held[member].append(number)
            else:
                held[member] = [number]
        if not held:  # a topic without partitions
            continue
        for member, numbers in held.items():
            shares[member][topic] = tuple(numbers)
        sizes = list(map(len, held.values()))
        least = min(sizes) if len(held) >= problem.subscriber_count(topic) else 0
        spread = max(spread, max(sizes) - least)
    return shares, spread


def take_out(
    problem: SmallProblem, shares: Shares, owner: list[int], withheld: list[int]
) -> dict[str, tuple[int, ...]]:
    """Take the withheld partitions out of the shares of `owner`; return them by topic."""
    by_topic: dict[str, tuple[int, ...]] = {}
    for t, topic in enumerate(problem.topics):
        begin, end = problem.first[t], problem.first[t + 1]
        here = [partition for partition in withheld if begin <= partition < end]
        if here:
            by_topic[topic] = tuple([partition - begin for partition in here])
        for partition in here:
            share = shares[owner[partition]]
            left = tuple([number for number in share[topic] if number != partition - begin])
            if left:
                share[topic] = left
            else:
                del share[topic]
    return by_topic


def small_stats(
    shares: Shares,
    *,
    favoured: list[int],
    changed: list[int],
    withheld_count: int,
    topic_spread_max: int,
) -> dict[str, int | float | bool]:
    """Return `metrics.stats`, where `shares` are those of this round. Cost: O(P)."""
    loads = [sum(map(len, share.values())) for share in shares]
    moved = len(changed) - [favoured[partition] for partition in changed].count(NOBODY)
    return {
        "member_count": len(shares),
        "partition_count": len(favoured),
        "load_max": max(loads),
        "load_min": min(loads),
        "load_square_sum": sum([load * load for load in loads]),
        "moved": moved,
        "kept": len(favoured) - len(changed),
        "withheld": withheld_count,
        "unassigned": withheld_count,  # every topic here has a subscriber
        "topic_spread_max": topic_spread_max,
        "rack_mismatches": 0,
    }


def _is_own_alone(claims: SmallClaims, partition: int, member: int) -> bool:
    """Return whether a member alone claims a partition with the group's last generation."""
    return _last_claimants(claims, partition) == [member]


def _last_claimants(claims: SmallClaims, partition: int) -> list[int]:
    """Return who claims a partition with the group's last generation."""
    if claims.last < 0:
        return []
    claimants = claims.contested.get(partition, (claims.claimant[partition],))
    return [m for m in claimants if m != NOBODY and claims.generation[m] == claims.last]
