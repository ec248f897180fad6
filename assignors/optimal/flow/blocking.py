"""A blocking flow: use all ways through the layers before layers are computed again (Dinic).

Every arc of a way leads one layer nearer to the goal, so the only dead ends are those that
earlier ways have made. A depth-first search finds way after way and fills each, and goes
on from where the last one is still open. A dead end is taken out of its layer.
"""

from __future__ import annotations

from assignors.optimal.flow.distances import Distances, Layers
from assignors.optimal.flow.residual import (
    WITH_EXTRA,
    Residual,
    add_extra,
    add_load,
    place,
)

UNBOUNDED = 1 << 62
"""Capacity of an arc that places partitions which are new to a member."""

Step = tuple[int, int, int]
"""A node, its distance, and the capacity of the arc that leads to it."""


def push_all(residual: Residual, distances: Distances, layers: Layers) -> int:
    """Send as much as the layers can carry; return how many ways were filled.

    Cost: ways x their length operations on sets.
    """
    way_count = 0
    for start, layer, distance in _starts(residual, distances, layers):
        way_count += _push_from(residual, layers, start, layer, distance)
    return way_count


def _starts(residual: Residual, distances: Distances, layers: Layers) -> list[tuple[int, int, int]]:
    """Return (node, layer, distance) of all that has a surplus and can reach the goal."""
    starts = [
        (row, layers.row_layer[row], distances.row[row])
        for row, amount in enumerate(residual.unplaced)
        if amount and layers.row_layer[row] >= 0
    ]
    for member, amount in enumerate(residual.surplus):
        if amount and layers.member_set >> member & 1:
            layer, distance = next(
                key for key, there in layers.members.items() if there >> member & 1
            )
            starts.append((residual.row_count + member, layer, distance))
    if residual.hub_room[0] < 0 <= layers.hub_layer:
        starts.append((residual.hub, layers.hub_layer, distances.hub[0]))
    return starts


def _push_from(residual: Residual, layers: Layers, start: int, layer: int, distance: int) -> int:
    """Send what one node has too much; return how many ways were filled."""
    way: list[Step] = [(start, distance, _supply(residual, start))]
    way_count = 0
    while way and way[0][2]:
        node, distance, _ = way[-1]
        here = layer - len(way) + 1
        step = None
        if here:
            step = _step(residual, layers, node, here - 1, distance)
        elif room := _room(residual, node):
            amount = min(room, *(capacity for _, _, capacity in way))
            _push(residual, way, amount)
            way = _still_open(way, amount)
            way_count += 1
            continue
        if step is not None:
            way.append(step)
        else:
            _take_out(residual, layers, node, here, distance)
            way.pop()
    return way_count


def _supply(residual: Residual, node: int) -> int:
    """Return what still has to leave this node."""
    if node < residual.row_count:
        return residual.unplaced[node]
    if node < residual.hub:
        return residual.surplus[node - residual.row_count]
    return -residual.hub_room[0]


def _room(residual: Residual, node: int) -> int:
    """Return what this node of the last layer can absorb."""
    if node == residual.hub:
        return residual.hub_room[0]
    member = node - residual.row_count
    return residual.least[member] - residual.load[member]


def _step(residual: Residual, layers: Layers, node: int, layer: int, distance: int) -> Step | None:
    """Return a step over an open arc to a node of `layer`, `None` if there is none."""
    row_count = residual.row_count
    if node < row_count:
        return _step_down(residual, layers, node, layer, distance)
    if node == residual.hub:
        members = residual.member_sets[WITH_EXTRA] & layers.members.get((layer, distance), 0)
        if not members:
            return None
        member = members.bit_length() - 1
        return row_count + member, distance, residual.extra[member]
    member = node - row_count
    if layer == layers.hub_layer and distance == layers.hub_distance:
        room = residual.optional[member] - residual.extra[member]
        if room > 0:
            return residual.hub, distance, room
    for kind, cost in enumerate(residual.costs):
        rows = residual.up_of[kind][member] & layers.rows.get((layer, distance - cost), 0)
        if rows:
            row = rows.bit_length() - 1
            capacity = residual.placed[row, member]
            if kind & 1:
                capacity -= residual.owned[row, member]
            return row, distance - cost, capacity
    return None


def _step_down(
    residual: Residual, layers: Layers, row: int, layer: int, distance: int
) -> Step | None:
    """Return a step from a row to a member."""
    for kind, cost in enumerate(residual.costs):
        members = residual.down[kind][row] & layers.members.get((layer, distance + cost), 0)
        if members:
            member = members.bit_length() - 1
            capacity = UNBOUNDED
            if not kind & 1:
                capacity = residual.owned[row, member] - residual.placed[row, member]
            return residual.row_count + member, distance + cost, capacity
    return None


def _still_open(way: list[Step], amount: int) -> list[Step]:
    """Return the beginning of the way whose arcs have capacity left."""
    left: list[Step] = []
    for node, distance, capacity in way:
        if capacity == amount and left:
            break
        left.append((node, distance, capacity - amount))
    return left


def _take_out(residual: Residual, layers: Layers, node: int, layer: int, distance: int) -> None:
    """Take a dead end out of its layer."""
    if node < residual.row_count:
        layers.rows[layer, distance] ^= 1 << node
    elif node < residual.hub:
        layers.members[layer, distance] ^= 1 << (node - residual.row_count)
    else:
        layers.hub_layer = -1


def _push(residual: Residual, way: list[Step], amount: int) -> None:
    """Send `amount` along the way."""
    row_count, hub = residual.row_count, residual.hub
    node = way[0][0]
    if node < row_count:
        residual.unplaced[node] -= amount
    elif node < hub:
        residual.surplus[node - row_count] -= amount
        residual.load[node - row_count] -= amount
    else:
        residual.hub_room[0] += amount
    for following, _, _ in way[1:]:
        if node < row_count:
            place(residual, node, following - row_count, amount)
        elif following == hub:
            add_extra(residual, node - row_count, amount)
        elif node == hub:
            add_extra(residual, following - row_count, -amount)
        else:
            place(residual, following, node - row_count, -amount)
        node = following
    if node == hub:
        residual.hub_room[0] -= amount
    else:
        add_load(residual, node - row_count, amount)
