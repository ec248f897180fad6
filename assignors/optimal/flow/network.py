"""The flow network: how many partitions of each row every member has so far.

The network has a node for each row, one for each member, and a hub. A row supplies its
partitions. A member must absorb `least` of them and may pass `optional` more on to the hub,
which absorbs `spare` of those: that is how "every member gets the floor, and this many of
them one more" is expressed without deciding who. The arc from a row to a member costs

    -1   while the member has less of the row than it owns: one partition regained,
     0   beyond that: a partition that is new to it,

and the way back costs the opposite: +1 for giving up one it owns. In a cell whose member has
no replica of the row in its rack, a partition costs `rack` more, which outweighs any number
of moves.

The search starts where nothing moves: every member keeps what it owns (but nothing remote). No
arc has a negative cost then, so this is the cheapest flow for what it delivers, and sending
free partitions over arcs of cost 0 keeps it so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import add, sub

import numpy as np

from assignors.optimal.flow.kinds import ROWS_MAX, pour_by_kind
from assignors.optimal.flow.table import Table, narrow
from assignors.problem import Bool, Int64
from wire.constructors import unchecked

FINE = 16
"""Room for each row is counted in parts of a partition: products of it with partitions fit into 64
bits up to 700 million of these."""
COUNTED_ROWS_MAX = FINE
"""Up to so many rows it is counted of how many rows left a member can take some. Measured with
fresh groups: 100 members with a random half of 10 topics leave none of 1,000 partitions to the
search rather than 37, and are solved in 0.77 of the time; 1,000 with half of 100 take 1.3 times
as long as without."""
FEW = 48
"""Members that take a row, on the average, up to which plain Python is faster than numpy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A flow that is the cheapest for what it delivers. R rows, M members; arrays change."""

    table: Table
    """Partitions of each row that members own, 0 where not allowed, and have now."""
    allowed: Bool
    """bool[R, M]."""
    remote: Bool | None
    """bool[R, M]: cells that cost a rack; `None` where there are none."""
    least: Int64
    """int64[M]: what the member must get."""
    optional: Int64
    """int64[M]: what it may get beyond."""
    unplaced: Int64
    """int64[R]: partitions of the row that nobody has."""
    load: Int64
    """int64[M]: what the member has of all rows."""
    extra: Int64
    """int64[M]: how much of `load` goes on to the hub, at most `optional`."""
    surplus: Int64
    """int64[M]: how much of `load` the member cannot hold: load - least - extra, if positive."""
    hub_room: Int64
    """int64[1]: what the hub can still absorb; negative where it has too much."""

    @property
    def is_settled(self) -> bool:
        """Whether everything supplied has been absorbed."""
        return not (self.unplaced.any() or self.surplus.any() or self.hub_room[0] < 0)


_network = unchecked(Network)


def start(
    *,
    size: Int64,
    table: Table,
    allowed: Bool,
    remote: Bool | None,
    least: Int64,
    optional: Int64,
    spare: int,
    sums: tuple[Int64, Int64] | None = None,
) -> Network:
    """Return the network that goes on from `table`, with free partitions poured.

    `size` is int64[R], partitions in each row; `table` is the cheapest for the loads that it
    has, for example what members own, and is changed. `sums` are those of the table, where they
    are known. Nothing remote is kept. Cost: O(R M).
    """
    if remote is not None:
        table.give_back(remote)
    by_row, load = table.sums() if sums is None or remote is not None else sums
    unplaced = size - by_row
    assert (unplaced >= 0).all(), "more partitions are owned than there are"
    if remote is not None and len(size) <= ROWS_MAX:
        pour_by_kind(
            table=table,
            unplaced=unplaced,
            load=load,
            least=least,
            optional=optional,
            spare=spare,
            local=allowed & ~remote,
        )
    else:
        local = allowed if remote is None else allowed & ~remote
        _pour(table, unplaced, load, least + optional, local)
    extra = np.minimum(np.maximum(load - least, 0), optional)
    return _network(
        table=table,
        allowed=allowed,
        remote=remote,
        least=least,
        optional=optional,
        unplaced=unplaced,
        load=load,
        extra=extra,
        surplus=np.maximum(load - least - extra, 0),
        hub_room=np.array([spare - int(extra.sum())], dtype=np.int64),
    )


def _pour(table: Table, unplaced: Int64, load: Int64, most: Int64, local: Bool) -> None:
    """Hand out free partitions in bulk where there is room, in proportion to the room.

    Rows with the most partitions for each subscriber go first: they have the least choice. Where
    most partitions are free, members that can take few of the rows left get more of each.
    This is no more than a good start; the search corrects what it gets wrong.
    """
    waiting = unplaced.nonzero()[0]
    if not len(waiting):
        return
    taker_count = local[waiting].sum(axis=1)
    crowding = unplaced[waiting] / np.maximum(taker_count, 1)
    waiting = waiting[(-crowding).argsort(kind="stable")]
    room = np.maximum(most - load, 0)
    left: Int64 | None = None
    if is_worth_counting(int(unplaced.sum()), int(load.sum()), len(waiting)):
        left = local[waiting].sum(axis=0)
    if int(taker_count.sum()) <= FEW * len(waiting):
        _pour_few(
            table=table,
            unplaced=unplaced,
            load=load,
            room=room,
            left=left,
            takers=local[waiting],
            waiting=waiting,
        )
        return
    load += room
    for row, amount in zip(waiting.tolist(), unplaced[waiting].tolist(), strict=True):
        # Methods take half as long as functions: these are the calls of every row.
        members = local[row].nonzero()[0]
        rooms = room[members]
        total = int(rooms.sum())
        if left is None:
            some, given = chosen_shares(rooms, amount, total)
        else:
            given = share_many(rooms, amount, left[members])
            left[members] -= 1
            some = given.nonzero()[0]
            given = given[some]
        members = members[some]
        table.add(row, members, given)
        room[members] -= given
        unplaced[row] -= min(amount, total)
    load -= room


def _pour_few(
    *,
    table: Table,
    unplaced: Int64,
    load: Int64,
    room: Int64,
    left: Int64 | None,
    takers: Bool,
    waiting: Int64,
) -> None:
    """Do what `_pour` does for these rows, one number at a time: faster if few members take them.

    Two members in each of 50 rows: 0.06 ms rather than 0.6 ms.
    """
    (_, cells), rooms, width = table.views(), room.tolist(), len(load)
    lefts = None if left is None else left.tolist()
    for row, members in zip(waiting.tolist(), _members_of(takers), strict=True):
        chosen, given = shares_of(members, rooms, int(unplaced[row]), lefts)
        begin = row * width
        for member, amount in zip(chosen, given, strict=True):
            if amount:
                cells[begin + member] += amount
                rooms[member] -= amount
        unplaced[row] -= sum(given)
    load += room - rooms


def _members_of(table: Bool) -> list[list[int]]:
    """Return the columns that are set in each row."""
    columns = table.nonzero()[1].tolist()
    ends = np.cumsum(table.sum(axis=1)).tolist()
    return [columns[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


def is_worth_counting(free: int, placed: int, row_count: int) -> bool:
    """Return whether most partitions are free, and few rows have them.

    Where fewer are free, or in more rows, it takes longer to hand out well than to correct it.
    """
    return row_count <= COUNTED_ROWS_MAX and free > placed


def shares_of(
    members: Iterable[int], room: Sequence[int], amount: int, left: list[int] | None
) -> tuple[list[int], list[int]]:
    """Return those of the members that have room, and how much of a row each gets.

    `room` and `left` are by member: how much it can take, and how many rows are left from which it
    can, this one included; that is counted down.
    """
    chosen = [member for member in members if room[member]]
    rooms = [room[member] for member in chosen]
    if left is None:
        return chosen, share_few(rooms, amount)
    lefts = [left[member] for member in chosen]
    for member, rows in zip(chosen, lefts, strict=True):
        left[member] = rows - 1
    return chosen, share_few(rooms, amount, lefts)


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
        given, rest, roomiest = [0] * len(room), amount, room
    else:
        given = [one * amount // total for one in room]
        rest, roomiest = amount - sum(given), list(map(sub, room, given))
    if rest:
        for place in sorted(range(len(room)), key=roomiest.__getitem__, reverse=True)[:rest]:
            given[place] += 1
    return given


def chosen_shares(room: Int64, amount: int, total: int) -> tuple[Int64, Int64]:
    """Return who gets some of what `share_many` splits, as positions, and how much.

    `total` is all room.

    >>> chosen_shares(np.array([2, 1, 0, 2, 1]), 2, 6)
    (array([0, 3]), array([1, 1]))
    """
    if amount < total:
        most = int(room[room.argmax()])
        if amount * most < total:  # there is not one for anybody, in proportion
            roomiest = narrow(most - room, most + 1).argsort(kind="stable")[:amount]
            return roomiest, np.ones(amount, dtype=np.int64)
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
    total = int(room.sum())
    if amount >= total:
        return room
    if left is not None:
        weight = room * FINE
        weight //= left
        first: Int64 = np.minimum(room, weight * amount // int(weight.sum()))
        if rest := amount - int(first.sum()):
            first += share_many(room - first, rest)
        return first
    most = int(room.max())
    given, rest = np.zeros(len(room), dtype=np.int64), amount
    if amount * most >= total:  # else there is not one for anybody, in proportion
        given = room * amount // total
        rest -= int(given.sum())
    if rest == 1:
        given[(room - given).argmax()] += 1
    elif rest:
        fullest_last = narrow(given - room + most, most + 1)
        given[fullest_last.argsort(kind="stable")[:rest]] += 1
    return given
