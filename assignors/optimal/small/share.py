"""Balanced loads for a small group in which every member may take every partition.

The same answer as `optimal.quotas.share`, which explains it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assignors.optimal.small.choice import deal, free_partitions, give_up, turns
from assignors.problem import NOBODY


def shared_owners(first: Sequence[int], favoured: list[int], member_count: int) -> list[int]:
    """Return who should hold each partition. Both lists have P entries, -1 for nobody.

    `first` has T + 1 entries, as in `SmallProblem`. The list may be `favoured` itself, where
    nothing changes. Cost: O(P + M log M).

    >>> shared_owners([0, 4, 6], [0, 0, 0, 0, -1, -1], 2)
    [0, 0, 0, 1, 1, 1]
    """
    counted = Counter(favoured)
    count = [counted[member] for member in range(member_count)]
    nobody = counted[NOBODY]
    floor, spare = divmod(len(favoured), member_count)
    quota = [floor] * member_count
    if spare:
        richest = sorted(range(member_count), key=count.__getitem__, reverse=True)
        for member in richest[:spare]:
            quota[member] += 1
    drops = {}
    gains = {}
    for member, (held, due) in enumerate(zip(count, quota, strict=True)):
        if held > due:
            drops[member] = held - due
        elif held < due:
            gains[member] = due - held
    if not nobody and not drops:
        return favoured
    if nobody == len(favoured):
        return turns(gains)
    answer = favoured.copy()
    if drops:
        give_up(first, [0] * (len(first) - 1), answer, {0: drops})
    deal(answer, free_partitions(answer, 0, len(answer)), gains)
    return answer
