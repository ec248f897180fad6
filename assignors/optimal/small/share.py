"""Balanced loads for a small group in which every member may take every partition.

The same answer as `optimal.quotas.share`, which explains it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from assignors.optimal.small.choice import deal, free_partitions, give_up, turns


class Placed(NamedTuple):
    """Who should hold each of P partitions."""

    owner: list[int]
    """P: the list of those whom stickiness favours itself, where nothing changes."""
    changed: list[int]
    """The partitions that do not stay with whom stickiness favours, ascending."""


def shared_owners(first: Sequence[int], favoured: list[int], member_count: int) -> Placed:
    """Return who should hold each partition; `favoured` has P entries, -1 for nobody.

    `first` has T + 1 entries, as in `SmallProblem`. Cost: O(P + M log M).

    >>> shared_owners([0, 4, 6], [0, 0, 0, 0, -1, -1], 2)
    Placed(owner=[0, 0, 0, 1, 1, 1], changed=[3, 4, 5])
    """
    count = [0] * (member_count + 1)
    for member in favoured:
        count[member] += 1
    nobody = count.pop()  # of `NOBODY`, -1
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
        return Placed(favoured, [])
    if nobody == len(favoured):
        return Placed(turns(gains), list(range(nobody)))
    answer = favoured.copy()
    free = give_up(first, [0] * (len(first) - 1), answer, {0: drops}) if drops else []
    free = free_partitions(answer, 0, len(answer)) if nobody else sorted(free)
    deal(answer, free, gains)
    return Placed(answer, free)
