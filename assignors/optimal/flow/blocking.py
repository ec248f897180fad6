"""A blocking flow: use all ways through the layers before layers are computed again (Dinic).

Every step of a way leads from a row through a member to a row one layer nearer to the goal, so
the only dead ends are those that earlier ways have made. A depth-first search finds way after
way, fills each, and goes on from where the last one is still open. What is full or a dead
end is taken out of the layers.
"""

from __future__ import annotations

from itertools import pairwise

from assignors.optimal.flow.distances import Layers
from assignors.optimal.flow.effort import Effort
from assignors.optimal.flow.residual import Residual, add_extra, add_load, place

UNBOUNDED = 1 << 62
"""Capacity of an arc that places partitions which are new to a member."""

Step = tuple[int, int, int]
"""A row, the member through whom it was reached, and how much can take this step."""


def push_all(residual: Residual, layers: Layers, effort: Effort) -> int:
    """Send as much as the layers can carry; return how many ways were filled.

    Cost: ways x their length operations on sets, and the pairs of rows one layer apart.
    """
    before = effort.ways[0]
    for start in list(residual.supply):
        layer = layers.layer_of.get(start)
        if start >= residual.hub + 2:
            layer = _begin_at_member(residual, layers, start)
        if layer is not None:
            _push_from(residual, layers, effort, start, layer)
    return effort.ways[0] - before


def _begin_at_member(residual: Residual, layers: Layers, start: int) -> int | None:
    """Let a member with a surplus count as a row that leads to itself; return its layer.

    The rows that it has some of are looked for from the first on.
    """
    bit = 1 << (start - residual.hub - 2)
    for layer, members in enumerate(layers.members):
        if members & bit:
            layers.onward[start] = bit
            layers.position[start] = 0
            return layer + 1
    return None


def _push_from(
    residual: Residual, layers: Layers, effort: Effort, start: int, start_layer: int
) -> None:
    """Send what one node has too much."""
    way: list[Step] = [(start, -1, residual.supply[start])]
    while way and way[0][2] and not effort.is_spent:
        effort.add(1)
        row = way[-1][0]
        layer = start_layer - len(way) + 1
        if layer:
            step = _step(residual, layers, row, layers.rows[layer - 1])
            if step is not None:
                way.append(step)
            else:
                layers.inward[row] = 0
                way.pop()
        else:
            way = _fill(residual, layers, way)
            effort.ways[0] += 1


def _step(residual: Residual, layers: Layers, row: int, following: list[int]) -> Step | None:
    """Return a step from the row to one of those one layer on, `None` if all are blocked."""
    onward, inward = layers.onward[row], layers.inward
    for position in range(layers.position[row], len(following)):
        next_row = following[position]
        if members := onward & inward[next_row]:
            layers.position[row] = position
            member = members.bit_length() - 1
            capacity = _capacity_up(residual, next_row, member)
            if capacity > 1:
                capacity = min(capacity, _capacity_down(residual, row, member))
            return next_row, member, capacity
    layers.position[row] = len(following)
    return None


def _capacity_up(residual: Residual, row: int, member: int) -> int:
    """Return how much can be taken back from the member, or end with it, at the same cost."""
    if row < residual.hub:
        has, owns = residual.placed[row, member], residual.owned[row, member]
        return has - owns if has > owns else has
    if row == residual.hub:
        room = residual.optional[member] - residual.extra[member]
        return min(room, residual.hub_room[0]) if residual.hub_room[0] > 0 else room
    return residual.least[member] - residual.load[member]


def _capacity_down(residual: Residual, row: int, member: int) -> int:
    """Return how much can be placed with the member at the same cost."""
    if row < residual.hub:
        missing = residual.owned[row, member] - residual.placed[row, member]
        return missing if missing > 0 else UNBOUNDED
    return residual.extra[member] if row == residual.hub else UNBOUNDED


def _fill(residual: Residual, layers: Layers, way: list[Step]) -> list[Step]:
    """Send as much as the way carries; return its beginning, as far as it is still open."""
    amount = min(capacity for _, _, capacity in way)
    start, _, supply = way[0]
    _supplied(residual, start, amount)
    left = [(start, -1, supply - amount)]
    for (row, _, _), step in pairwise(way):
        next_row, member, capacity = step
        bit = 1 << member
        if _enter(residual, row, member, amount):
            layers.onward[row] ^= bit
        if _leave(residual, next_row, member, amount):
            layers.inward[next_row] ^= bit
        if capacity > amount and left[-1][0] == row:
            left.append((next_row, member, capacity - amount))
    end = way[-1][0]
    if end == residual.hub:
        residual.hub_room[0] -= amount
        if not residual.hub_room[0]:
            layers.inward[end] = 0
    return left[: len(way) - 1]


def _supplied(residual: Residual, start: int, amount: int) -> None:
    """Take what was sent from its supply."""
    residual.supply[start] -= amount
    if not residual.supply[start]:
        del residual.supply[start]
    if start == residual.hub:
        residual.hub_room[0] += amount
    elif start > residual.hub:
        residual.load[start - residual.hub - 2] -= amount


def _enter(residual: Residual, row: int, member: int, amount: int) -> bool:
    """Place partitions of the row, or from the hub, with a member; return whether that is full."""
    if row < residual.hub:
        return place(residual, row, member, amount)
    return row == residual.hub and add_extra(residual, member, -amount)


def _leave(residual: Residual, row: int, member: int, amount: int) -> bool:
    """Take partitions of the row from a member, or let it keep them; return whether it is full."""
    if row < residual.hub:
        return place(residual, row, member, -amount)
    if row == residual.hub:
        return add_extra(residual, member, amount)
    return add_load(residual, member, amount)
