"""The length of the shortest path from the surplus to every node, over arcs with capacity left.

A distance is one integer that sorts like a tuple: (racks, moves, hops). Racks and moves may
go down along a path, hops only up. Counting hops makes shortest paths short, so the arcs
that lie on them form layers, and many paths can be used before distances are computed
again.

Sweeps over the dense table relax all arcs of the nodes that changed at once (Bellman-Ford).
They stop at nodes that cost more than the goal does. Some arcs have negative costs, so that
needs a reason: a cheapest flow has potentials, at most as high as the goal, under which no
arc has a negative cost (the distances of the search before, cut off at its goal). A node on
a cheapest path is no further than the goal under these, so it costs no more than the goal.
Source: Ahuja, Magnanti and Orlin, "Network Flows", 9.8 (primal-dual algorithm).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.optimal.network import Network
from assignors.problem import Bool, Int64

Lengths = NDArray[np.signedinteger]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arcs:
    """Length of every arc between rows and members, for the flow as it is now.

    A length is `rack * racks + move * moves + 1`, and `far` where there is no arc. int32
    where that is enough, which halves the time of a sweep.
    """

    down: Lengths
    """[R, M]: from row to member, one more partition placed."""
    up: Lengths
    """[R, M]: from member to row, one partition taken back."""
    move: int
    """Length of a partition moved; more hops than that no path has."""
    rack: int
    """Length of a partition without a local replica; more than all moves of a path."""
    far: int
    """Larger than the length of any path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distances:
    """Length of the shortest path from a surplus to each node, `far` where there is none."""

    row: Lengths
    member: Lengths
    hub: int
    goal: int
    """Distance of the nearest node that can absorb flow."""


def measure(network: Network) -> Arcs:
    """Return the lengths of all arcs. Cost: O(R M)."""
    move, rack, far = units(*network.placed.shape, has_racks=network.remote is not None)
    length = np.int32 if far < 1 << 29 else np.int64
    down: Lengths = np.where(network.placed < network.owned, length(1 - move), length(1))
    up: Lengths = np.where(network.placed <= network.owned, length(1 + move), length(1))
    if network.remote is not None:
        racks = network.remote.astype(np.int64) * rack
        down += racks
        up -= racks
    down[~network.allowed] = far
    up[network.placed <= 0] = far
    return Arcs(down=down, up=up, move=move, rack=rack, far=far)


def units(row_count: int, member_count: int, *, has_racks: bool) -> tuple[int, int, int]:
    """Return the lengths of a move, of a rack mismatch, and of a path that does not exist.

    A path visits a node once, and but for the hub rows and members take turns on it: so it has
    at most twice as many hops as there are nodes of the fewer kind, and two more. A move is
    longer than that, a mismatch longer than all moves of a path, and what does not exist longer
    than all of a path; `far` and a path together fit into int32 where `far` does.

    >>> units(1, 1_000_000, has_racks=False)
    (16384, 0, 268435456)
    """
    hop_max = 2 * min(row_count, member_count) + 2
    is_large = hop_max >= 1 << 14
    move = 1 << 20 if is_large else 1 << 14
    if has_racks or is_large:
        return move, move * (move << 1), 1 << 60
    return move, 0, 1 << 28


def shortest(network: Network, arcs: Arcs) -> Distances:
    """Return the distances from all surplus. Cost: sweeps x R M, fewer when few nodes change."""
    far, move = arcs.far, arcs.move
    row_count, member_count = network.placed.shape
    row = np.full(row_count, far, dtype=arcs.down.dtype)
    member = np.full(member_count, far, dtype=arcs.down.dtype)
    row[network.unplaced > 0] = 0
    member[network.surplus > 0] = 0
    hub_room = int(network.hub_room[0])
    hub = 0 if hub_room < 0 else far
    lacking = np.flatnonzero(network.load < network.least)
    to_hub = np.flatnonzero(network.extra < network.optional)
    from_hub = network.extra > 0
    changed_rows = np.flatnonzero(network.unplaced > 0)
    changed = network.surplus > 0
    hub_changed = hub_room < 0
    while True:
        if len(changed_rows):
            changed |= _relax(arcs.down, row, changed_rows, member)
        if len(to_hub) and (through := int(member[to_hub].min()) + 1) < hub:
            hub, hub_changed = through, True
        if hub_changed:
            nearer = from_hub & (member > hub + 1)
            member[nearer] = hub + 1
            changed |= nearer
            hub_changed = False
        goal = _goal(member, lacking, hub, hub_room, far)
        limit = (goal // move + 1) * move
        members = np.flatnonzero(changed)
        if goal < far:
            members = members[member[members] < limit]
        if not len(members):
            break
        rows = np.flatnonzero(_relax(arcs.up.T, member, members, row))
        if goal < far:
            rows = rows[row[rows] < limit]
        if not len(rows):
            break
        changed_rows = rows
        changed = np.zeros(member_count, dtype=np.bool_)
    return Distances(row=row, member=member, hub=hub, goal=goal)


def _relax(lengths: Lengths, here: Lengths, changed: Int64, there: Lengths) -> Bool:
    """Follow the arcs of the changed nodes; return which nodes came nearer.

    `lengths` is [here, there]. Where most nodes changed, all are followed: reading the
    table in place is cheaper than copying the part that is needed.
    """
    if len(changed) * 2 < len(here):
        reached = (lengths[changed] + here[changed, None]).min(axis=0)
    else:
        reached = (lengths + here[:, None]).min(axis=0)
    nearer: Bool = reached < there
    there[nearer] = reached[nearer]
    return nearer


def _goal(member: Lengths, lacking: Int64, hub: int, hub_room: int, far: int) -> int:
    """Return the distance of the nearest node that can absorb flow."""
    goal = int(member[lacking].min()) if len(lacking) else far
    return min(goal, hub) if hub_room > 0 else min(goal, far)
