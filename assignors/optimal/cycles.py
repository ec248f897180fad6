"""Pass partitions on along negative cycles until none is left: the search of `spread`, on arrays.

The nodes are rows, members, the pairs of a topic and a member between them, and the hub, through
which a member that may have one more passes it on to one that may have one less. A sweep lowers
the labels of all rows over all arcs at once (Bellman-Ford). Each row remembers the arcs over which
its label was lowered last; a cycle of these is negative. When a sweep lowers nothing, the labels
prove that there is no negative cycle, and so that the spread is the least.
Source: Ahuja, Magnanti and Orlin, "Network Flows", 5.5 (label correction and negative cycles),
9.6 (cycle cancelling), 14.3 (convex costs).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from assignors.problem import Bool, Int64

CLOSED = 1 << 60
"""Length of an arc that nothing can be sent over."""

Node = tuple[str, int]


class Cell(NamedTuple):
    """What can be done with a row and a member."""

    placing: int
    """What placing one of the row costs before it counts as the topic's, `CLOSED` if it must not
    be."""
    gain: int
    """What one more of the topic costs the member."""
    loss: int
    """What one less of the topic costs."""
    taking: int
    """What taking one of the row back costs, `CLOSED` if it must not be."""


class Arc(NamedTuple):
    """A step of a closed walk: from where, at what cost, and which cell or load it changes."""

    start: Node
    cost: int
    cell: int = -1
    member: int = -1
    more: int = 0


class Cells:
    """Cells as arrays, in the order of rows and then members, with labels of rows.

    Lengths: C cells, R rows, M members that occur, Q pairs.
    """

    def __init__(
        self, *, row: Int64, member: Int64, topic: Int64 | None, costs: Sequence[Int64]
    ) -> None:
        """Take int64[C] each, `costs` as in `Cell`; `topic` is `None` where each row is a topic."""
        self.row, self.member_of = row, member
        self.row_count = int(row[-1]) + 1
        self.row_begin = row.searchsorted(np.arange(self.row_count))
        self.members, self.member = np.unique(member, return_inverse=True)
        self.by_member = self.member.argsort(kind="stable")
        ordered = self.member[self.by_member]
        self.member_begin = ordered.searchsorted(np.arange(len(self.members)))
        self.row_by_member = row[self.by_member]
        self.place = np.empty(len(row), dtype=np.int64)
        """int64[C]: where a cell is in the order of members."""
        self.place[self.by_member] = np.arange(len(row))
        self.pair: Int64 | None = None
        if topic is not None:
            _, self.pair = np.unique(topic * len(self.members) + self.member, return_inverse=True)
            self.by_pair = self.pair.argsort(kind="stable")
            pairs = np.arange(int(self.pair.max()) + 1)
            self.pair_begin = self.pair[self.by_pair].searchsorted(pairs)
        self.placing, self.gain, self.loss, self.taking = costs
        self.inward = (self.placing + self.gain)[self.by_member]
        """int64[C]: from the row to the member, in the order of members."""
        self.outward = self.taking + self.loss
        self.label = np.minimum.reduceat(np.minimum(self.outward, 0), self.row_begin)
        """int64[R]."""
        self.before = np.full(self.row_count, -1)
        """int64[R]: the row from which the label was lowered last, -1 for none."""
        self.placed = np.zeros(self.row_count, dtype=np.int64)
        """int64[R]: the cell in which a partition is placed on the way."""
        self.taken = np.zeros(self.row_count, dtype=np.int64)
        """int64[R]: the cell from which one is taken."""
        self.over_hub = np.zeros(self.row_count, dtype=np.bool_)

    def set(self, cell: int, costs: Cell) -> None:
        """Change what can be done in a cell."""
        self.placing[cell], self.gain[cell], self.loss[cell], self.taking[cell] = costs
        self.inward[self.place[cell]] = costs.placing + costs.gain
        self.outward[cell] = costs.taking + costs.loss

    def sweep(self, up: Int64, down: Bool) -> Int64:
        """Lower labels over all arcs; return the rows whose labels were lowered.

        `up` are the members that may have one more, `down`, bool[M], those that may have one less.
        """
        reach = None
        if self.pair is None:
            onward = self.label[self.row_by_member] + self.inward
        else:  # from a row of the topic to the pair, and on to the member
            reach = self.label[self.row] + self.placing
            reach = np.minimum.reduceat(reach[self.by_pair], self.pair_begin)[self.pair]
            onward = (reach + self.gain)[self.by_member]
        of_member = np.minimum.reduceat(onward, self.member_begin)
        nearest, hub = of_member, -1
        if len(up):
            hub = int(up[of_member[up].argmin()])
            nearest = np.where(down, np.minimum(of_member, of_member[hub]), of_member)
        reached = nearest[self.member]
        if reach is None:
            reached += self.outward
        else:
            reached = np.minimum(reached + self.loss, reach) + self.taking
        lowest = np.minimum.reduceat(reached, self.row_begin)
        lowered: Int64 = (lowest < self.label).nonzero()[0]
        for row in lowered.tolist():
            begin = self.row_begin[row]
            end = self.row_begin[row + 1] if row + 1 < self.row_count else len(self.row)
            taken = int(reached[begin:end].argmin() + begin)
            member = source = int(self.member[taken])
            if nearest[member] < of_member[member]:
                source = hub
            if reach is not None and reach[taken] + self.taking[taken] == lowest[row]:
                placed, source = self._nearest_in_pair(taken, reach), member
            else:
                begin = self.member_begin[source]
                last = source + 1 == len(self.members)
                end = len(self.row) if last else self.member_begin[source + 1]
                placed = int(self.by_member[onward[begin:end].argmin() + begin])
                placed = placed if reach is None else self._nearest_in_pair(placed, reach)
            self.before[row] = self.row[placed]
            self.placed[row], self.taken[row] = placed, taken
            self.over_hub[row] = source != member
        self.label[lowered] = lowest[lowered]
        return lowered

    def _nearest_in_pair(self, cell: int, reach: Int64) -> int:
        """Return the cell of the pair over which the pair is reached."""
        assert self.pair is not None
        pair = self.pair[cell]
        last = pair + 1 == len(self.pair_begin)
        end = len(self.row) if last else self.pair_begin[pair + 1]
        cells = self.by_pair[self.pair_begin[pair] : end]
        far = self.label[self.row[cells]] + self.placing[cells]
        return int(cells[far.argmin()])

    def cycles(self, lowered: Sequence[int]) -> list[list[int]]:
        """Return cycles of rows, each from a row to the one before it."""
        before, found = self.before.tolist(), []
        seen: dict[int, int] = {}
        for turn, row in enumerate(lowered):
            at, path = row, []
            while at >= 0 and at not in seen:
                seen[at] = turn
                path.append(at)
                at = before[at]
            if at >= 0 and seen[at] == turn:
                found.append(path[path.index(at) :])
        return found

    def walk(self, cycle: list[int]) -> list[Arc]:
        """Return the steps of a cycle of rows, from the first to the last."""
        arcs: list[Arc] = []
        for row in reversed(cycle):
            placed, taken = int(self.placed[row]), int(self.taken[row])
            to, from_ = int(self.member[placed]), int(self.member[taken])
            pair, other = self._pair(placed), self._pair(taken)
            arcs.append(
                Arc(("row", int(self.before[row])), int(self.placing[placed]), placed, more=1)
            )
            is_within = pair == other and not self.over_hub[row]
            if not is_within or self.pair is None:
                arcs.append(Arc(pair, int(self.gain[placed])))
                if self.over_hub[row]:
                    arcs.append(Arc(("member", to), 0, member=to, more=1))
                    arcs.append(Arc(("hub", 0), 0, member=from_, more=-1))
                arcs.append(Arc(("member", from_), int(self.loss[taken])))
            arcs.append(Arc(other, int(self.taking[taken]), taken, more=-1))
        return arcs

    def _pair(self, cell: int) -> Node:
        return "pair", cell if self.pair is None else int(self.pair[cell])


def negative_part(walk: list[Arc]) -> list[Arc]:
    """Return a part of a closed walk that is closed, passes no node twice, and costs less than 0."""
    steps: list[Arc] = []
    for arc in walk:
        for place, earlier in enumerate(steps):
            if earlier.start == arc.start:
                part = steps[place:]
                if sum(each.cost for each in part) < 0:
                    return part
                del steps[place:]
                break
        steps.append(arc)
    assert sum(each.cost for each in steps) < 0, "a cycle of lowered labels costs something"
    return steps


def cancel_cycles(
    cells: Cells,
    *,
    loads: Callable[[], tuple[Int64, Bool]],
    change: Callable[[int, int], Sequence[tuple[int, Cell]]],
    change_load: Callable[[int], None],
    is_spent: Callable[[int], bool],
) -> bool:
    """Pass partitions on until no cycle is negative; return whether it ended before the limit.

    `loads` returns who may have one more, and who one less, as in `Cells.sweep`. `change` lets the
    member of a cell have more of its row, and returns what cells are like then; `change_load` lets
    a member have one more or one less; `is_spent` counts steps.
    Cost: O(C) for each sweep; at most R sweeps for each cycle, a few in practice.
    """
    up, down = loads()
    while not is_spent(cells.row_count):
        lowered = cells.sweep(up, down)
        if not len(lowered):
            return True
        touched: set[Node] = set()
        for cycle in cells.cycles(lowered.tolist()):
            part = negative_part(cells.walk(cycle))
            nodes = {arc.start for arc in part if arc.start[0] != "row"}
            if touched & nodes:
                continue
            touched |= nodes
            for arc in part:
                if arc.cell >= 0:
                    for cell, costs in change(arc.cell, arc.more):
                        cells.set(cell, costs)
                elif arc.more:
                    change_load(int(cells.members[arc.member]))
        if touched:
            cells.before.fill(-1)
            up, down = loads()
    return False
