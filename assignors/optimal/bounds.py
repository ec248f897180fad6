"""How good an assignment can be, and a proof that one is or is not balanced.

`optimum` runs the solver and reports what it reached: a bound for any assignment, if the solver
is right. `improving_path` does not depend on the solver. It looks at an assignment alone and
asks: can a member pass a partition to another, which passes one to a third, and so on, so that
in the end one member has one fewer and another, which had at least two fewer than it, has one
more? If there is such a chain, the moves along it make the loads more equal. If there is none,
no assignment has more equal loads, in every sense at once: the sum of squares, the maximum, and
the largest k loads for every k. Source: Harvey, Ladner, Lovasz,
Tamir, "Semi-matchings for bipartite graphs and load balancing" (2006), theorem 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assignors.optimal.rows import Rows, build, topic_rows
from assignors.optimal.solve import solve, spread_of
from assignors.problem import NOBODY, Bool, Int32, Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The best that any assignment of a group can do, in the order of aims."""

    load_square_sum: int
    """Smallest sum of squared loads; a load vector that has it also has the least maximum."""
    load_max: int
    rack_mismatch_min: int
    """Fewest partitions without a replica in their member's rack, among the balanced; 0
    without racks."""
    kept_max: int
    """Most partitions that stay with their owner, among those best in the aims before."""
    moves_min: int
    """Fewest that leave an owner who may keep them. An assignment that is less balanced may
    well move fewer."""
    spread_min: int
    """Least sum, over topics and members, of squared counts, among those best in the aims
    before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """One partition that moves from one member to another."""

    partition: int
    giver: int
    receiver: int


def optimum(
    first: Int64,
    takes: Bool,
    class_of: Int32,
    owner: Int32,
    *,
    rack: Int32 | None = None,
    replica_set: Int32 | None = None,
    replica_racks: Bool | None = None,
) -> Bound:
    """Return the best any assignment can do. Arguments and cost are those of `solve`.

    >>> optimum(
    ...     np.array([0, 4]),
    ...     np.array([[True]]),
    ...     np.array([0, 0], dtype=np.int32),
    ...     np.array([0, 0, 0, 0], dtype=np.int32),
    ... )
    Bound(load_square_sum=8, load_max=2, rack_mismatch_min=0, kept_max=2, moves_min=2, spread_min=8)
    """
    solved = solve(
        first=first,
        takes=takes,
        class_of=class_of,
        owner=owner,
        rack=rack,
        replica_set=replica_set,
        replica_racks=replica_racks,
    )
    mismatch_count = 0
    if rack is not None and replica_set is not None and replica_racks is not None:
        given = np.flatnonzero(solved.owner >= 0)
        at = rack[solved.owner[given]]
        placed, at = given[at >= 0], at[at >= 0]
        mismatch_count = int(np.count_nonzero(~replica_racks[replica_set[placed], at]))
    held = np.flatnonzero(owner >= 0)
    topic = np.repeat(np.arange(len(first) - 1), np.diff(first))[held]
    claimed_count = int(np.count_nonzero(takes[class_of[owner[held]], topic]))
    return Bound(
        load_square_sum=solved.load_square_sum,
        load_max=solved.load_max,
        rack_mismatch_min=mismatch_count,
        kept_max=solved.kept,
        moves_min=claimed_count - solved.kept,
        spread_min=spread_of(first, solved.owner),
    )


def is_balanced(first: Int64, takes: Bool, class_of: Int32, given: Int32) -> bool:
    """Return whether no assignment of the same partitions has more equal loads.

    `given` is int32[P], who holds each partition. Partitions that nobody holds, or that are
    held by a member that does not take the topic, are not counted.
    Cost: that of `improving_path`.
    """
    return not improving_path(first, takes, class_of, given)


def improving_path(first: Int64, takes: Bool, class_of: Int32, given: Int32) -> tuple[Shift, ...]:
    """Return shifts that together make the loads more equal, () if there are none.

    Each receiver but the last is the giver of the next shift, and the last receiver has at
    least two partitions fewer than the first giver. The chain is as short as any from that
    giver. Cost: O(P + sweeps x R M), at most M sweeps, a few in practice.

    >>> arguments = np.array([0, 3]), np.array([[True]]), np.array([0, 0], dtype=np.int32)
    >>> improving_path(*arguments, np.array([1, 1, 1], dtype=np.int32))
    (Shift(partition=0, giver=1, receiver=0),)
    >>> improving_path(*arguments, np.array([0, 1, 1], dtype=np.int32))
    ()
    """
    row_of_topic, row_takes = topic_rows(first, takes, class_of)
    if not len(row_takes):
        return ()
    rows = build(
        row_of=np.repeat(row_of_topic, np.diff(first)),
        row_takes=row_takes,
        class_of=class_of,
        owner=given,
        racks=None,
    )
    counts = np.bincount(rows.cell, minlength=rows.allowed.size).astype(np.int32)
    owned = counts.reshape(rows.allowed.shape)
    load = owned.sum(axis=0, dtype=np.int64)
    gap = load - _lowest_reached(rows, owned, load)
    giver = int(gap.argmax())
    if gap[giver] < 2:
        return ()
    return _chain(rows, owned, load, giver)


def _lowest_reached(rows: Rows, owned: Int32, load: Int64) -> Int64:
    """Return the smallest load that each member can pass a partition to, over any chain."""
    none = int(load.max()) + 1
    lowest = load
    while True:
        of_row = np.where(rows.allowed, lowest, none).min(axis=1)
        passed = np.where(owned > 0, of_row[:, None], none).min(axis=0)
        lower = np.minimum(lowest, passed)
        if (lower == lowest).all():
            return lowest
        lowest = lower


def _chain(rows: Rows, owned: Int32, load: Int64, giver: int) -> tuple[Shift, ...]:
    """Return the shortest chain of shifts from `giver` to a member with two fewer."""
    row_count, member_count = owned.shape
    row_from = np.full(row_count, NOBODY, dtype=np.int64)
    member_from = np.full(member_count, NOBODY, dtype=np.int64)
    found = np.array([giver])
    seen = np.zeros(member_count, dtype=np.bool_)
    seen[giver] = True
    while True:
        for member in found.tolist():
            row_from[(owned[:, member] > 0) & (row_from < 0)] = member
        open_rows = np.flatnonzero(row_from >= 0)
        reached = rows.allowed[open_rows].any(axis=0) & ~seen
        found = np.flatnonzero(reached)
        assert len(found), "the sweep found a chain that the search does not"
        member_from[found] = open_rows[rows.allowed[open_rows][:, found].argmax(axis=0)]
        seen |= reached
        low = found[load[found] <= load[giver] - 2]
        if len(low):
            break
    shifts: list[Shift] = []
    receiver = int(low[0])
    while receiver != giver:
        row = int(member_from[receiver])
        source = int(row_from[row])
        held = (rows.row_of == row) & (rows.owner == source)
        shifts.append(Shift(partition=int(held.argmax()), giver=source, receiver=receiver))
        receiver = source
    return tuple(reversed(shifts))
