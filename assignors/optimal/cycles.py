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

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from assignors.optimal.flow.effort import Effort
from assignors.optimal.flow.table import narrow
from assignors.problem import Bool, Int64

LISTED_MAX = 4_000
"""So many cells are worth a list."""
CLOSED = 1 << 60
"""Length of an arc that nothing can be sent over."""

Node = tuple[str, int]


class Arc(NamedTuple):
    """A step of a closed walk: from where, at what cost, and which cell or load it changes."""

    start: Node
    cost: int
    cell: int = -1
    member: int = -1
    more: int = 0


class Cells:
    """Cells (a row and a member) as arrays, in the order of rows and then members.

    Lengths: C cells, R rows, M members that occur.
    """

    def __init__(
        self,
        *,
        row: Int64,
        member: Int64,
        topic: Int64 | None,
        count: Int64,
        owned: Int64,
        more: Int64,
        may_gain: Bool,
        may_lose: Bool,
        unit: int,
        discount: int,
    ) -> None:
        """Take arrays of length C; `topic` is `None` where each row is a topic.

        `count` is how many of the topic the member has, `owned` how many of the row it owns,
        `more` how many more than that it has; `may_gain` and `may_lose` as in `spread.Face`.
        """
        self.row, self.row_count = row, int(row[-1]) + 1
        self.row_begin = row.searchsorted(np.arange(self.row_count))
        self.members = np.bincount(member).nonzero()[0]
        self.member = self.members.searchsorted(member)
        self.by_member = narrow(self.member, len(self.members)).argsort(kind="stable")
        ordered = self.member[self.by_member]
        self.member_begin = ordered.searchsorted(np.arange(len(self.members)))
        self.row_by_member, self.member_by_member = row[self.by_member], ordered
        place = np.empty(len(row), dtype=np.int64)
        place[self.by_member] = np.arange(len(row))
        self.pair: Int64 | None = None
        if topic is not None:
            _, self.pair = np.unique(topic * len(self.members) + self.member, return_inverse=True)
            self.by_pair = self.pair.argsort(kind="stable")
            pairs = np.arange(int(self.pair.max()) + 1)
            self.pair_begin = self.pair[self.by_pair].searchsorted(pairs)
        is_short, is_over = more < 0, more > 0
        can_place = may_gain | (may_lose & is_short)
        can_take = (may_gain & is_over) | (may_lose & (owned + more > 0))
        self.placing = np.where(can_place, -discount * is_short, CLOSED)
        """int64[C]: what placing one of the row costs before it counts as the topic's."""
        self.taking = np.where(can_take, discount * ~is_over, CLOSED)
        """int64[C]: what taking one of the row back costs."""
        self.gain, self.loss = unit * (2 * count + 1), -unit * (2 * count - 1)
        """int64[C]: what one more, and one less, of the topic costs the member."""
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
        self.unit, self.discount = unit, discount
        self.row_of, self.member_of, self.place = map(_numbers, (row, self.member, place))
        self.owned, self.more, self.count = map(_numbers, (owned, more, count))
        self.may_gain, self.may_lose = map(_numbers, (may_gain, may_lose))
        self.changed: set[int] = set()

    def change(self, cell: int, more: int) -> None:
        """Let a member have one more or one less of a row."""
        self.more[cell] += more
        self.changed.add(cell)
        for each in self._beside(cell):
            self.count[each] += more
            self._update(each)

    def forget(self) -> None:
        """Forget by which rows labels were lowered: arcs have changed since."""
        self.before.fill(-1)

    def _beside(self, cell: int) -> Sequence[int]:
        """Return the cells of the topic and the member of a cell."""
        if self.pair is None:
            return (cell,)
        pair = int(self.pair[cell])
        end = self.pair_begin[pair + 1] if pair + 1 < len(self.pair_begin) else len(self.row_of)
        found: list[int] = self.by_pair[self.pair_begin[pair] : end].tolist()
        return found

    def _update(self, cell: int) -> None:
        """Compute what can be done in a cell."""
        more, gaining, losing = self.more[cell], self.may_gain[cell], self.may_lose[cell]
        placing = taking = CLOSED
        if gaining or (losing and more < 0):
            placing = -self.discount if more < 0 else 0
        if (gaining and more > 0) or (losing and self.owned[cell] + more > 0):
            taking = self.discount if more <= 0 else 0
        gain = self.unit * (2 * self.count[cell] + 1)
        loss = 2 * self.unit - gain
        self.placing[cell], self.taking[cell] = placing, taking
        self.gain[cell], self.loss[cell] = gain, loss
        self.inward[self.place[cell]] = placing + gain
        self.outward[cell] = taking + loss

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
        is_lowered = lowest < self.label
        lowered: Int64 = is_lowered.nonzero()[0]
        if not len(lowered):
            return lowered
        # Of several arcs that are as short the first is remembered: it is written last.
        best = ((reached == lowest[self.row]) & is_lowered[self.row]).nonzero()[0][::-1]
        self.taken[self.row[best]] = best
        taken = self.taken[lowered]
        member = self.member[taken]
        over_hub = nearest[member] < of_member[member]
        source = np.where(over_hub, hub, member)
        first = (onward == of_member[self.member_by_member]).nonzero()[0][::-1]
        from_ = np.empty(len(self.members), dtype=np.int64)
        from_[self.member_by_member[first]] = self.by_member[first]
        placed = from_[source]
        if reach is not None:
            is_within = reach[taken] + self.taking[taken] == lowest[lowered]
            over_hub &= ~is_within
            pairs = np.where(is_within, taken, placed).tolist()
            placed = np.array([self._nearest_in_pair(cell) for cell in pairs])
        self.before[lowered] = self.row[placed]
        self.placed[lowered], self.over_hub[lowered] = placed, over_hub
        self.label[lowered] = lowest[lowered]
        return lowered

    def _nearest_in_pair(self, cell: int) -> int:
        """Return the cell of the pair over which the pair is reached."""
        cells = self._beside(cell)
        far = self.label[self.row[cells]] + self.placing[cells]
        return cells[int(far.argmin())]

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
            to, from_ = int(self.member_of[placed]), int(self.member_of[taken])
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


def _numbers(values: Int64 | Bool) -> Any:  # noqa: ANN401 - lists and arrays are read alike
    """Return what single numbers are read from: of a list in a tenth of the time."""
    return values.tolist() if len(values) <= LISTED_MAX else values.copy()


def negative_part(walk: list[Arc]) -> list[Arc]:
    """Return a part of a closed walk that passes no node twice and costs less than 0."""
    steps: list[Arc] = []
    places: dict[Node, int] = {}
    for arc in walk:
        place = places.get(arc.start)
        if place is not None:
            part = steps[place:]
            if sum([each.cost for each in part]) < 0:
                return part
            for each in part:
                del places[each.start]
            del steps[place:]
        places[arc.start] = len(steps)
        steps.append(arc)
    assert sum([each.cost for each in steps]) < 0, "a cycle of lowered labels costs something"
    return steps


def cancel_cycles(cells: Cells, up: Bool, down: Bool, effort: Effort) -> bool:
    """Pass partitions on until no cycle is negative; return whether `effort` sufficed.

    `up` and `down` are bool[M]: who may have one more, and who one less. They change.
    Cost: O(C) for each sweep; at most R sweeps for each cycle, a few in practice.
    """
    able = up.nonzero()[0]
    while not effort.is_spent:
        effort.add(cells.row_count)
        lowered = cells.sweep(able, down)
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
                    cells.change(arc.cell, arc.more)
                elif arc.more:
                    up[arc.member] ^= True
                    down[arc.member] ^= True
        if touched:
            cells.forget()
            able = up.nonzero()[0]
    return False
