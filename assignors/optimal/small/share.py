"""Balanced loads for a small group in which every member may take every partition.

The same answer as `optimal.quotas.share`, which explains it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from assignors.optimal.faces import equal_face, set_of
from assignors.optimal.flow.effort import Effort
from assignors.optimal.small.choice import (
    deal,
    few_free_partitions,
    free_partitions,
    give_up,
    highest,
)
from assignors.optimal.small.problem import Held, lists_by_topic
from assignors.optimal.spread import Face, Table, distributed, improve
from assignors.problem import NOBODY

FEW = 8
"""Of so many partitions at most one is nobody's where they are searched."""


class Placed(NamedTuple):
    """Who should hold each of P partitions."""

    owner: list[int]
    """P: the list of those whom stickiness favours itself, where nothing changes."""
    changed: list[int]
    """The partitions that do not stay with whom stickiness favours, ascending."""


def shared_owners(
    first: Sequence[int],
    favoured: list[int],
    member_count: int,
    held: Held | None = None,
    *,
    moves_last: bool = False,
) -> Placed:
    """Return who should hold each partition; `favoured` has P entries, -1 for nobody.

    `first` has T + 1 entries, as in `SmallProblem`; `held` is what `favoured` says by member, where
    that is known. Cost: O(P + M log M), and that of `spread.improve`.

    >>> shared_owners([0, 4, 6], [0, 0, 0, 0, -1, -1], 2)
    Placed(owner=[0, 0, 0, 1, 1, 1], changed=[3, 4, 5])
    """
    count = _counted(favoured, member_count) if held is None else held.counts
    partition_count = len(favoured)
    nobody = partition_count - sum(count)
    floor, spare = divmod(partition_count, member_count)
    if nobody == partition_count:
        in_turns = list(range(member_count)) * (floor + 1)
        return Placed(in_turns[:partition_count], list(range(partition_count)))
    quota = [floor] * member_count
    if spare:
        richest = sorted(range(member_count), key=count.__getitem__, reverse=True)
        for member in richest[:spare]:
            quota[member] += 1
    drops = {}
    gains = {}
    for member, has, due in zip(range(member_count), count, quota, strict=True):
        if has > due:
            drops[member] = has - due
        elif has < due:
            gains[member] = due - has
    if not nobody and not drops and not moves_last:
        return Placed(favoured, [])
    answer = favoured.copy()
    free = _given_up(first, answer, drops, held) if drops else []
    if not nobody:
        free.sort()
    elif FEW * (nobody + len(free)) <= partition_count:
        free = few_free_partitions(answer, nobody + len(free))
    else:
        free = free_partitions(answer, 0, partition_count)
    deal(answer, free, gains)
    rich = set_of([member for member, has in enumerate(count) if has > floor])
    face = equal_face(
        rich=rich,
        full=set_of([member for member, due in enumerate(quota) if due > floor]),
        receivers=set_of(gains),
        everybody=(1 << member_count) - 1,
        spare=spare,
        moves_last=moves_last,
    )
    return improved(first, favoured, answer, free, face, member_count)


def improved(
    first: Sequence[int],
    favoured: list[int],
    answer: list[int],
    changed: list[int],
    face: Face,
    member_count: int,
) -> Placed:
    """Return the answer with the least spread on the face; `answer` changes."""
    bounds = list(pairwise(first))
    table = Table(
        owners=lambda topic: favoured[slice(*bounds[topic])],
        holders=lambda topic: answer[slice(*bounds[topic])],
        rows_with=lambda _: range(len(bounds)),
    )
    better = improve(table, face, range(len(bounds)), member_count, Effort())
    if not better.rows:
        return Placed(answer, changed)
    for topic, (placed, owned) in better.rows.items():
        begin, end = bounds[topic]
        answer[begin:end] = distributed(favoured[begin:end], placed, owned)
    pairs = enumerate(zip(favoured, answer, strict=True))
    return Placed(answer, [partition for partition, (had, has) in pairs if had != has])


def _counted(favoured: Sequence[int], member_count: int) -> list[int]:
    """Return how many partitions each member has, M entries."""
    count = [0] * (member_count + 1)
    for member in favoured:
        count[member] += 1
    count.pop()  # of `NOBODY`, -1
    return count


def _given_up(
    first: Sequence[int], answer: list[int], drops: Mapping[int, int], held: Held | None
) -> list[int]:
    """Take as many partitions from members as `drops` has; return them, in any order."""
    if held is None:
        return give_up(first, [0] * (len(first) - 1), answer, {0: drops})
    given: list[int] = []
    numbering = held.numbering
    begin_of = dict(zip(numbering.topics, numbering.first, strict=False))
    for member, drop in drops.items():
        owned = held.owned[member]
        if drop == 1 and type(owned) is dict:
            given.append(_last_of_longest(begin_of, owned, len(given)))
        else:
            lists = lists_by_topic(numbering, begin_of, owned)
            given += highest(lists, drop, turn=len(given))
    for partition in given:
        answer[partition] = NOBODY
    return given


def _last_of_longest(
    begin_of: Mapping[str, int], owned: Mapping[str, Sequence[int]], turn: int
) -> int:
    """Return what `choice.highest` does for one partition: in a third of the time."""
    height = max(map(len, owned.values()))
    ends = sorted(
        [
            begin_of[topic] + max(numbers)
            for topic, numbers in owned.items()
            if len(numbers) == height
        ]
    )
    return ends[turn % len(ends)]
