"""The shortest ways on which a member gives something up: most ways are as short.

From a node through one member, a row and another member to the goal or the hub: the first member
gives up partitions of the row, and the second one gets them. Members with a surplus send together,
row by row, so that nobody's rows have to be looked for. This takes half as many steps of Python as
the search of `blocking`, which is for longer ways.
"""

from __future__ import annotations

from itertools import product
from math import ceil

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
    hub, ones, members = residual.hub, 0, 0
    for start, amount in list(residual.supply.items()):
        if start > hub:
            bit = 1 << (start - hub - 2)
            if amount == 1 and residual.remote is None:
                ones |= bit
            else:
                members |= bit
        elif layers.layer_of.get(start) == ROWS:
            push = _push_ones if start == hub and residual.remote is None else _push
            push(residual, layers, effort, start, layers.onward[start])
    near = layers.members[ROWS - 1]
    if ones := ones & near:
        _push_ones(residual, layers, effort, hub + 2, ones)
    if members := members & near:
        _push(residual, layers, effort, hub + 2, members)


def _push_ones(residual: Residual, layers: Layers, effort: Effort, node: int, givers: int) -> None:
    """Do what `_push` does where each of these members gives up one partition, and no racks matter.

    That is for the hub, to which no member passes on more than one, or for members that have one
    too much each. What becomes of several members of a row is written at once: half the time.
    """
    onward, inward, hub = layers.onward, layers.inward, residual.hub
    ways, most = 0, effort.left / STEPS
    ends = layers.rows[0]
    for row, end in product(_evenest_first(layers, givers), ends):
        while (here := givers & inward[row]) and (takers := onward[row] & inward[end]):
            count = min(here.bit_count(), takers.bit_count())
            if node == hub:
                count = min(count, residual.supply.get(hub, 0))
            if end == hub:
                count = min(count, residual.hub_room[0])
            if count > most - ways:
                count = ceil(most - ways)
            if count <= 0:
                break
            layers.touched.update((node, row, end))
            givers ^= _give_ones(residual, layers, node, row, here, count=count)
            _get_ones(residual, layers, row, end, takers, count=count)
            ways += count
    effort.ways[0] += ways
    effort.add(STEPS * ways)


def _evenest_first(layers: Layers, givers: int) -> list[int]:
    """Return the rows of the first layer, those that as many members give up as can get first.

    So more of them find each other: of 165 ways 148 have one row, and not 136.
    """
    takers = 0
    for end in layers.rows[0]:
        takers |= layers.inward[end]
    onward, inward = layers.onward, layers.inward
    return sorted(
        layers.rows[1],
        key=lambda row: abs(
            (givers & inward[row]).bit_count() - (takers & onward[row]).bit_count()
        ),
    )


def _give_ones(
    residual: Residual, layers: Layers, node: int, row: int, members: int, *, count: int
) -> int:
    """Let so many of these members give up one partition of the row each; return which."""
    owned, placed, load = residual.owned, residual.placed, residual.load
    hub, first, left = residual.hub, row * residual.width, members
    # Who has less than it owns now; whose arcs change, within what it owns and beyond.
    less = within = above = 0
    for _ in range(count):
        member = left.bit_length() - 1
        bit = 1 << member
        left ^= bit
        cell = first + member
        has, owns = placed[cell] - 1, owned[cell]
        placed[cell] = has
        if has == owns:
            above |= bit
            if owns:
                within |= bit
        elif has < owns:
            if has + 1 == owns:
                less |= bit
            if not has:
                within |= bit
        load[member] -= 1
        if node == hub:
            residual.extra[member] = 0
        else:
            del residual.supply[node + member]
    residual.down[0][row] ^= less
    residual.down[1][row] ^= less
    residual.up[0][row] ^= within
    residual.up[1][row] ^= above
    layers.inward[row] ^= within | above
    gave = members ^ left
    if node == hub:
        residual.down[1][hub] ^= gave
        residual.up[1][hub] ^= gave
        layers.onward[hub] ^= gave
        residual.hub_room[0] += count
        residual.supply[hub] -= count
        if not residual.supply[hub]:
            del residual.supply[hub]
    return gave


def _get_ones(
    residual: Residual, layers: Layers, row: int, end: int, members: int, *, count: int
) -> None:
    """Let so many of these members get one partition of the row each, and keep it or pass it on.

    All have what they own of the row, or more: nothing is nearer than the goal, as a row would be
    from which a member regains something and keeps it.
    """
    placed, load, least = residual.placed, residual.load, residual.least
    hub, first, left = residual.hub, row * residual.width, members
    full = 0
    for _ in range(count):
        member = left.bit_length() - 1
        bit = 1 << member
        left ^= bit
        placed[first + member] += 1
        load[member] += 1
        if end == hub:
            residual.extra[member] = 1
        elif load[member] == least[member]:
            full |= bit
    got = members ^ left
    new = got & ~residual.up[1][row]
    residual.up[0][row] &= ~new
    residual.up[1][row] ^= new
    if end == hub:
        full = got
        residual.down[1][hub] ^= got
        residual.hub_room[0] -= count
    residual.up[1][end] ^= full
    layers.inward[end] ^= full
    if end == hub and not residual.hub_room[0]:
        layers.inward[hub] = 0


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
            layers.touched.update((node, row, end))
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
