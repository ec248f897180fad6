"""The shortest ways on which a member gives something up: most ways are as short.

From a node through one member, a row and another member to the goal or the hub: the first member
gives up partitions of the row, and the second one gets them. Members with a surplus send together,
row by row, so that nobody's rows have to be looked for. This takes half as many steps of Python as
the search of `blocking`, which is for longer ways.
"""

from __future__ import annotations

from itertools import product

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

ROWS = 2
"""The layer in which such a way starts: a row lies behind it, and the goal or the hub."""
STEPS = 3
"""What a way counts: the start, the row, and what is sent."""


def push_over_one_row(residual: Residual, layers: Layers, effort: Effort) -> None:
    """Send what nodes in layer `ROWS` have too much. Cost: ways, and rows for each node.

    Members that have too much count as one node.
    """
    if len(layers.rows) < ROWS:
        return
    hub, members = residual.hub, 0
    for start in list(residual.supply):
        if start > hub:
            members |= 1 << (start - hub - 2)
        elif layers.layer_of.get(start) == ROWS:
            _push(residual, layers, effort, start, layers.onward[start])
    if members := members & layers.members[ROWS - 1]:
        _push(residual, layers, effort, hub + 2, members)


def _push(residual: Residual, layers: Layers, effort: Effort, node: int, givers: int) -> None:
    """Send what a node has too much over these members, or what each of them has.

    One pass over the rows finds all ways: what is full stays full.
    """
    onward, inward, hub = layers.onward, layers.inward, residual.hub
    ways, most = 0, effort.left / STEPS
    for row, end in product(layers.rows[1], layers.rows[0]):
        while (here := givers & inward[row]) and (takers := onward[row] & inward[end]):
            if ways >= most:
                break
            ways += 1
            giver, taker = here.bit_length() - 1, takers.bit_length() - 1
            start = node if node <= hub else node + giver
            if _is_last(residual, layers, (start, giver, row, taker, end)):
                givers = givers ^ (1 << giver) if start > hub or start in residual.supply else 0
    effort.ways[0] += ways
    effort.add(STEPS * ways)


def _is_last(residual: Residual, layers: Layers, way: tuple[int, int, int, int, int]) -> bool:
    """Send as much as a way carries; return whether its start sends no more over its member."""
    start, giver, row, taker, end = way
    hub, onward, inward = residual.hub, layers.onward, layers.inward
    amount = residual.supply[start]
    if amount > 1:
        amount = min(
            amount,
            capacity_up(residual, end, taker),
            capacity_down(residual, row, taker),
            capacity_up(residual, row, giver),
            capacity_down(residual, start, giver),
        )
    if (add_extra if end == hub else add_load)(residual, taker, amount):
        inward[end] ^= 1 << taker
    if place(residual, row, taker, amount):
        onward[row] ^= 1 << taker
    if take_back(residual, row, giver, amount):
        inward[row] ^= 1 << giver
    if start < hub:
        is_full = place(residual, start, giver, amount)
    else:  # a member with a surplus sends to itself
        is_full = start == hub and add_extra(residual, giver, -amount)
    if is_full:
        onward[start] ^= 1 << giver
    if end_supply(residual, start, end, amount):
        inward[end] = 0
    return is_full or start not in residual.supply
