"""The residual network as sets of bits: which arcs between rows and members have capacity.

A set of members is one integer: bit m stands for member m. So one operation on integers follows
the arcs of a row to all of its members at once, and a table of ten million cells takes about a
megabyte for each kind of arc.

Arcs of one kind cost the same. A partition placed with a member costs -1 where the member has
less of the row than it owns, and 0 beyond; the way back costs the opposite. Where racks matter
each kind is there twice, for local and for remote cells.

The hub and the goal count as rows. From the hub, arcs lead to members that pass something on to
it, and to the hub from those that could pass on more; to the goal from those that lack some.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assignors.optimal.flow.network import Network
from assignors.optimal.flow.table import Counts, bit_sets

UNBOUNDED = 1 << 62
"""Capacity of an arc that places partitions which are new to a member."""
RACK = 1 << 40
"""Cost of a partition without a replica in its member's rack: more than all moves of a path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Residual:
    """Flow and capacities, in lists that change. R rows, M members.

    There are 2 kinds of arcs, within what a member owns of the row and beyond it; 4 with racks,
    the same for remote cells.
    """

    hub: int
    """The number of the hub: R. That of the goal is one more."""
    costs: tuple[int, ...]
    """[kind]: what taking a partition back from a member costs; placing one costs -cost."""
    down: list[list[int]]
    """[kind][R + 2]: members with whom a partition can be placed; each in one kind."""
    up: list[list[int]]
    """[kind][R + 2]: members from whom a partition can be taken; each in one kind."""
    remote: list[int] | None
    """[R]: members whose rack has no replica of the row."""
    width: int
    """M: the cell of a row and a member is row * M + member."""
    owned: Counts
    placed: Counts
    supply: dict[int, int]
    """What must still leave rows, the hub, and member m, at R + 2 + m; no zeros."""
    load: list[int]
    least: list[int]
    extra: list[int]
    optional: list[int]
    hub_room: list[int]
    """One number."""


def residual_of(network: Network) -> Residual:
    """Return the capacities of the flow in `network`, whose `table` it goes on to change.

    Cost: O(R M) in numpy, O(R + M) integers.
    """
    hub = len(network.unplaced)
    is_below = network.remote is not None
    allowed, below, within, above = network.table.kinds(network.allowed, is_below=is_below)
    down = [below, [may ^ less for may, less in zip(allowed, below, strict=True)]]
    up = [within, above]
    costs: tuple[int, ...] = (1, 0)
    remote = None
    if network.remote is not None:
        costs, remote = (1, 0, 1 - RACK, -RACK), bit_sets(network.remote)
        down, up = _by_rack(down, remote), _by_rack(up, remote)
    for sets in (*down, *up):
        sets += [0, 0]
    ends = np.empty((3, len(network.load)), dtype=np.bool_)
    np.greater(network.extra, 0, out=ends[0])
    np.less(network.extra, network.optional, out=ends[1])
    np.less(network.load, network.least, out=ends[2])
    down[1][hub], up[1][hub], up[1][hub + 1] = bit_sets(ends)
    hub_room = int(network.hub_room[0])
    supply = {row: amount for row, amount in enumerate(network.unplaced.tolist()) if amount}
    if hub_room < 0:
        supply[hub] = -hub_room
    full = network.surplus.nonzero()[0]
    supply.update(zip((full + (hub + 2)).tolist(), network.surplus[full].tolist(), strict=True))
    owned, placed = network.table.views()
    return Residual(
        hub=hub,
        costs=costs,
        down=down,
        up=up,
        remote=remote,
        width=len(network.load),
        owned=owned,
        placed=placed,
        supply=supply,
        load=network.load.tolist(),
        least=network.least.tolist(),
        extra=network.extra.tolist(),
        optional=network.optional.tolist(),
        hub_room=[hub_room],
    )


def _by_rack(kinds: list[list[int]], remote: list[int]) -> list[list[int]]:
    """Return the kinds for local cells, then those for remote ones."""
    near = [[s & ~away for s, away in zip(sets, remote, strict=True)] for sets in kinds]
    far = [[s & away for s, away in zip(sets, remote, strict=True)] for sets in kinds]
    return near + far


def place(residual: Residual, row: int, member: int, amount: int) -> bool:
    """Place more of the row with the member, at one cost; return whether that arc is full."""
    cell = row * residual.width + member
    owns, had = residual.owned[cell], residual.placed[cell]
    has = residual.placed[cell] = had + amount
    if owns < had:
        return False
    bit = 1 << member
    kind = 2 if residual.remote is not None and residual.remote[row] & bit else 0
    if had < owns:
        if not had:
            residual.up[kind][row] ^= bit
        if has < owns:
            return False
        residual.down[kind][row] ^= bit
        residual.down[kind + 1][row] ^= bit
        return True
    if owns:
        residual.up[kind][row] ^= bit
    residual.up[kind + 1][row] ^= bit
    return False


def take_back(residual: Residual, row: int, member: int, amount: int) -> bool:
    """Take some of the row from the member, at one cost; return whether that arc is full."""
    cell = row * residual.width + member
    owns, had = residual.owned[cell], residual.placed[cell]
    has = residual.placed[cell] = had - amount
    if owns < has:
        return False
    bit = 1 << member
    kind = 2 if residual.remote is not None and residual.remote[row] & bit else 0
    if had > owns:
        residual.up[kind + 1][row] ^= bit
        if owns:
            residual.up[kind][row] ^= bit
        return True
    if had == owns:
        residual.down[kind][row] ^= bit
        residual.down[kind + 1][row] ^= bit
    if has:
        return False
    residual.up[kind][row] ^= bit
    return True


def add_load(residual: Residual, member: int, amount: int) -> bool:
    """Let a member that lacks partitions keep this many; return whether it lacks none then."""
    residual.load[member] += amount
    is_full = residual.load[member] == residual.least[member]
    if is_full:
        residual.up[1][residual.hub + 1] ^= 1 << member
    return is_full


def add_extra(residual: Residual, member: int, amount: int) -> bool:
    """Change how much a member passes on to the hub, and its load with it.

    Return whether it can pass on no more, or no less.
    """
    had = residual.extra[member]
    has = residual.extra[member] = had + amount
    residual.load[member] += amount
    most = residual.optional[member]
    if (had < most) != (has < most):
        residual.up[1][residual.hub] ^= 1 << member
    if (had > 0) != (has > 0):
        residual.down[1][residual.hub] ^= 1 << member
    return has == most if amount > 0 else has == 0


def capacity_up(residual: Residual, row: int, member: int) -> int:
    """Return how much can be taken back from the member, or end with it, at the same cost."""
    if row < residual.hub:
        cell = row * residual.width + member
        has, owns = residual.placed[cell], residual.owned[cell]
        return has - owns if has > owns else has
    if row == residual.hub:
        room = residual.optional[member] - residual.extra[member]
        return min(room, residual.hub_room[0]) if residual.hub_room[0] > 0 else room
    return residual.least[member] - residual.load[member]


def capacity_down(residual: Residual, row: int, member: int) -> int:
    """Return how much can be placed with the member at the same cost."""
    if row < residual.hub:
        cell = row * residual.width + member
        missing = residual.owned[cell] - residual.placed[cell]
        return missing if missing > 0 else UNBOUNDED
    return residual.extra[member] if row == residual.hub else UNBOUNDED


def end_supply(residual: Residual, start: int, end: int, amount: int) -> bool:
    """Count what was sent from its supply to the goal or the hub; return whether the hub is full.

    That is, whether it has become so.
    """
    residual.supply[start] -= amount
    if not residual.supply[start]:
        del residual.supply[start]
    if start == residual.hub:
        residual.hub_room[0] += amount
    elif start > residual.hub:
        residual.load[start - residual.hub - 2] -= amount
    if end != residual.hub:
        return False
    residual.hub_room[0] -= amount
    return not residual.hub_room[0]
