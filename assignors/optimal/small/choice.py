"""Which partitions members give up, and who receives the free ones, on lists.

The same choices as those of `optimal.partition_choice`, which explains them (`given_up`,
`receivers`). A row is a set of topics that the same members may take.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from assignors.problem import NOBODY

Amounts = Mapping[int, Mapping[int, int]]
"""Row -> member -> how many partitions, at least one; rows and members ascend."""


def give_up(
    first: Sequence[int], row_of: Sequence[int], answer: list[int], drops: Amounts
) -> list[int]:
    """Take as many partitions of each row from members as `drops` has: those become nobody's.

    `first` has T + 1 entries: partitions of topic t are first[t]:first[t + 1]; `row_of` has the
    row of each topic, and `answer` the owner of each partition. Returns the partitions, in any
    order. Cost: O(P + D log D) for the D partitions that these members have of these rows.

    >>> owner = [0, 0, 0, 1]
    >>> give_up([0, 3, 4], [0, 0], owner, {0: {0: 2}})
    [1, 2]
    >>> owner
    [0, -1, -1, 1]
    """
    held: dict[int, dict[int, list[list[int]]]] = {
        row: {member: [] for member in members} for row, members in drops.items()
    }
    for row, begin, end in zip(row_of, first, first[1:], strict=False):
        if row not in held:
            continue
        of_topic: dict[int, list[int]] = {member: [] for member in held[row]}
        for partition, member in enumerate(answer[begin:end], begin):
            if member in of_topic:
                of_topic[member].append(partition)
        for member, partitions in of_topic.items():
            if partitions:
                held[row][member].append(partitions)
    given: list[int] = []
    for row, members in drops.items():
        for member, drop in members.items():
            given += highest(held[row][member], drop, turn=len(given))
    for partition in given:
        answer[partition] = NOBODY
    return given


def deal(answer: list[int], free: Iterable[int], gains: Mapping[int, int]) -> None:
    """Give the free partitions to members in turns, so many to each as `gains` has.

    >>> owner = [-1, -1, -1]
    >>> deal(owner, range(3), {4: 2, 7: 1})
    >>> owner
    [4, 7, 4]
    """
    for partition, member in zip(free, turns(gains), strict=False):
        answer[partition] = member


def turns(gains: Mapping[int, int]) -> list[int]:
    """Return the members in turns, each as often as `gains` has.

    >>> turns({4: 2, 7: 1})
    [4, 7, 4]
    """
    listed = list(gains)
    amounts = set(gains.values())
    if len(amounts) == 1:
        return listed * amounts.pop()
    taken: list[int] = []
    for turn in range(max(gains.values(), default=0)):
        if turn:
            listed = [member for member in listed if gains[member] > turn]
        taken += listed
    return taken


def free_partitions(answer: list[int], begin: int, end: int) -> list[int]:
    """Return the partitions from `begin` to before `end` that are nobody's. Cost: O(end - begin).

    >>> free_partitions([-1, 4, -1, -1], 0, 3)
    [0, 2]
    """
    return [begin + place for place, member in enumerate(answer[begin:end]) if member < 0]


def few_free_partitions(answer: list[int], count: int) -> list[int]:
    """Return the partitions that are nobody's, so many: faster where it is one of eight or fewer.

    >>> few_free_partitions([-1, 4, -1], 2)
    [0, 2]
    """
    found, place = [], -1
    for _ in range(count):
        place = answer.index(NOBODY, place + 1)
        found.append(place)
    return found


def highest(held: Sequence[Sequence[int]], drop: int, turn: int) -> list[int]:
    """Return the `drop` partitions that most others of their topic come before.

    `held` are the partitions of each topic.
    """
    if len(held) == 1:
        return list(held[0][-drop:])
    height = max(map(len, held)) - 1
    above: list[int] = []
    if drop > 1:
        heights = sorted(chain.from_iterable(map(range, map(len, held))))
        height = heights[-drop]
        above = [partition for partitions in held for partition in partitions[height + 1 :]]
    tied = [partitions[height] for partitions in held if len(partitions) > height]
    return above + in_turn(tied, drop - len(above), turn)


def in_turn(tied: list[int], count: int, turn: int) -> list[int]:
    """Return so many of some partitions that are equally good to give up.

    Each member starts where the one before it stopped.
    """
    start = turn % len(tied)
    return (tied[start:] + tied[:start])[:count]
