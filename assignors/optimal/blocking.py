"""A blocking flow: use all shortest paths before distances are computed again (Dinic).

Arcs whose length is the difference of their ends' distances form layers from the surplus to
the goal. First a sweep backwards from the goal marks the nodes from which it can be reached, so
that the only dead ends are those that earlier paths have made. Then a depth-first search finds
path after path and fills each; an arc that is full is not looked at again in this phase,
because flow along shortest paths opens only arcs that lead back.

Nodes are numbered: rows first, then members, then the hub.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from assignors.optimal.distances import Arcs, Distances
from assignors.optimal.network import Network
from assignors.problem import Bool, Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """Nodes that lie on a shortest path from some surplus to the goal."""

    row: Bool
    member: Bool
    hub: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """What a phase needs to find and fill paths, one number at a time.

    The memory views show the arrays of the network: reading one number through them is
    several times as fast as through numpy.
    """

    network: Network
    arcs: Arcs
    distances: Distances
    live: Live
    row_count: int
    hub: int
    placed: memoryview[int]
    owned: memoryview[int]
    remote: memoryview[int] | None
    down: memoryview[int]
    up: memoryview[int]
    row_distance: list[int]
    member_distance: list[int]
    unplaced: memoryview[int]
    surplus: memoryview[int]
    load: memoryview[int]
    extra: memoryview[int]
    least: memoryview[int]
    optional: memoryview[int]
    hub_room: memoryview[int]
    next_nodes: dict[int, list[int]] = field(default_factory=dict)
    """Nodes one layer on, computed when a node is first visited."""
    position: dict[int, int] = field(default_factory=dict)
    """How many of `next_nodes` are used up."""


def push_all(network: Network, arcs: Arcs, distances: Distances) -> int:
    """Send as much as shortest paths can carry; return how many paths were used.

    Cost: O(R M) for the marks, then O(path length) for each path.
    """
    live = mark_live(network, arcs, distances)
    search = _begin(network, arcs, distances, live)
    starts = np.flatnonzero((network.unplaced > 0) & live.row).tolist()
    full = np.flatnonzero((network.surplus > 0) & live.member)
    starts += (full + search.row_count).tolist()
    if network.hub_room[0] < 0:
        starts.append(search.hub)
    path_count = 0
    for start in starts:
        while (supply := _supply(search, start)) > 0:
            path = _find_path(search, start)
            if not path:
                break
            _push(search, path, _capacity(search, path, supply))
            path_count += 1
    return path_count


def mark_live(network: Network, arcs: Arcs, distances: Distances) -> Live:
    """Return the nodes from which the goal can be reached over shortest paths. Cost: O(R M)."""
    goal = distances.goal
    member, row = distances.member, distances.row
    live_row = np.zeros(len(row), dtype=np.bool_)
    live = (network.load < network.least) & (member == goal)
    to_hub = (network.extra < network.optional) & (member == distances.hub - 1)
    from_hub = (network.extra > 0) & (member == distances.hub + 1)
    live_hub = bool(network.hub_room[0] > 0) and distances.hub == goal
    new = live | to_hub if live_hub else live.copy()
    live = new.copy()
    while new.any():
        found = np.zeros(len(member), dtype=np.bool_)
        rows = np.flatnonzero(~live_row & (row < goal))
        rows = rows[_leads_down(arcs, distances, rows, new)]
        if len(rows):
            live_row[rows] = True
            found |= (arcs.up[rows] + member == row[rows, None]).any(axis=0)
        if not live_hub and distances.hub < goal and (new & from_hub).any():
            live_hub = True
            found |= to_hub
        new = found & ~live
        live |= new
    return Live(row=live_row, member=live, hub=live_hub)


def _leads_down(arcs: Arcs, distances: Distances, rows: Int64, new: Bool) -> Bool:
    """Return for each of the rows whether a shortest path leads on to one of the members."""
    members = np.flatnonzero(new)
    row, member = distances.row[rows, None], distances.member
    leads: Bool
    if len(members) * 4 < len(member):
        leads = (arcs.down[rows[:, None], members] + row == member[members]).any(axis=1)
    else:
        leads = ((arcs.down[rows] + row == member) & new).any(axis=1)
    return leads


def _begin(network: Network, arcs: Arcs, distances: Distances, live: Live) -> _Search:
    row_count, member_count = network.placed.shape
    return _Search(
        network=network,
        arcs=arcs,
        distances=distances,
        live=live,
        row_count=row_count,
        hub=row_count + member_count,
        placed=network.placed.data,
        owned=network.owned.data,
        remote=None if network.remote is None else network.remote.data,
        down=arcs.down.data,
        up=arcs.up.data,
        row_distance=distances.row.tolist(),
        member_distance=distances.member.tolist(),
        unplaced=network.unplaced.data,
        surplus=network.surplus.data,
        load=network.load.data,
        extra=network.extra.data,
        least=network.least.data,
        optional=network.optional.data,
        hub_room=network.hub_room.data,
    )


def _supply(search: _Search, node: int) -> int:
    """Return what still has to leave this node."""
    if node < search.row_count:
        return search.unplaced[node]
    if node < search.hub:
        return search.surplus[node - search.row_count]
    return -search.hub_room[0]


def _find_path(search: _Search, start: int) -> list[int]:
    """Return a shortest path from `start` to a node that absorbs, or [] if all are blocked."""
    path = [start]
    while path:
        node = path[-1]
        if _absorbs(search, node) > 0:
            return path
        following = _next_node(search, node)
        if following is not None:
            path.append(following)
            continue
        path.pop()
        if path:
            search.position[path[-1]] += 1
    return path


def _absorbs(search: _Search, node: int) -> int:
    """Return what this node can absorb, 0 where it is not a goal of this phase."""
    if node < search.row_count:
        return 0
    if node == search.hub:
        return search.hub_room[0] if search.distances.hub == search.distances.goal else 0
    member = node - search.row_count
    if search.member_distance[member] != search.distances.goal:
        return 0
    return search.least[member] - search.load[member]


def _next_node(search: _Search, node: int) -> int | None:
    """Return the next node on the way that still has room, passing over arcs that are full."""
    nodes = search.next_nodes.get(node)
    if nodes is None:
        nodes = search.next_nodes[node] = _layer_after(search, node)
        search.position[node] = 0
    position, count = search.position[node], len(nodes)
    if node < search.row_count:
        position = _open_down(search, node, nodes, position)
    elif node < search.hub:
        position = _open_up(search, node, nodes, position)
    else:
        while position < count and search.extra[nodes[position] - search.row_count] <= 0:
            position += 1
    search.position[node] = position
    return nodes[position] if position < count else None


def _open_down(search: _Search, row: int, nodes: list[int], position: int) -> int:
    """Return the position of the first member that an arc from the row still leads to."""
    down, first_member = search.down, search.row_count
    distance, member_distance = search.row_distance[row], search.member_distance
    while position < len(nodes):
        member = nodes[position] - first_member
        if down[row, member] + distance == member_distance[member]:
            break
        position += 1
    return position


def _open_up(search: _Search, node: int, nodes: list[int], position: int) -> int:
    """Return the position of the first row, or the hub, that the member can pass on to."""
    up, member, row_distance = search.up, node - search.row_count, search.row_distance
    distance = search.member_distance[member]
    while position < len(nodes):
        row = nodes[position]
        if row == search.hub:
            if search.extra[member] < search.optional[member]:
                break
        elif up[row, member] + distance == row_distance[row]:
            break
        position += 1
    return position


def _layer_after(search: _Search, node: int) -> list[int]:
    """Return the live nodes that a shortest path goes to from this one."""
    network, arcs, distances, live = search.network, search.arcs, search.distances, search.live
    if node < search.row_count:
        on_path = live.member & (arcs.down[node] + distances.row[node] == distances.member)
        return list((on_path.nonzero()[0] + search.row_count).tolist())
    if node == search.hub:
        on_path = (network.extra > 0) & live.member & (distances.member == distances.hub + 1)
        return list((on_path.nonzero()[0] + search.row_count).tolist())
    member = node - search.row_count
    distance = distances.member[member]
    on_path = live.row & (arcs.up[:, member] + distance == distances.row)
    nodes: list[int] = on_path.nonzero()[0].tolist()
    has_room = search.extra[member] < search.optional[member]
    if live.hub and distances.hub == distance + 1 and has_room:
        nodes.append(search.hub)
    return nodes


def _capacity(search: _Search, path: list[int], supply: int) -> int:
    """Return what the path can carry while its arcs keep their lengths."""
    amount = min(supply, _absorbs(search, path[-1]))
    row_count, hub = search.row_count, search.hub
    for node, following in pairwise(path):
        if amount == 1:
            break
        if node < row_count:
            member = following - row_count
            missing = search.owned[node, member] - search.placed[node, member]
            if missing > 0:
                amount = min(amount, missing)
        elif following == hub:
            member = node - row_count
            amount = min(amount, search.optional[member] - search.extra[member])
        elif node == hub:
            amount = min(amount, search.extra[following - row_count])
        else:
            member = node - row_count
            has, owns = search.placed[following, member], search.owned[following, member]
            amount = min(amount, has - owns if has > owns else has)
    assert amount > 0, "a path that carries nothing"
    return amount


def _push(search: _Search, path: list[int], amount: int) -> None:
    """Send `amount` along the path and set the lengths of its arcs anew."""
    row_count, hub = search.row_count, search.hub
    start, end = path[0], path[-1]
    if start < row_count:
        search.unplaced[start] -= amount
    elif start < hub:
        search.surplus[start - row_count] -= amount
        search.load[start - row_count] -= amount
    else:
        search.hub_room[0] += amount
    for node, following in pairwise(path):
        if node < row_count:
            _place(search, node, following - row_count, amount)
        elif following == hub:
            search.extra[node - row_count] += amount
            search.load[node - row_count] += amount
        elif node == hub:
            search.extra[following - row_count] -= amount
            search.load[following - row_count] -= amount
        else:
            _place(search, following, node - row_count, -amount)
    if end == hub:
        search.hub_room[0] -= amount
    else:
        search.load[end - row_count] += amount


def _place(search: _Search, row: int, member: int, amount: int) -> None:
    """Change one cell of the table."""
    arcs = search.arcs
    has = search.placed[row, member] + amount
    owns = search.owned[row, member]
    search.placed[row, member] = has
    rack = arcs.rack if search.remote is not None and search.remote[row, member] else 0
    search.down[row, member] = rack + 1 - (arcs.move if has < owns else 0)
    if has <= 0:
        search.up[row, member] = arcs.far
    else:
        search.up[row, member] = 1 - rack + (arcs.move if has <= owns else 0)
