"""The flow network: how many partitions of each row every member has so far.

The network has a node for each row, one for each member, and a hub. A row supplies its
partitions. A member must absorb `least` of them and may pass `optional` more on to the hub,
which absorbs `spare` of those: that is how "every member gets the floor, and this many of
them one more" is expressed without deciding who. The arc from a row to a member costs

    -1   while the member has less of the row than it owns: one partition regained,
     0   beyond that: a partition that is new to it,

and the way back costs the opposite: +1 for giving up one it owns. In a cell whose member has
no replica of the row in its rack, a partition costs `rack` more, which outweighs any number
of moves.

The search starts where nothing moves: every member keeps what it owns (but nothing remote). No
arc has a negative cost then, so this is the cheapest flow for what it delivers, and sending
free partitions over arcs of cost 0 keeps it so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assignors.optimal.flow.pour import pour
from assignors.optimal.flow.table import Table
from assignors.problem import Bool, Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A flow that is the cheapest for what it delivers. R rows, M members; arrays change."""

    table: Table
    """Partitions of each row that members own, 0 where not allowed, and have now."""
    allowed: Bool
    """bool[R, M]."""
    remote: Bool | None
    """bool[R, M]: cells that cost a rack; `None` where there are none."""
    least: Int64
    """int64[M]: what the member must get."""
    optional: Int64
    """int64[M]: what it may get beyond."""
    unplaced: Int64
    """int64[R]: partitions of the row that nobody has."""
    load: Int64
    """int64[M]: what the member has of all rows."""
    extra: Int64
    """int64[M]: how much of `load` goes on to the hub, at most `optional`."""
    surplus: Int64
    """int64[M]: how much of `load` the member cannot hold: load - least - extra, if positive."""
    hub_room: Int64
    """int64[1]: what the hub can still absorb; negative where it has too much."""

    @property
    def is_settled(self) -> bool:
        """Whether everything supplied has been absorbed."""
        has_more = np.count_nonzero(self.unplaced) or np.count_nonzero(self.surplus)
        return not has_more and self.hub_room[0] >= 0


def start(
    *,
    size: Int64,
    table: Table,
    allowed: Bool,
    remote: Bool | None,
    least: Int64,
    optional: Int64,
    spare: int,
) -> Network:
    """Return the network that goes on from `table`, with free partitions poured.

    `size` is int64[R], partitions in each row; `table` is the cheapest for the loads that it
    has, for example what members own, and is changed. Nothing remote is kept.
    Cost: O(R M).
    """
    if remote is not None:
        table.give_back(remote)
    by_row, load = table.sums()
    unplaced = size - by_row
    assert not np.count_nonzero(unplaced < 0), "more partitions are owned than there are"
    local = allowed if remote is None else allowed & ~remote
    pour(table, unplaced, load, least + optional, local)
    extra = np.minimum(np.maximum(load - least, 0), optional)
    return Network(
        table=table,
        allowed=allowed,
        remote=remote,
        least=least,
        optional=optional,
        unplaced=unplaced,
        load=load,
        extra=extra,
        surplus=np.maximum(load - least - extra, 0),
        hub_room=np.array([spare - int(extra.sum())], dtype=np.int64),
    )
