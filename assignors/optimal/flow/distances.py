"""The cost of the cheapest way to the goal from every node, and the layers on cheapest ways.

The goal is whatever can absorb a partition: members that lack some, the hub while it has room.
Distances are integers of any size. In the start they are 0, and no arc is shorter than the
difference of the distances of its ends. Arcs that are exactly as long as that are open: they
lie on cheapest ways. When no surplus can reach the goal over open arcs, all nodes that cannot
reach it are moved away by the same amount, the least that opens another arc to those that can.
So every surplus is sent the cheapest way there is for it, however far others are.
Source: Ahuja, Magnanti and Orlin, "Network Flows", 9.8 (primal-dual algorithm).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from assignors.optimal.flow.residual import BELOW_MOST, LACKING, WITH_EXTRA, Residual


@dataclass(frozen=True, slots=True, kw_only=True)
class Distances:
    """Cost of the cheapest way to the goal from every node; a lower bound where there is none."""

    row: list[int]
    members_at: dict[int, int]
    """Set of the members at each distance; each member is in one."""
    hub: list[int]
    """One number."""


@dataclass(slots=True, kw_only=True)
class Layers:
    """Nodes that reach the goal over open arcs, by how many arcs that takes at least."""

    row_layer: list[int]
    """[R]: -1 where the goal cannot be reached."""
    hub_distance: int
    hub_layer: int = -1
    members: dict[tuple[int, int], int] = field(default_factory=dict)
    """Members at (layer, distance) that are no dead end yet."""
    rows: dict[tuple[int, int], int] = field(default_factory=dict)
    """Rows at (layer, distance) that are no dead end yet."""
    member_set: int = 0
    """All members that reach the goal."""


def initial(residual: Residual) -> Distances:
    """Return the distances for the start, in which no arc costs less than nothing."""
    everybody = (1 << len(residual.load)) - 1
    return Distances(row=[0] * residual.row_count, members_at={0: everybody}, hub=[0])


def layers_of(residual: Residual, distances: Distances) -> Layers:
    """Return the layers, counted from the goal. Cost: layers x rows operations on sets."""
    hub_members = distances.members_at.get(distances.hub[0], 0)
    below_most = residual.member_sets[BELOW_MOST] & hub_members
    with_extra = residual.member_sets[WITH_EXTRA] & hub_members
    found = Layers(row_layer=[-1] * residual.row_count, hub_distance=distances.hub[0])
    waiting = _open_arcs(residual, distances)
    layer = 0
    members = residual.member_sets[LACKING]
    rows: list[tuple[int, int]] = []
    if residual.hub_room[0] > 0:
        found.hub_layer = 0
    while members or rows or found.hub_layer == layer:
        found.member_set |= members
        _add_members(found, distances, layer, members)
        reached = 0
        for _, up in rows:
            reached |= up
        if found.hub_layer == layer:
            reached |= below_most
        rows = []
        if members:
            rest = []
            for row, down, up in waiting:
                if down & members:
                    rows.append((row, up))
                    found.row_layer[row] = layer + 1
                    key = layer + 1, distances.row[row]
                    found.rows[key] = found.rows.get(key, 0) | 1 << row
                else:
                    rest.append((row, down, up))
            waiting = rest
            if found.hub_layer < 0 and with_extra & members:
                found.hub_layer = layer + 1
        members = reached & ~found.member_set
        layer += 1
    return found


def _open_arcs(residual: Residual, distances: Distances) -> list[tuple[int, int, int]]:
    """Return for each row the members that open arcs lead to, and those they come from."""
    arcs = []
    at = distances.members_at.get
    for row, distance in enumerate(distances.row):
        down = up = 0
        for kind, cost in enumerate(residual.costs):
            members = at(distance + cost, 0)
            if members:
                down |= residual.down[kind][row] & members
                up |= residual.up[kind][row] & members
        if down:
            arcs.append((row, down, up))
    return arcs


def _add_members(found: Layers, distances: Distances, layer: int, members: int) -> None:
    """Note the members of a layer by their distance."""
    for distance, there in distances.members_at.items():
        if both := members & there:
            found.members[layer, distance] = both


def move_away(residual: Residual, distances: Distances, layers: Layers) -> bool:
    """Move what does not reach the goal away from it until an arc opens; False if none can.

    Cost: rows x different distances operations on sets.
    """
    gap = _gap(residual, distances, layers)
    if not gap:
        return False
    near = layers.member_set
    for row, layer in enumerate(layers.row_layer):
        if layer < 0:
            distances.row[row] += gap
    if layers.hub_layer < 0:
        distances.hub[0] += gap
    before = list(distances.members_at.items())
    distances.members_at.clear()
    for distance, members in before:
        for there, part in ((distance, members & near), (distance + gap, members & ~near)):
            if part:
                distances.members_at[there] = distances.members_at.get(there, 0) | part
    return True


def _gap(residual: Residual, distances: Distances, layers: Layers) -> int:
    """Return by how much the shortest arc to what reaches the goal is too long; 0: no arc."""
    gaps = []
    near = layers.member_set
    inside = [(at, members & near) for at, members in distances.members_at.items()]
    outside = [(at, members & ~near) for at, members in distances.members_at.items()]
    for row, layer in enumerate(layers.row_layer):
        distance = distances.row[row]
        for kind, cost in enumerate(residual.costs):
            if layer < 0:
                arcs = residual.down[kind][row] & near
                gaps += [at - distance - cost for at, there in inside if arcs and arcs & there]
            else:
                arcs = residual.up[kind][row] & ~near
                gaps += [distance + cost - at for at, there in outside if arcs and arcs & there]
    hub = distances.hub[0]
    if layers.hub_layer < 0:
        arcs = residual.member_sets[WITH_EXTRA]
        gaps += [at - hub for at, there in inside if arcs & there]
    else:
        arcs = residual.member_sets[BELOW_MOST]
        gaps += [hub - at for at, there in outside if arcs & there]
    return min(gaps, default=0)
