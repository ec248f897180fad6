"""The residual network as sets of bits: which arcs between rows and members have capacity.

A set of members is one integer, bit m for member m, and a set of rows another. So one
operation on integers follows the arcs of a row to all of its members at once, whatever their
number, and a table of ten million cells takes a megabyte for each kind of arc.

Arcs of one kind cost the same. A partition placed with a member costs -1 where the member has
less of the row than it owns, and 0 beyond; the way back costs the opposite. Where racks matter
each kind is there twice, for local and for remote cells.

Nodes are numbered: rows first, then members, then the hub.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assignors.optimal.flow.network import Network
from assignors.problem import Bool

OWNED, BEYOND = 0, 1
"""Kinds of arcs: within what the member owns of the row, and beyond it. Two higher: remote."""

LACKING, BELOW_MOST, WITH_EXTRA = 0, 1, 2
"""Sets of members: fewer partitions than `least`; less extra than `optional`; some extra."""

RACK = 1 << 40
"""Cost of a partition without a replica in its member's rack: more than all moves of a path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Residual:
    """Flow and capacities, in lists that change. R rows, M members; first index: kind of arc."""

    costs: tuple[int, ...]
    """What it costs to take a partition back from a member; to place one costs the opposite."""
    down: list[list[int]]
    """[kind][R]: members with whom a partition of the row can be placed; each in one kind."""
    up: list[list[int]]
    """[kind][R]: members from whom a partition of the row can be taken; each in one kind."""
    up_of: list[list[int]]
    """[kind][M]: the same by member, as sets of rows."""
    remote: list[int] | None
    """[R]: members whose rack has no replica of the row."""
    owned: memoryview[int]
    placed: memoryview[int]
    unplaced: list[int]
    surplus: list[int]
    load: list[int]
    least: list[int]
    extra: list[int]
    optional: list[int]
    hub_room: list[int]
    """One number."""
    member_sets: list[int]
    """Sets of members: `LACKING`, `BELOW_MOST`, `WITH_EXTRA`."""

    @property
    def row_count(self) -> int:
        """R."""
        return len(self.unplaced)

    @property
    def is_settled(self) -> bool:
        """Whether everything supplied has been absorbed."""
        return not (any(self.unplaced) or any(self.surplus) or self.hub_room[0] < 0)

    @property
    def hub(self) -> int:
        """The number of the hub."""
        return len(self.unplaced) + len(self.load)


def residual_of(network: Network) -> Residual:
    """Return the capacities of the flow in `network`, whose `placed` it goes on to change.

    Cost: O(R M) in numpy, O(R + M) integers.
    """
    placed, owned = network.placed, network.owned
    below, above = placed < owned, placed > owned
    down = [below & network.allowed, network.allowed & ~below]
    up = [(placed > 0) & ~above, above]
    costs: tuple[int, ...] = (1, 0)
    if network.remote is not None:
        remote = network.remote
        down = [table & ~remote for table in down] + [table & remote for table in down]
        up = [table & ~remote for table in up] + [table & remote for table in up]
        costs = (1, 0, 1 - RACK, -RACK)
    sets = (network.load < network.least, network.extra < network.optional, network.extra > 0)
    return Residual(
        costs=costs,
        down=[bit_sets(table) for table in down],
        up=[bit_sets(table) for table in up],
        up_of=[bit_sets(table.T) for table in up],
        remote=None if network.remote is None else bit_sets(network.remote),
        owned=owned.data,
        placed=placed.data,
        unplaced=network.unplaced.tolist(),
        surplus=network.surplus.tolist(),
        load=network.load.tolist(),
        least=network.least.tolist(),
        extra=network.extra.tolist(),
        optional=network.optional.tolist(),
        hub_room=network.hub_room.tolist(),
        member_sets=bit_sets(np.stack(sets)),
    )


def bit_sets(table: Bool) -> list[int]:
    """Return each row of the table as an integer whose bit j is column j.

    >>> bit_sets(np.array([[True, False, True], [False, False, False]]))
    [5, 0]
    """
    packed = np.packbits(table, axis=1, bitorder="little")
    data, width = packed.tobytes(), packed.shape[1]
    if not width:
        return [0] * len(table)
    ends = range(width, len(data) + 1, width)
    return [int.from_bytes(data[end - width : end], "little") for end in ends]


def place(residual: Residual, row: int, member: int, amount: int) -> None:
    """Change what the member has of the row, and which arcs have capacity then."""
    owns, had = residual.owned[row, member], residual.placed[row, member]
    has = residual.placed[row, member] = had + amount
    bit = 1 << member
    local = 2 if residual.remote is not None and residual.remote[row] & bit else 0
    if (had < owns) != (has < owns):
        residual.down[local][row] ^= bit
        residual.down[local + 1][row] ^= bit
    if (had > owns) != (has > owns):
        residual.up[local + 1][row] ^= bit
        residual.up_of[local + 1][member] ^= 1 << row
    if (0 < had <= owns) != (0 < has <= owns):
        residual.up[local][row] ^= bit
        residual.up_of[local][member] ^= 1 << row


def add_load(residual: Residual, member: int, amount: int) -> None:
    """Let a member that lacks partitions keep this many."""
    residual.load[member] += amount
    if residual.load[member] == residual.least[member]:
        residual.member_sets[LACKING] ^= 1 << member


def add_extra(residual: Residual, member: int, amount: int) -> None:
    """Change how much of its load the member passes on to the hub, and its load with it."""
    had = residual.extra[member]
    has = residual.extra[member] = had + amount
    residual.load[member] += amount
    most = residual.optional[member]
    if (had < most) != (has < most):
        residual.member_sets[BELOW_MOST] ^= 1 << member
    if (had > 0) != (has > 0):
        residual.member_sets[WITH_EXTRA] ^= 1 << member
