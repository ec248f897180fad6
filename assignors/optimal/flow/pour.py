"""Hand out free partitions before anything is searched: no more than a good start.

Where nothing has to be given up for it, a free partition goes to a member that has room. Rows take
turns, those with the most partitions for each subscriber first, and members get parts in
proportion to their room. What rounding leaves goes to the members with the most room then, the
first ones of equal members. Where there is not one for everybody, members with the least of the row
come first: that leaves little to do for the spread of topics. The search corrects the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import sub

import numpy as np

from assignors.optimal.flow.table import Table, narrow
from assignors.problem import Bool, Int64


def pour(table: Table, unplaced: Int64, load: Int64, most: Int64, local: Bool) -> None:
    """Hand out free partitions in bulk where there is room, in proportion to the room.

    Rows with the most partitions for each subscriber go first: they have the least choice.
    `table`, `unplaced` and `load` change.
    """
    waiting = unplaced.nonzero()[0]
    if not len(waiting):
        return
    takers = local[waiting]
    crowding = unplaced[waiting] / np.maximum(np.add.reduce(takers, axis=1), 1)
    order = (-crowding).argsort(kind="stable")
    room = np.maximum(most - load, 0)
    waiting, takers = waiting[order], takers[order] & (room > 0)
    load += room
    for place, row in enumerate(waiting.tolist()):
        # Methods take half as long as functions: these are the calls of every row.
        members = takers[place].nonzero()[0]
        rooms = room[members]
        total, amount = int(rooms.sum()), int(unplaced[row])
        some, given = chosen_shares(rooms, amount, total, partial(table.counts, row, members))
        members = members[some]
        table.add(row, members, given)
        room[members] -= given
        unplaced[row] -= min(amount, total)
    load -= room


LEAST = -(1 << 62)


def shares_of(
    members: Sequence[int], room: Sequence[int], amount: int, has: Sequence[int]
) -> tuple[Sequence[int], list[int]]:
    """Return those of the members that get some of a row, and how much; nothing for others too.

    `room`, by member, is how much it can take, and `has` how much of the row each one has.
    """
    rooms = list(map(room.__getitem__, members))
    total = sum(rooms)
    if amount >= total:
        return members, rooms
    if amount * max(rooms) < total:  # there is not one for anybody, in proportion
        scale = max(rooms) + 1
        score = [
            room - scale * count if room else LEAST for room, count in zip(rooms, has, strict=True)
        ]
        return list(map(members.__getitem__, _roomiest(score, amount))), [1] * amount
    return members, _in_proportion(rooms, amount, total)


def _roomiest(room: list[int], count: int) -> list[int]:
    """Return the positions of so many that have most room, the first of those that have as much.

    >>> _roomiest([1, 3, 3, 2], 3), _roomiest([1, 2, 1, 2, 2, 1, 1], 5)
    ([1, 2, 3], [1, 3, 4, 0, 2])
    """
    return sorted(range(len(room)), key=room.__getitem__, reverse=True)[:count]


def _in_proportion(room: list[int], amount: int, total: int) -> list[int]:
    """Return the parts in proportion to the room, which is `total` in all, and what is left."""
    given = [one * amount // total for one in room]
    if rest := amount - sum(given):
        for place in _roomiest(list(map(sub, room, given)), rest):
            given[place] += 1
    return given


def _roomiest_of_many(room: Int64, most: int, count: int) -> Int64:
    """Return what `_roomiest` does, from an array without numbers above `most`.

    >>> _roomiest_of_many(np.array([1, 3, 3, 2]), 3, 3)
    array([1, 2, 3])
    """
    return narrow(most - room, most + 1).argsort(kind="stable")[:count]


def chosen_shares(
    room: Int64, amount: int, total: int, has: Callable[[], Int64]
) -> tuple[Int64, Int64]:
    """Return who gets some of what `share_many` splits, as positions, and how much.

    `total` is all room; `has` returns how much of the row each one has.

    >>> chosen_shares(np.array([2, 1, 0, 2, 1]), 2, 6, lambda: np.array([0, 0, 0, 1, 0]))
    (array([0, 1]), array([1, 1]))
    """
    if amount < total:
        most = int(room[room.argmax()])
        if amount * most < total:  # there is not one for anybody, in proportion
            counts = has()
            highest = int(counts.max()) * (most + 1) + most
            key = np.where(room > 0, counts * (most + 1) + most - room, highest + 1)
            best = narrow(key, highest + 2).argsort(kind="stable")[:amount]
            return best, np.ones(amount, dtype=np.int64)
    given = share_many(room, amount)
    some = given.nonzero()[0]
    return some, given[some]


def share_many(room: Int64, amount: int) -> Int64:
    """Split `amount` in proportion to `room`; what rounding leaves goes to the roomiest.

    >>> share_many(np.array([3, 1, 2]), 4)
    array([3, 0, 1])
    """
    total = int(np.add.reduce(room))  # a method `sum` calls it by two functions
    if amount >= total:
        return room
    most = int(room[room.argmax()])
    given = room * amount
    given //= total
    if not (rest := amount - int(np.add.reduce(given))):
        return given
    given[_roomiest_of_many(room - given, most, rest)] += 1
    return given
