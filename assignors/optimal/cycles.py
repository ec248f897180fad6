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

Node = tuple[str, int, int]


class Cell(NamedTuple):
    """A row and a member, with what can be done there."""

    count: int
    """How many of the topic the member has."""
    placing: int
    """What placing one costs, beyond the spread; `CLOSED` where it must not be."""
    taking: int
    """What taking one back costs; `CLOSED` where it must not be."""


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
        self,
        *,
        row: Int64,
        member: Int64,
        topic: Int64 | None,
        count: Int64,
        placing: Int64,
        taking: Int64,
        unit: int,
    ) -> None:
        """Take int64[C] each; `topic` is `None` where each row is a topic."""
        self.unit = unit
        self.rows, self.row = np.unique(row, return_inverse=True)
        self.members, self.member = np.unique(member, return_inverse=True)
        self.row_begin = np.searchsorted(self.row, np.arange(len(self.rows)))
        self.count, self.placing, self.taking = count, placing, taking
        self.by_member = self.member.argsort(kind="stable")
        self.member_begin = np.searchsorted(
            self.member[self.by_member], np.arange(len(self.members))
        )
        self.pair: Int64 | None = None
        if topic is not None:
            key = topic * len(self.members) + self.member
            _, self.pair = np.unique(key, return_inverse=True)
            self.by_pair = self.pair.argsort(kind="stable")
            self.pair_begin = np.searchsorted(
                self.pair[self.by_pair], np.arange(int(self.pair.max()) + 1)
            )
        least = np.where(taking < CLOSED, taking - unit * (2 * count - 1), 0)
        self.label = np.minimum.reduceat(least, self.row_begin)
        self.before = np.full(len(self.rows), -1, dtype=np.int64)
        """int64[R]: the row from which the label was lowered last, -1 for none."""
        self.placed = np.zeros(len(self.rows), dtype=np.int64)
        """int64[R]: the cell in which a partition is placed on the way."""
        self.taken = np.zeros(len(self.rows), dtype=np.int64)
        """int64[R]: the cell from which one is taken."""
        self.over_hub = np.zeros(len(self.rows), dtype=np.bool_)

    def sweep(self, up: Bool, down: Bool) -> Int64:
        """Lower labels over all arcs; return the rows whose labels were lowered.

        `up` and `down` are bool[M].
        """
        reach = self.label[self.row] + self.placing
        if self.pair is not None:  # from a row of the topic to the pair, and on to the member
            reach = np.minimum.reduceat(reach[self.by_pair], self.pair_begin)[self.pair]
        onward = reach + self.unit * (2 * self.count + 1)
        of_member = np.minimum.reduceat(onward[self.by_member], self.member_begin)
        is_over_hub = np.zeros(len(of_member), dtype=np.bool_)
        source = np.arange(len(of_member))
        from_member = of_member
        able = np.flatnonzero(up)
        if len(able):
            first = able[of_member[able].argmin()]
            is_over_hub = down & (of_member > of_member[first])
            from_member = np.where(is_over_hub, of_member[first], of_member)
            source = np.where(is_over_hub, first, source)
        back = from_member[self.member] - self.unit * (2 * self.count - 1)
        if self.pair is not None:
            back = np.minimum(back, reach)
        reached = back + self.taking
        lowest = np.minimum.reduceat(reached, self.row_begin)
        lowered = np.flatnonzero(lowest < self.label)
        if not len(lowered):
            return lowered
        self._remember(lowered, lowest, reached, reach, onward, of_member, source, is_over_hub)
        self.label[lowered] = lowest[lowered]
        return lowered

    def _remember(
        self,
        lowered: Int64,
        lowest: Int64,
        reached: Int64,
        reach: Int64,
        onward: Int64,
        of_member: Int64,
        source: Int64,
        is_over_hub: Bool,
    ) -> None:
        """Remember the arcs over which these rows are reached."""
        best = np.flatnonzero(reached == lowest[self.row])[::-1]
        taken = np.empty(len(self.rows), dtype=np.int64)
        taken[self.row[best]] = best
        taken = taken[lowered]
        first = np.flatnonzero(onward == of_member[self.member])[::-1]
        placed_with = np.empty(len(self.members), dtype=np.int64)
        placed_with[self.member[first]] = first
        member = self.member[taken]
        placed = placed_with[source[member]]
        over_hub = is_over_hub[member]
        if self.pair is not None:
            # The cells of a pair are as near to the member: the one that is nearest to its row.
            nearest = np.flatnonzero(self.label[self.row] + self.placing == reach)[::-1]
            in_pair = np.empty(int(self.pair.max()) + 1, dtype=np.int64)
            in_pair[self.pair[nearest]] = nearest
            is_within = reach[taken] + self.taking[taken] == lowest[lowered]
            placed = np.where(is_within, in_pair[self.pair[taken]], in_pair[self.pair[placed]])
            over_hub &= ~is_within
        self.before[lowered] = self.row[placed]
        self.placed[lowered], self.taken[lowered] = placed, taken
        self.over_hub[lowered] = over_hub

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
                Arc(("row", int(self.before[row]), 0), int(self.placing[placed]), placed, more=1)
            )
            is_within = pair == other and not self.over_hub[row]
            if not is_within or self.pair is None:
                arcs.append(Arc(pair, self.unit * (2 * int(self.count[placed]) + 1)))
                if self.over_hub[row]:
                    arcs.append(Arc(("member", to, 0), 0, member=to, more=1))
                    arcs.append(Arc(("hub", 0, 0), 0, member=from_, more=-1))
                arcs.append(
                    Arc(("member", from_, 0), -self.unit * (2 * int(self.count[taken]) - 1))
                )
            arcs.append(Arc(other, int(self.taking[taken]), taken, more=-1))
        return arcs

    def _pair(self, cell: int) -> Node:
        return "pair", cell if self.pair is None else int(self.pair[cell]), 0


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
    loads: Callable[[], tuple[Bool, Bool]],
    change: Callable[[int, int, int], None],
    change_load: Callable[[int], None],
    is_spent: Callable[[int], bool],
    refresh: Callable[[int], Sequence[tuple[int, Cell]]],
) -> bool:
    """Pass partitions on until no cycle is negative; return whether it ended before the limit.

    `loads` returns who may have one more, and who one less, bool[M]; `change` and `change_load` do
    what a cycle says, `refresh` says what cells are like then, and `is_spent` counts steps.
    Cost: O(C) for each sweep; at most R sweeps for each cycle, a few in practice.
    """
    up, down = loads()
    while not is_spent(len(cells.rows)):
        lowered = cells.sweep(up, down)
        if not len(lowered):
            return True
        found = cells.cycles(lowered.tolist())
        if not found:
            continue
        touched: set[Node] = set()
        for cycle in found:
            part = negative_part(cells.walk(cycle))
            nodes = {arc.start for arc in part if arc.start[0] != "row"}
            if touched & nodes:
                continue
            touched |= nodes
            for arc in part:
                if arc.cell >= 0:
                    row, member = cells.rows[cells.row[arc.cell]], cells.members[cells.member[arc.cell]]
                    change(int(row), int(member), arc.more)
                elif arc.more:
                    change_load(int(cells.members[arc.member]))
            for arc in part:
                if arc.cell >= 0:
                    for place, cell in refresh(arc.cell):
                        cells.count[place], cells.placing[place], cells.taking[place] = cell
        cells.before.fill(-1)
        up, down = loads()
    return False
