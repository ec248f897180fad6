"""Hand-over, figures and names of a small group: `handover`, `metrics` and `problem` on lists."""

from __future__ import annotations

from collections import Counter
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


def shares_of(problem: SmallProblem, owner: list[int]) -> Shares:
    """Return what each member holds. Cost: O(P + T)."""
    shares: Shares = [{} for _ in problem.members]
    for t, topic in enumerate(problem.topics):
        several: dict[int, list[int]] = {}  # numbers of members that have two or more
        for number, member in enumerate(owner[problem.first[t] : problem.first[t + 1]]):
            share = shares[member]
            if topic not in share:
                share[topic] = (number,)
            elif member in several:
                several[member].append(number)
            else:
                several[member] = [*share[topic], number]
        for member, numbers in several.items():
            shares[member][topic] = tuple(numbers)
    return shares


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
    moved = len(changed) - [favoured[partition] for partition in changed].count(NOBODY)
    return {
        "member_count": len(loads),
        "partition_count": len(favoured),
        "load_max": max(loads),
        "load_min": min(loads),
        "load_square_sum": sum([load * load for load in loads]),
        "moved": moved,
        "kept": len(favoured) - len(changed),
        "withheld": len(withheld),
        "unassigned": len(withheld),  # every topic here has a subscriber
        "topic_spread_max": _topic_spread_max(problem, target),
        "rack_mismatches": 0,
    }


def _topic_spread_max(problem: SmallProblem, owner: list[int]) -> int:
    """Return `metrics.topic_spread_max`."""
    spread = 0
    for t, topic in enumerate(problem.topics):
        sizes = Counter(owner[problem.first[t] : problem.first[t + 1]]).values()
        if sizes:  # else a topic without partitions
            least = min(sizes) if len(sizes) >= problem.subscriber_count(topic) else 0
            spread = max(spread, max(sizes) - least)
    return spread


def _is_own_alone(claims: SmallClaims, partition: int, member: int) -> bool:
    """Return whether a member alone claims a partition with the group's last generation."""
    return _last_claimants(claims, partition) == [member]


def _last_claimants(claims: SmallClaims, partition: int) -> list[int]:
    """Return who claims a partition with the group's last generation."""
    if claims.last < 0:
        return []
    claimants = claims.contested.get(partition, (claims.claimant[partition],))
    return [m for m in claimants if m != NOBODY and claims.generation[m] == claims.last]
