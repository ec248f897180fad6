"""Hand out free partitions before anything is searched: no more than a good start.

Where nothing has to be given up for it, a free partition goes to a member that has room. Rows take
turns, those with the most partitions for each subscriber first, and members get parts in
proportion to their room. What is wrong then, the search corrects, way after way.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from assignors.optimal.flow.shares import chosen_shares
from assignors.optimal.flow.table import Table
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
