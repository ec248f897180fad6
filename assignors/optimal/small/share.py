"""Balanced loads for a small group in which every member may take every partition.

The same answer as `optimal.quotas.share`, which explains it, choice by choice: which partitions
a member gives up (`partition_choice.given_up`) and who receives them (`receivers`).
"""

from __future__ import annotations

from assignors.optimal.small.problem import SmallProblem
from assignors.problem import NOBODY


def shared_owners(problem: SmallProblem, favoured: list[int]) -> list[int]:
    """Return who should hold each partition. Both lists have P entries, -1 for nobody.

    The list may be `favoured` itself, where nothing changes. Cost: O(P + M log M).
    """
    member_count = len(problem.members)
    count = [0] * (member_count + 1)  # the last one is nobody's
    for member in favoured:
        count[member] += 1
    nobody = count.pop()
    floor, spare = divmod(len(favoured), member_count)
    quota = [floor] * member_count
    if spare:
        richest = sorted(range(member_count), key=count.__getitem__, reverse=True)
        for member in richest[:spare]:
            quota[member] += 1
    excess = {
        member: held - due
        for member, (held, due) in enumerate(zip(count, quota, strict=True))
        if held > due
    }
    if not nobody and not excess:
        return favoured
    answer = favoured.copy()
    if excess:
        for partition in _given_up(problem, favoured, excess):
            answer[partition] = NOBODY
    gain = [
        (member, due - held)
        for member, (held, due) in enumerate(zip(count, quota, strict=True))
        if held < due
    ]
    partition = -1
    while gain:
        for member, _ in gain:
            partition = answer.index(NOBODY, partition + 1)
            answer[partition] = member
        gain = [(member, left - 1) for member, left in gain if left > 1]
    return answer


def _given_up(problem: SmallProblem, owner: list[int], excess: dict[int, int]) -> list[int]:
    """Return the partitions that members give up, so many of each as `excess` has."""
    held: dict[int, list[tuple[int, int]]] = {member: [] for member in excess}
    for begin, end in zip(problem.first, problem.first[1:], strict=False):
        height = dict.fromkeys(excess, 0)
        for partition in range(begin, end):
            member = owner[partition]
            if member in height:
                # How many partitions of the same topic come before this one.
                held[member].append((height[member], partition))
                height[member] += 1
    given_up = []
    turn = 0
    for member, drop in excess.items():
        heights = sorted([height for height, _ in held[member]], reverse=True)
        level = heights[drop - 1]
        above = [partition for height, partition in held[member] if height > level]
        tied = [partition for height, partition in held[member] if height == level]
        # Where the choice is between equals, each member starts where the one before it stopped.
        start = turn % len(tied)
        given_up += above + (tied[start:] + tied[:start])[: drop - len(above)]
        turn += drop
    return given_up
