"""The best assignment there is: loads as equal as possible, then racks, then least movement.

Three steps, each exact. Partitions become rows of a table (`rows`), because only counts
matter. Loads are balanced: by arithmetic where subscriptions are equal (`quotas`), else by
prices (`prices`). Then a min-cost flow over the cells where prices agree (`flow`) finds the
table that keeps most, and the counts become partitions (`partition_choice`).

Prices are not always computed. In most groups everybody can have the mean load, rounded up
or down; then the price is the same for all, and the flow itself is the proof. With many
classes that guess is tried first, because a failed guess costs less than the prices of a
thousand classes do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assignors.optimal.flow.network import Network, start
from assignors.optimal.flow.settle import settle
from assignors.optimal.partition_choice import choose_partitions
from assignors.optimal.prices import Prices, prices
from assignors.optimal.quotas import share
from assignors.optimal.rows import Racks, Rows, build, topic_rows
from assignors.problem import NOBODY, Bool, Int32, Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """An optimal assignment and what it amounts to.

    Loads are counted over members that may take at least one partition: members that asked
    for nothing, or for topics without partitions, say nothing about balance.
    """

    owner: Int32
    """int32[P]: who gets each partition, -1 for topics without subscribers."""
    load_square_sum: int
    load_max: int
    load_min: int
    kept: int
    """Partitions that stay with the owner whom stickiness favours."""
    levels: int
    """Different mean loads in the group; 1 where everybody gets the mean, 0 for nothing."""
    phases: int
    """Searches that the least movement took; 0 where nothing had to be searched."""


def solve(
    *,
    first: Int64,
    takes: Bool,
    class_of: Int32,
    owner: Int32,
    rack: Int32 | None = None,
    replica_set: Int32 | None = None,
    replica_racks: Bool | None = None,
) -> Solved:
    """Return the best assignment.

    `first` is int64[T + 1]: topic t holds partitions first[t]:first[t + 1]; `takes` bool[K, T]:
    class k takes topic t; `class_of` int32[M]; `owner` int32[P]: whom stickiness favours, -1
    for nobody; owners that do not take the topic are ignored. Racks matter if all three are
    given and some member has one: `rack` int32[M] (-1: none), `replica_set` int32[P] an index
    into `replica_racks` bool[S, racks].

    Members and topics are numbered in the order that breaks ties.
    Cost: O(P + M log M) for equal subscriptions, else see `flow.settle`.

    >>> answer = solve(
    ...     first=np.array([0, 4, 6]),
    ...     takes=np.array([[True, True], [True, False]]),
    ...     class_of=np.array([0, 1], dtype=np.int32),
    ...     owner=np.array([0, 0, 0, 0, -1, -1], dtype=np.int32),
    ... )
    >>> answer.owner.tolist(), answer.kept
    ([0, 1, 1, 1, 0, 0], 1)
    """
    racks = None
    if rack is not None and replica_set is not None and replica_racks is not None:
        racks = Racks(rack=rack, replica_set=replica_set, replica_racks=replica_racks)
        racks = racks if (rack >= 0).any() else None
    if racks is None and len(takes) == 1 and len(class_of) and len(owner) and takes.all():
        return _equal(first, owner, len(class_of))
    row_of_topic, row_takes = topic_rows(first, takes, class_of)
    if not len(row_takes):
        return _nothing(owner)
    if racks is None and len(row_takes) == 1:
        members = np.flatnonzero(row_takes[0, class_of])
        return _equal_part(first, row_of_topic >= 0, owner, members, len(class_of))
    sizes = np.diff(first)
    rows = build(
        row_of=np.repeat(row_of_topic, sizes),
        row_takes=row_takes,
        class_of=class_of,
        owner=owner,
        racks=racks,
    )
    return _mixed(rows, np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), class_of)


def _nothing(owner: Int32) -> Solved:
    """Return the answer for a group in which nobody can take anything."""
    return Solved(
        owner=np.full(len(owner), NOBODY, dtype=np.int32),
        load_square_sum=0,
        load_max=0,
        load_min=0,
        kept=0,
        levels=0,
        phases=0,
    )


def _equal(first: Int64, owner: Int32, member_count: int) -> Solved:
    """Return the answer where every member takes every topic."""
    floor, spare = divmod(len(owner), member_count)
    answer, kept = share(first, owner, member_count)
    return Solved(
        owner=answer,
        load_square_sum=member_count * floor * floor + spare * (2 * floor + 1),
        load_max=floor + (spare > 0),
        load_min=floor,
        kept=kept,
        levels=1,
        phases=0,
    )


def _equal_part(
    first: Int64, taken: Bool, owner: Int32, members: Int64, member_count: int
) -> Solved:
    """Return the answer where these members take all the topics that anybody takes."""
    sizes = np.diff(first)
    partitions = np.flatnonzero(np.repeat(taken, sizes))
    # One place more, so that an owner of -1 finds -1 there.
    number = np.full(member_count + 1, NOBODY, dtype=np.int32)
    number[members] = np.arange(len(members))
    first = np.concatenate([first[:1], np.cumsum(sizes[taken])])
    solved = _equal(first, number[owner[partitions]], len(members))
    answer = np.full(len(owner), NOBODY, dtype=np.int32)
    answer[partitions] = members[solved.owner]
    return replace(solved, owner=answer)


def _mixed(rows: Rows, topic_of: Int32, class_of: Int32) -> Solved:
    """Return the answer where rows differ in who may take them, or in their racks."""
    placed, levels, phases = _table(rows, class_of)
    answer = choose_partitions(
        row_of=rows.row_of,
        topic_of=topic_of,
        owner=rows.owner,
        owned=rows.owned,
        placed=placed,
    )
    load = placed.sum(axis=0, dtype=np.int64)[rows.allowed.any(axis=0)]
    return Solved(
        owner=answer,
        load_square_sum=int(load @ load),
        load_max=int(load.max()),
        load_min=int(load.min()),
        kept=int(np.minimum(rows.owned, placed).sum()),
        levels=levels,
        phases=phases,
    )


def _table(rows: Rows, class_of: Int32) -> tuple[Int32, int, int]:
    """Return the table that keeps most among the balanced ones, its levels and phases."""
    class_count = rows.takes.shape[1]
    member_count = np.bincount(class_of, minlength=class_count)
    known = None
    if 1 < class_count <= len(class_of) // 4:
        known = prices(size=rows.size, takes=rows.takes, member_count=member_count)
    if known is None or known.level_count == 1:
        network = _at_mean(rows)
        outcome = settle(network)
        if outcome.cut is None:
            return network.placed, 1, outcome.phases
        known = prices(size=rows.size, takes=rows.takes, member_count=member_count)
    network = _at_prices(rows, class_of, known)
    outcome = settle(network)
    assert outcome.cut is None, "no table has the loads that its prices promise"
    return network.placed, known.level_count, outcome.phases


def _at_mean(rows: Rows) -> Network:
    """Return the network in which every member gets the mean load, rounded up or down."""
    active: Bool = np.any(rows.allowed, axis=0)
    total = int(rows.size.sum())
    least: Int64 = active * np.int64(-(-total // int(active.sum())) - 1)
    return start(
        size=rows.size,
        owned=rows.owned,
        allowed=rows.allowed,
        remote=rows.remote,
        least=least,
        optional=active.astype(np.int64),
        spare=total - int(least.sum()),
    )


def _at_prices(rows: Rows, class_of: Int32, known: Prices) -> Network:
    """Return the network over the cells where prices agree, with the loads they promise."""
    agree = (rows.takes & (known.of_row[:, None] == known.of_class))[:, class_of]
    price: Int64 = known.of_class[class_of]
    least: Int64 = np.maximum(price - 1, 0)
    return start(
        size=rows.size,
        owned=np.where(agree, rows.owned, np.int32(0)),
        allowed=agree,
        remote=None if rows.remote is None else rows.remote & agree,
        least=least,
        optional=(price > 0).astype(np.int64),
        spare=int(rows.size.sum()) - int(least.sum()),
    )
