"""Split partitions of one row among members in proportion to their room, on lists and on arrays.

What rounding leaves goes to those that have most room then, the first ones of those that have as
much. Both ways give the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import add, sub

import numpy as np

from assignors.optimal.flow.table import narrow
from assignors.problem import Int64

FINE = 16
"""Room for each row is counted in parts of a partition: products of it with partitions fit into 64
bits up to 700 million of these."""
PICKED_MIN = 5
"""So many of those with most room are found by sorting; fewer one by one."""


def shares_of(
    members: Sequence[int], room: Sequence[int], amount: int, left: list[int] | None
) -> tuple[Sequence[int], list[int]]:
    """Return those of the members that get some of a row, and how much; nothing for others too.

    `room` and `left` are by member: how much it can take, and how many rows are left from which it
    can, this one included; that is counted down.
    """
    if left is None:
        rooms = list(map(room.__getitem__, members))
        total = sum(rooms)
        if amount >= total:
            return members, rooms
        if amount * max(rooms) < total:
            return list(map(members.__getitem__, _roomiest(rooms, amount))), [1] * amount
        return members, _in_proportion(rooms, amount, total)
    chosen = [member for member in members if room[member]]
    rooms = [room[member] for member in chosen]
    lefts = [left[member] for member in chosen]
    for member, rows in zip(chosen, lefts, strict=True):
        left[member] = rows - 1
    return chosen, share_few(rooms, amount, lefts)


def _roomiest(room: list[int], count: int) -> list[int]:
    """Return the positions of so many that have most room, the first of those that have as much.

    >>> _roomiest([1, 3, 3, 2], 3), _roomiest([1, 2, 1, 2, 2, 1, 1], 5)
    ([1, 2, 3], [1, 3, 4, 0, 2])
    """
    if count >= PICKED_MIN:
        return sorted(range(len(room)), key=room.__getitem__, reverse=True)[:count]
    rest, found = room.copy(), []
    for _ in range(count):
        place = rest.index(max(rest))
        rest[place] = -1
        found.append(place)
    return found


def share_few(room: list[int], amount: int, left: list[int] | None = None) -> list[int]:
    """Return what `share_many` does, from lists.

    >>> share_few([3, 1, 2], 4)
    [3, 0, 1]
    """
    total = sum(room)
    if amount >= total:
        return room
    if left is not None:
        weight = [one * FINE // rows for one, rows in zip(room, left, strict=True)]
        total = sum(weight)
        first = list(map(min, room, [heavy * amount // total for heavy in weight]))
        if rest := amount - sum(first):
            return list(map(add, first, share_few(list(map(sub, room, first)), rest)))
        return first
    if amount * max(room) < total:  # then there is not one for anybody, in proportion
        given = [0] * len(room)
        for place in _roomiest(room, amount):
            given[place] = 1
        return given
    return _in_proportion(room, amount, total)


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


def chosen_shares(room: Int64, amount: int, total: int) -> tuple[Int64, Int64]:
    """Return who gets some of what `share_many` splits, as positions, and how much.

    `total` is all room.

    >>> chosen_shares(np.array([2, 1, 0, 2, 1]), 2, 6)
    (array([0, 3]), array([1, 1]))
    """
    if amount < total:
        most = int(room[room.argmax()])
        if amount * most < total:  # there is not one for anybody, in proportion
            return _roomiest_of_many(room, most, amount), np.ones(amount, dtype=np.int64)
    given = share_many(room, amount)
    some = given.nonzero()[0]
    return some, given[some]


def share_many(room: Int64, amount: int, left: Int64 | None = None) -> Int64:
    """Split `amount` in proportion to `room`; what rounding leaves goes to the roomiest.

    With `left`, of how many rows each can take a part, in proportion to the room for each of them:
    that is one row at least, and `FINE` at most, so that nobody's part is nothing.

    >>> share_many(np.array([3, 1, 2]), 4)
    array([3, 0, 1])
    >>> share_many(np.array([3, 2, 2]), 4, np.array([3, 2, 1]))
    array([1, 1, 2])
    """
    total = int(np.add.reduce(room))  # a method `sum` calls it by two functions
    if amount >= total:
        return room
    if left is not None:
        weight = room * FINE
        weight //= left
        total = int(np.add.reduce(weight))
        weight *= amount
        weight //= total
        first: Int64 = np.minimum(room, weight)
        if rest := amount - int(np.add.reduce(first)):
            first += share_many(room - first, rest)
        return first
    most = int(room[room.argmax()])
    if amount * most < total:  # there is not one for anybody, in proportion
        given = np.zeros(len(room), dtype=np.int64)
        given[_roomiest_of_many(room, most, amount)] = 1
        return given
    given = room * amount
    given //= total
    if not (rest := amount - int(np.add.reduce(given))):
        return given
    if rest == 1:
        given[(room - given).argmax()] += 1
    else:
        given[_roomiest_of_many(room - given, most, rest)] += 1
    return given
