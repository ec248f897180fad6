"""The least movement that reaches given loads, on sets and lists, where a table has few cells.

The same as `flow`: free partitions are handed out as `flow.pour` does, and what is wrong then the
same search corrects. That search works on integers as sets of members in any case. With a hundred
members and ten topics, arrays around it take longer than it takes: here everything is counted on
arrays once, members with as much room are one set, and only what changes is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from assignors.optimal.flow.effort import Effort
from assignors.optimal.flow.pour import COUNTED_ROWS_MAX
from assignors.optimal.flow.residual import Residual
from assignors.optimal.flow.settle import search
from assignors.optimal.flow.shares import shares_of
from assignors.optimal.flow.table import Cells, Counts, bit_sets
from assignors.optimal.rows import Rows
from assignors.optimal.small.choice import Amounts
from assignors.problem import Int64
from wire.constructors import unchecked

CELLS_MAX = 2_000
"""Larger tables, rows times members, are settled on arrays. Measured after a member left and after
one joined, against arrays: 1,000 cells 0.86 and 0.99 of the time that an answer takes, 4,500 cells
1.0 and 1.1."""
FREE_MAX = 32
"""More free partitions are handed out on arrays, and all is settled there."""


class Loads(NamedTuple):
    """What M members must get, what they may get beyond, and how much of that there is.

    Nobody may get more than one beyond, and who may get none must get none.
    """

    least: Int64
    """int64[M]."""
    optional: Int64
    """int64[M]."""
    spare: int


class Changes(NamedTuple):
    """A table that keeps most for the loads that were asked for."""

    less: Amounts
    """How many partitions less than it owns a member has of a row."""
    more: Amounts
    """How many more."""
    load: Int64
    """int64[M]: what each member has."""


@dataclass(slots=True, kw_only=True)
class _Flow:
    """What R rows and M members have so far."""

    owned: Counts
    """By cell: row * M + member."""
    placed: Counts
    may: list[int]
    """R sets of the members that may take from the row."""
    within: list[int]
    """R sets of those that have some of it, but no more than they own."""
    above: list[int]
    """R sets of those that have more than they own."""
    unplaced: list[int]
    """R."""
    load: list[int]
    """M."""
    room: list[int]
    """M: how much more a member may have, negative if it has too much."""
    having: dict[int, int]
    """Room -> set of the members that have just that."""


_residual = unchecked(Residual)


def has_few_cells(rows: Rows) -> bool:
    """Return whether a table is settled so in less time: few cells, few free, and no racks."""
    if rows.remote is not None or rows.allowed.size > CELLS_MAX:
        return False
    free, row_count = len(rows.row_of) - len(rows.cell), len(rows.size)
    return free <= min(FREE_MAX, len(rows.cell)) and row_count <= COUNTED_ROWS_MAX


def settle_few_cells(rows: Rows, loads: Loads, effort: Effort) -> Changes | None:
    """Return what `flow.settle` reaches from `flow.network.start`, `None` where no table has that.

    Cost: O(R M) in numpy, O(R + M), and that of `flow.settle.search`.
    """
    flow = _owned_flow(rows, loads)
    _pour(flow)
    residual = _residual_of(flow, loads)
    less = [0] * len(flow.may)
    if residual.supply:
        if search(residual, effort) is not None:
            return None
        less = residual.down[0]
    load = np.fromiter(flow.load, np.int64, len(flow.load))
    return Changes(_amounts(flow, less, -1), _amounts(flow, residual.up[1], 1), load)


def cells_of(amounts: Amounts) -> Cells:
    """Return these cells as arrays."""
    listed = [
        (row, member, count) for row, of_row in amounts.items() for member, count in of_row.items()
    ]
    row, member, count = np.array(listed, dtype=np.int64).reshape(len(listed), 3).T
    return Cells(row=row, member=member, count=count)


def _owned_flow(rows: Rows, loads: Loads) -> _Flow:
    """Return the flow in which members have what they own."""
    row_count, width = rows.allowed.shape
    owned = np.bincount(rows.cell, minlength=row_count * width)
    table = owned.reshape(row_count, width)
    load = np.add.reduce(table, axis=0)
    rooms = loads.least + loads.optional
    rooms -= load
    room = rooms.tolist()
    different = list(set(room))
    has = np.empty((2 * row_count + len(different), width), dtype=np.bool_)
    np.not_equal(table, 0, out=has[:row_count])
    has[row_count : 2 * row_count] = rows.allowed
    np.equal(rooms, np.array(different)[:, None], out=has[2 * row_count :])
    sets = bit_sets(has)
    return _Flow(
        owned=owned.data,
        placed=owned.copy().data,
        may=sets[row_count : 2 * row_count],
        within=sets[:row_count],
        above=[0] * row_count,
        unplaced=(rows.size - np.add.reduce(table, axis=1)).tolist(),
        load=load.tolist(),
        room=room,
        having=dict(zip(different, sets[2 * row_count :], strict=True)),
    )


def _pour(flow: _Flow) -> None:
    """Hand out few free partitions as `flow.pour.pour` does."""
    unplaced, may = flow.unplaced, flow.may
    waiting = [row for row, free in enumerate(unplaced) if free]
    waiting.sort(key=lambda row: -(unplaced[row] / max(may[row].bit_count(), 1)))
    for row in waiting:
        takers = [(room, members & may[row]) for room, members in flow.having.items() if room > 0]
        takers = sorted([(room, members) for room, members in takers if members], reverse=True)
        total, amount = sum([room * some.bit_count() for room, some in takers]), unplaced[row]
        if amount < total and amount * takers[0][0] < total:
            _place_ones(flow, row, [some for _, some in takers], amount)
            unplaced[row] = 0
            continue
        members = list(_members(sum([some for _, some in takers])))
        chosen, given = shares_of(members, flow.room, amount, None)
        for member, count in zip(chosen, given, strict=True):
            if count:
                _place(flow, row, member, count)
        unplaced[row] -= sum(given)


def _place_ones(flow: _Flow, row: int, takers: list[int], amount: int) -> None:
    """Place a partition each with so many of these sets of members, the first ones of each."""
    for member in islice(chain.from_iterable(map(_members, takers)), amount):
        _place(flow, row, member, 1)


def _place(flow: _Flow, row: int, member: int, amount: int) -> None:
    """Place so many free partitions of the row with the member."""
    bit, room, having = 1 << member, flow.room[member], flow.having
    flow.placed[row * len(flow.room) + member] += amount
    flow.load[member] += amount
    flow.room[member] = room - amount
    having[room] ^= bit
    having[room - amount] = having.get(room - amount, 0) | bit
    flow.above[row] |= bit
    flow.within[row] &= ~bit


def _members(members: int) -> Iterator[int]:
    """Yield the members of a set, ascending."""
    while members:
        bit = members & -members
        members ^= bit
        yield bit.bit_length() - 1


def _residual_of(flow: _Flow, loads: Loads) -> Residual:
    """Return the capacities of the flow, as `flow.residual.residual_of` does."""
    hub, width = len(flow.may), len(flow.room)
    optional = loads.optional.tolist()
    full = lacking = 0
    for room, members in flow.having.items():
        if room <= 0:
            full |= members
        elif room > 1:
            lacking |= members
    if 0 in optional:
        may = sum([1 << member for member, more in enumerate(optional) if more])
        extra = [int(room <= 0 < more) for room, more in zip(flow.room, optional, strict=True)]
        full &= may
    else:
        may = (1 << width) - 1
        extra = [1 if room <= 0 else 0 for room in flow.room]
    hub_room = loads.spare - full.bit_count()
    supply = {row: amount for row, amount in enumerate(flow.unplaced) if amount}
    if hub_room < 0:
        supply[hub] = -hub_room
    supply |= {hub + 2 + member: -room for member, room in enumerate(flow.room) if room < 0}
    nobody = [0] * (hub + 2)
    return _residual(
        hub=hub,
        costs=(1, 0),
        down=[nobody, [*flow.may, full, 0]],
        up=[[*flow.within, 0, 0], [*flow.above, may ^ full, lacking]],
        remote=None,
        width=width,
        owned=flow.owned,
        placed=flow.placed,
        supply=supply,
        load=flow.load,
        least=loads.least.tolist(),
        extra=extra,
        optional=optional,
        hub_room=[hub_room],
    )


def _amounts(flow: _Flow, members_of: list[int], sign: int) -> dict[int, dict[int, int]]:
    """Return by how much these cells differ, a set of members for each row."""
    width, placed, owned = len(flow.room), flow.placed, flow.owned
    found = {}
    for row in range(len(flow.may)):
        if members_of[row]:
            begin = row * width
            found[row] = {
                member: sign * (placed[begin + member] - owned[begin + member])
                for member in _members(members_of[row])
            }
    return found
