"""The fewest moves that reach given loads: a min-cost flow on the table of rows x members.

The primal-dual method: send as much as cheapest ways carry, compute distances again where
nothing can be sent any more, and repeat until no surplus is left. No arc is ever shorter than
the difference of the distances of its ends, which proves that the flow is the cheapest for
what it delivers; when everything is delivered it is the cheapest of all. A group in which
little changed needs no phase after the initial flow.

If some surplus can reach nothing that absorbs, what it does reach is a minimum cut: the
proof that the demanded loads do not exist.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assignors.optimal.flow.blocking import push_all
from assignors.optimal.flow.distances import (
    Distances,
    layers_of,
    move_away,
    no_distances,
)
from assignors.optimal.flow.effort import Effort
from assignors.optimal.flow.network import Network
from assignors.optimal.flow.residual import Residual, residual_of
from assignors.problem import Bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A minimum cut: rows reached from the surplus, bool[R], and members reached, bool[M].

    Partitions of these rows can be taken only by these members, which are all full.
    """

    row: Bool
    member: Bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How the search ended.

    `cut` is `None` when everything supplied was absorbed, or when the limit was reached.
    """

    cut: Cut | None
    is_settled: bool
    """Whether everything supplied was absorbed."""
    distances: Distances
    """What proves that the flow is the cheapest for what it delivers."""


def settle(network: Network, effort: Effort) -> Outcome:
    """Send all surplus of the network to where it can be absorbed, at the least cost.

    Changes the table of the network, `load` and `unplaced`, no other array. Stops where `effort` is
    spent: what is placed then is the cheapest table for the loads that it has.
    Cost: O(R M) in numpy, then phases x layers x R + ways x their length operations on sets of
    M bits. A phase ends with every surplus further from the goal, in cost or in hops.
    """
    if network.is_settled:
        still = no_distances(*network.allowed.shape)
        return Outcome(cut=None, is_settled=True, distances=still)
    residual = residual_of(network)
    cut, distances = search(residual, effort)
    network.load[:] = residual.load
    network.unplaced[:] = [residual.supply.get(row, 0) for row in range(residual.hub)]
    return Outcome(cut=cut, is_settled=not residual.supply, distances=distances)


def search(residual: Residual, effort: Effort) -> tuple[Cut | None, Distances]:
    """Send what there is until nothing is left, or `effort` is; return a cut if there is one.

    The distances at the end are the second one.

    Changes `residual`. Cost: as `settle`, without the tables.
    """
    distances = no_distances(residual.hub, len(residual.load))
    while residual.supply and not effort.is_spent:
        layers = layers_of(residual, distances, effort)
        if push_all(residual, layers, effort):
            effort.phases[0] += 1
        elif not (effort.is_spent or move_away(residual, distances, layers)):
            return _cut(residual), distances
    return None, distances


def _cut(residual: Residual) -> Cut:
    """Return what the surplus reaches. Cost: rows x hops operations on sets."""
    hub, width = residual.hub, len(residual.load)
    new = sum(1 << (node - hub - 2) for node in residual.supply if node > hub)
    rows = [row in residual.supply for row in range(hub + 1)]
    for row in np.flatnonzero(rows).tolist():
        new |= _receivers(residual, row)
    members = 0
    while new:
        members |= new
        found = 0
        for row, is_reached in enumerate(rows):
            if not is_reached and any(up[row] & new for up in residual.up):
                rows[row] = True
                found |= _receivers(residual, row)
        new = found & ~members
    packed = np.frombuffer(members.to_bytes(width // 8 + 1, "little"), dtype=np.uint8)
    member = np.unpackbits(packed, bitorder="little", count=width).astype(np.bool_)
    return Cut(row=np.array(rows[:hub]), member=member)


def _receivers(residual: Residual, row: int) -> int:
    """Return the members with whom a partition of the row can be placed."""
    members = 0
    for down in residual.down:
        members |= down[row]
    return members
