"""A blocking flow: use all ways through the layers before layers are computed again (Dinic).

Every step of a way leads from a row through a member to a row one layer nearer to the goal, so
the only dead ends are those that earlier ways have made. A depth-first search finds way after
way, fills each, and goes on from where the last one is still open. What is full or a dead
end is taken out of the layers.
"""

from __future__ import annotations

from assignors.optimal.flow.distances import Layers
from assignors.optimal.flow.effort import Effort
from assignors.optimal.flow.residual import (
    Residual,
    add_extra,
    add_load,
    capacity_down,
    capacity_up,
    end_supply,
    place,
    take_back,
)


def push_all(residual: Residual, layers: Layers, effort: Effort) -> int:
    """Send as much as the layers can carry; return how many ways were filled.

    Cost: ways x their length operations on sets, and the pairs of rows one layer apart.
    """
    before = effort.ways[0]
    together = residual.hub + 2
    for start in [start for start in residual.supply if start < together]:
        layer = layers.layer_of.get(start)
        if layer is not None:
            _push_from(residual, layers, effort, start, layer)
    if layers.supplied[0]:
        full = 0
        for start in residual.supply:
            full |= 1 << (start - together) if start >= together else 0
        for layer, members in enumerate(layers.members):
            if starts := full & members:
                layers.onward[-1], layers.position[-1] = starts, 0
                _push_from(residual, layers, effort, together, layer + 1)
    return effort.ways[0] - before


def _push_from(residual: Residual, layers: Layers, effort: Effort, begin: int, layer: int) -> None:
    """Send what one node, in this layer, has too much, or what members have.

    Members with a surplus count together as a row, the last one, that leads to them.
    """
    # A way leads from rows[n] through members[n] to rows[n + 1], one layer nearer to the goal.
    rows, members = [begin], list[int]()
    onward, inward, position = layers.onward, layers.inward, layers.position
    supply, steps, most = residual.supply, 0, effort.left
    are_members = begin > residual.hub
    while rows and steps < most:
        steps += 1
        if not layer:
            start = begin + members[0] if are_members else begin
            open_count = _fill(residual, layers, start, rows, members)
            effort.ways[0] += 1
            if start not in supply:
                if not are_members:
                    break
                onward[begin] ^= 1 << members[0]
                open_count = 0
            layer = len(members) - open_count
            del rows[open_count + 1 :], members[open_count:]
            continue
        row = rows[-1]
        there, following, at = onward[row], layers.rows[layer - 1], position[row]
        count, found = len(following), 0
        while at < count:
            if found := there & inward[following[at]]:
                break
            at += 1
        position[row] = at
        if found:
            rows.append(following[at])
            members.append(found.bit_length() - 1)
            layer -= 1
        else:
            inward[row] = 0
            rows.pop()
            del members[-1:]
            layer += 1
    effort.add(steps)


def _fill(
    residual: Residual, layers: Layers, start: int, rows: list[int], members: list[int]
) -> int:
    """Send as much as the way carries; return how many of its first arcs are still open.

    Arcs are counted in pairs, to a member and from it. The last pair is never counted.
    """
    amount = _amount(residual, residual.supply[start], rows, members)
    hub, onward, inward = residual.hub, layers.onward, layers.inward
    at = open_count = len(members) - 1
    end = following = rows[-1]
    while at >= 0:
        row, member = rows[at], members[at]
        if following < hub:
            is_full = take_back(residual, following, member, amount)
        elif following == hub:
            is_full = add_extra(residual, member, amount)
        else:
            is_full = add_load(residual, member, amount)
        if is_full:
            inward[following] ^= 1 << member
            open_count = at
        if row < hub:
            is_full = place(residual, row, member, amount)
        else:
            is_full = row == hub and add_extra(residual, member, -amount)
        if is_full:
            onward[row] ^= 1 << member
            open_count = at
        following = row
        at -= 1
    if end_supply(residual, start, end, amount):
        inward[end] = 0
    return open_count


def _amount(residual: Residual, amount: int, rows: list[int], members: list[int]) -> int:
    """Return how much of `amount` the way can carry. Its end has the least room, as a rule."""
    at = len(members) - 1
    while amount > 1 and at >= 0:
        member = members[at]
        amount = min(
            amount,
            capacity_up(residual, rows[at + 1], member),
            capacity_down(residual, rows[at], member),
        )
        at -= 1
    return amount
