"""Who gets each partition of a small group, once it is known how many of which everybody gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from assignors.optimal.flow.effort import Effort
from assignors.optimal.quotas import equal_task
from assignors.optimal.small.problem import Held
from assignors.optimal.spread import Face, Levels, Table, Task, least_spread, levels_of, turns
from assignors.problem import NOBODY


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
    """Return who should hold each partition where every member may take every topic.

    `favoured` has P entries, -1 for nobody; `first` has T + 1, as in `SmallProblem`; `held` is what
    `favoured` says by member, where that is known. Cost: O(P + M log M), and that of
    `spread.least_spread`.

    >>> shared_owners([0, 4, 6], [0, 0, 0, 0, -1, -1], 2)
    Placed(owner=[0, 0, 0, 1, 1, 1], changed=[3, 4, 5])
    """
    count = _counted(favoured, member_count) if held is None else held.counts
    partition_count = len(favoured)
    if not any(count):
        in_turns = list(range(member_count)) * (partition_count // member_count + 1)
        return Placed(in_turns[:partition_count], list(range(partition_count)))
    face, task = equal_task(count, partition_count, moves_last=moves_last)
    is_settled = sum(count) == partition_count and not task.drops and task.extras >= 0
    if is_settled and not moves_last:
        return Placed(favoured, [])
    task = task._replace(free=free_counts(first, favoured), rows=range(len(first) - 1))
    return placed_by(first, favoured, member_count, face, [task])


def free_counts(first: Sequence[int], owner: Sequence[int]) -> dict[int, int]:
    """Return how many partitions nobody owns, of topics of which there are some."""
    counts = {
        topic: owner[begin:end].count(NOBODY) for topic, (begin, end) in enumerate(pairwise(first))
    }
    return {topic: count for topic, count in counts.items() if count}


def placed_by(
    first: Sequence[int],
    favoured: list[int],
    member_count: int,
    face: Face,
    tasks: Iterable[Task],
) -> Placed:
    """Return the answer with the least spread on the face, where tasks are to be done."""
    bounds = list(pairwise(first))

    def owned(topic: int) -> Levels:
        return levels_of(favoured[slice(*bounds[topic])], member_count)

    table = Table(
        member_count=member_count,
        owned=owned,
        topic=owned,
        change=lambda _: {},
    )
    begin = [topic for topic in range(len(bounds)) if face.may_lose(topic)]
    spread = least_spread(table, face, tasks=tasks, begin=begin, effort=Effort())
    answer, changed = favoured.copy(), []
    for topic, change in spread.change.items():
        start, end = bounds[topic]
        places = given_places(favoured[start:end], change)
        for place, member in zip(places, turns(change), strict=True):
            answer[start + place] = member
            changed.append(start + place)
    return Placed(answer, changed)


def given_places(owners: Sequence[int], change: Mapping[int, int]) -> list[int]:
    """Return which partitions of a row nobody owns or are given up, the last of each member.

    >>> given_places([0, 0, -1, 1, 0], {0: -2, 1: 3})
    [1, 2, 4]
    """
    places = _places(owners, NOBODY)
    for member, more in change.items():
        if more < 0:
            places += _places(owners, member)[more:]
    return sorted(places)


def _places(owners: Sequence[int], member: int) -> list[int]:
    """Return what a member owns; mostly little, so it is looked for by name."""
    found, place = [], -1
    for _ in range(owners.count(member)):
        place = owners.index(member, place + 1)
        found.append(place)
    return found


def _counted(favoured: Sequence[int], member_count: int) -> list[int]:
    """Return how many partitions each member has, M entries."""
    count = [0] * (member_count + 1)
    for member in favoured:
        count[member] += 1
    count.pop()  # of `NOBODY`, -1
    return count
