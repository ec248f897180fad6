"""The cost of the cheapest way to the goal from every node, and the layers on cheapest ways.

A way leads from row to member to row, until it ends at a member that lacks partitions (the
goal) or at the hub while that has room. Distances are integers of any size. In the start they
are 0, and no arc is shorter than the difference of the distances of its ends. Arcs that are
exactly as long as that are open: they lie on cheapest ways. When no surplus can reach the goal
over open arcs, all nodes that cannot reach it are moved away by the same amount, the least that
opens another arc to those that can. So every surplus is sent the cheapest way there is for it,
however far others are.
Source: Ahuja, Magnanti and Orlin, "Network Flows", 9.8 (primal-dual algorithm).
"""

from __future__ import annotations

from dataclasses import dataclass

from assignors.optimal.flow.effort import Effort
from assignors.optimal.flow.residual import Residual


@dataclass(frozen=True, slots=True, kw_only=True)
class Distances:
    """Cost of the cheapest way to the goal from every node; a lower bound where there is none."""

    row: list[int]
    """[R + 2]."""
    members_at: dict[int, int]
    """Set of the members at each distance; each member is in one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """What reaches the goal over open arcs, by how many rows that takes at least.

    The sets change: arcs that are full and rows that are a dead end are taken out of them.
    """

    rows: list[list[int]]
    """Rows in each layer; the goal is in layer 0, and so is the hub while it has room."""
    members: list[int]
    """Set of the members that each layer is the first to be reached from."""
    layer_of: dict[int, int]
    """Layer of each row in `rows`."""
    onward: list[int]
    """[R + 3]: members to whom open arcs lead from a row, if they are one layer on.

    The last one is for a member with a surplus, while that counts as a row; so below."""
    inward: list[int]
    """[R + 3]: members from whom open arcs lead to a row, in a layer or not."""
    position: list[int]
    """[R + 3]: how many rows one layer on are used up for a row."""
    supplied: list[int]
    """One set: the members with a surplus that are reached."""


def no_distances(row_count: int, member_count: int) -> Distances:
    """Return distances of 0: with these no arc of the start is too short."""
    return Distances(row=[0] * (row_count + 2), members_at={0: (1 << member_count) - 1})


def layers_of(residual: Residual, distances: Distances, effort: Effort) -> Layers:
    """Return the layers, counted from the goal, as far as the last supply.

    Cost: layers x rows operations on sets.
    """
    hub, goal = residual.hub, residual.hub + 1
    # The goal first: a member passes on to the hub only what it does not lack itself.
    current = [goal, hub] if residual.hub_room[0] > 0 else [goal]
    layer_of = dict.fromkeys(current, 0)
    rows_wanted, members_wanted = _supplied(residual)
    down, up = _open_arcs(residual, distances)
    found = Layers(
        rows=[],
        members=[],
        layer_of=layer_of,
        onward=[0] * (hub + 3),
        inward=[*up, 0],
        position=[0] * (hub + 3),
        supplied=[0],
    )
    waiting = [row for row, there in enumerate(down) if there and row not in layer_of]
    reached = seen = steps = 0
    for row in current:
        reached |= up[row]
    while current:
        new = reached & ~seen
        seen |= new
        steps += len(current) + len(waiting)
        found.rows.append(current)
        found.members.append(new)
        if not waiting or not new:
            break
        if not members_wanted & ~seen and rows_wanted <= layer_of.keys():
            break
        current, waiting, reached = _next_layer(found, waiting, new, down, up)
    effort.add(steps)
    found.supplied[0] = members_wanted & seen
    return found


def _open_arcs(residual: Residual, distances: Distances) -> tuple[list[int], list[int]]:
    """Return to which members open arcs lead from each row, and from which to it, [R + 2] each."""
    at, members_at = distances.row, distances.members_at
    if len(members_at) == 1 and residual.remote is None and at.count(at[0]) == len(at):
        # All are as far: what costs nothing is open.
        return residual.down[1].copy(), residual.up[1].copy()
    down, up = [0] * len(at), [0] * len(at)
    # There are few distances, and few kinds whose arcs are open from each.
    for distance in set(at):
        rows = [row for row, there in enumerate(at) if there == distance]
        for cost, downs, ups in zip(residual.costs, residual.down, residual.up, strict=True):
            if members := members_at.get(distance + cost, 0):
                for row in rows:
                    down[row] |= downs[row] & members
                    up[row] |= ups[row] & members
    return down, up


def _supplied(residual: Residual) -> tuple[set[int], int]:
    """Return the rows that have a supply, and the set of the members that have one."""
    first = residual.hub + 2
    rows, members = set(), 0
    for node in residual.supply:
        if node < first:
            rows.add(node)
        else:
            members |= 1 << (node - first)
    return rows, members


def _next_layer(
    found: Layers, waiting: list[int], members: int, down: list[int], up: list[int]
) -> tuple[list[int], list[int], int]:
    """Put the rows that lead to these members into a layer.

    Return them, the rows that do not, and the members from whom arcs lead to those that do.
    """
    rows, rest, reached = [], [], 0
    layer, layer_of, onward = len(found.rows), found.layer_of, found.onward
    for row in waiting:
        if there := down[row] & members:
            onward[row] = there
            layer_of[row] = layer
            reached |= up[row]
            rows.append(row)
        else:
            rest.append(row)
    return rows, rest, reached


def move_away(residual: Residual, distances: Distances, layers: Layers) -> bool:
    """Move what does not reach the goal away from it until an arc opens; False if none can.

    Cost: rows x different distances operations on sets.
    """
    near = 0
    for members in layers.members:
        near |= members
    gap = _gap(residual, distances, layers.layer_of, near)
    if not gap:
        return False
    for row in range(residual.hub + 1):
        if row not in layers.layer_of:
            distances.row[row] += gap
    before = list(distances.members_at.items())
    distances.members_at.clear()
    for distance, members in before:
        for there, part in ((distance, members & near), (distance + gap, members & ~near)):
            if part:
                distances.members_at[there] = distances.members_at.get(there, 0) | part
    return True


def _gap(residual: Residual, distances: Distances, rows: dict[int, int], near: int) -> int:
    """Return by how much the shortest arc to what reaches the goal is too long; 0: no arc."""
    shortest = 0
    inside = [(at, there & near) for at, there in distances.members_at.items() if there & near]
    outside = [(at, there & ~near) for at, there in distances.members_at.items() if there & ~near]
    for cost, downs, ups in zip(residual.costs, residual.down, residual.up, strict=True):
        for row, distance in enumerate(distances.row):
            length = distance + cost
            if row not in rows:
                gaps = [at - length for at, there in inside if downs[row] & there]
            else:
                gaps = [length - at for at, there in outside if ups[row] & there]
            if gaps:
                shortest = min(shortest or gaps[0], *gaps)
                if shortest == 1:  # less there is not: costs are whole numbers
                    return 1
    return shortest
