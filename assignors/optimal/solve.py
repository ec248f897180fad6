"""The best assignment there is: loads as equal as possible, then racks, then least movement.

Three steps, each exact. Partitions become rows of a table (`rows`), because only counts
matter. Loads are balanced: by arithmetic where subscriptions are equal (`quotas`), else by
prices (`prices`). Then a min-cost flow over the cells where prices agree (`flow`) finds the
table that keeps most, and the counts become partitions (`partition_choice`).

Prices are not always computed. In most groups everybody can have the mean load, rounded up
or down; then the price is the same for all, and the flow itself is the proof. With many
classes or few cells that guess is tried first, because a failed guess costs less than the
prices of a thousand classes do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from assignors.optimal.faces import flow_face, labels_of
from assignors.optimal.flow.effort import Effort
from assignors.optimal.flow.network import Network
from assignors.optimal.flow.settle import Outcome
from assignors.optimal.flow.table import Cells, bit_sets
from assignors.optimal.loads import mean_loads, promised_loads, with_loads
from assignors.optimal.partition_choice import choose_partitions
from assignors.optimal.prices import Prices, prices
from assignors.optimal.quotas import NONE, PARTITIONS_MAX, share
from assignors.optimal.rows import Racks, Rows, build, by_member, owned_cells, topic_rows
from assignors.optimal.spread import Face, Task
from assignors.optimal.topic_choice import (
    CHANGES_MAX,
    TopicRows,
    choose,
    rack_rows,
    spread_counts,
)
from assignors.problem import NOBODY, Bool, Int32, Int64

GUESS_CELLS_MAX = 1_000
"""In tables of up to so many rows times members the mean load is tried before prices are made."""


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
    changed: Int64
    """Those that are given to another member, ascending."""
    levels: int
    """Different mean loads in the group; 1 where everybody gets the mean, 0 for nothing."""
    phases: int
    """Searches that it took, phases of the primal-dual method; 0 where none was needed."""
    ways: int = 0
    """Augmenting paths along which the searches sent something."""
    steps: int = 0
    """What is counted against the limit: rows that the searches looked at."""
    is_best: bool = True
    """Whether the search ended before the limit: then nothing is better."""
    gap: int = 0
    """By how much `load_square_sum` is above the least there is, at most; 0 if `is_best`."""
    moves_gap: int = 0
    """How many more partitions could stay in a best answer, at most; 0 if `is_best`."""
    racks_gap: int = 0
    """How many rack mismatches a best answer could have less, at most; 0 if `is_best`."""
    spread_gap: int = 0
    """By how much the spread is above that of a best answer, at most; 0 if `is_best`."""


def solve(
    *,
    first: Int64,
    takes: Bool,
    class_of: Int32,
    owner: Int32,
    rack: Int32 | None = None,
    replica_set: Int32 | None = None,
    replica_racks: Bool | None = None,
    limit: int | None = None,
    moves_last: bool = False,
) -> Solved:
    """Return the best assignment, or the best found in `limit` steps of the search.

    `first` is int64[T + 1]: topic t holds partitions first[t]:first[t + 1]; `takes` bool[K, T]:
    class k takes topic t; `class_of` int32[M]; `owner` int32[P]: whom stickiness favours, -1
    for nobody; owners that do not take the topic are ignored. Racks matter if all three are
    given and some member has one: `rack` int32[M] (-1: none), `replica_set` int32[P] an index
    into `replica_racks` bool[S, racks].

    The aims are balance, racks, moves and spread; with `moves_last` spread comes before moves.

    Where the limit ends the search, what is still to be placed goes to the subscribers that
    have least: every partition is assigned, loads may differ by more than they must, and more
    may move. The tables cost O(P + R M) before the first step.

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
    racks, effort = None, Effort(limit=limit)
    if rack is not None and replica_set is not None and replica_racks is not None:
        racks = Racks(rack=rack, replica_set=replica_set, replica_racks=replica_racks)
        racks = racks if (rack >= 0).any() else None
    is_one_class = racks is None and len(takes) == 1 and len(class_of) and len(owner)
    if is_one_class and np.count_nonzero(takes) == takes.size:
        return _equal(first, owner, len(class_of), effort, moves_last=moves_last)
    row_of_topic, row_takes = topic_rows(first, takes, class_of)
    if not len(row_takes):
        return _nothing(owner)
    if racks is None and len(row_takes) == 1:
        members = np.flatnonzero(row_takes[0, class_of])
        return _equal_part(
            first,
            row_of_topic >= 0,
            owner,
            members,
            len(class_of),
            effort=effort,
            moves_last=moves_last,
        )
    sizes = first[1:] - first[:-1]
    topic_of = np.arange(len(sizes), dtype=np.int32).repeat(sizes)
    is_topic = racks is None and len(row_takes) == len(sizes)  # each row is one
    rows = build(
        row_of=topic_of if is_topic else row_of_topic.repeat(sizes),
        row_takes=row_takes,
        class_of=class_of,
        owner=owner,
        racks=racks,
    )
    if racks is None:
        topics = Topics(TopicRows(bounds=first), row_of_topic, topic_of)
    else:
        by_rack = rack_rows(topic_of, racks.replica_set, rows.row_of)
        first_ones = by_rack.first_partitions()
        topics = Topics(by_rack, rows.row_of[first_ones], topic_of)
    return _mixed(rows, topics, class_of, effort, moves_last=moves_last)


class Topics(NamedTuple):
    """The rows told apart by topic."""

    rows: TopicRows
    row_of: Int32
    """int32[F]: the row of the solver's table that each one is of, -1 for none."""
    topic_of: Int32
    """int32[P]: the topic of each partition."""


def _nothing(owner: Int32) -> Solved:
    """Return the answer for a group in which nobody can take anything."""
    return Solved(
        owner=np.full(len(owner), NOBODY, dtype=np.int32),
        load_square_sum=0,
        load_max=0,
        load_min=0,
        kept=0,
        changed=NONE,
        levels=0,
        phases=0,
    )


def _equal(
    first: Int64,
    owner: Int32,
    member_count: int,
    effort: Effort,
    *,
    moves_last: bool,
) -> Solved:
    """Return the answer where every member takes every topic."""
    floor, spare = divmod(len(owner), member_count)
    shared = share(first, owner, member_count, effort=effort, moves_last=moves_last)
    gap = 0
    if not shared.is_best:
        gap = spread_of(first, shared.owner) - _even_spread(first[1:] - first[:-1], member_count)
    kept = len(owner) - len(shared.changed)
    return Solved(
        owner=shared.owner,
        load_square_sum=_mean_square_sum(len(owner), member_count),
        load_max=floor + (spare > 0),
        load_min=floor,
        kept=kept,
        changed=shared.changed,
        levels=1,
        phases=0,
        steps=effort.steps[0],
        is_best=shared.is_best,
        spread_gap=gap,
        moves_gap=0 if shared.is_best or not moves_last else len(owner) - kept,
    )


def spread_of(first: Int64, owner: Int32) -> int:
    """Return the sum over topics and members of squared counts."""
    held = np.flatnonzero(owner >= 0)
    topic = np.repeat(np.arange(len(first) - 1), np.diff(first))[held]
    _, count = np.unique(
        topic * (np.int64(owner.max(initial=0)) + 1) + owner[held], return_counts=True
    )
    return int(count @ count)


def _even_spread(size: Int64, takers: Int64 | int) -> int:
    """Return the spread where each topic is distributed evenly over those that take it."""
    floor, rest = np.divmod(size, np.maximum(takers, 1))
    return int((takers * floor * floor + rest * (2 * floor + 1)).sum())


def _equal_part(
    first: Int64,
    taken: Bool,
    owner: Int32,
    members: Int64,
    member_count: int,
    *,
    effort: Effort,
    moves_last: bool,
) -> Solved:
    """Return the answer where these members take all the topics that anybody takes."""
    sizes = np.diff(first)
    partitions = np.flatnonzero(np.repeat(taken, sizes))
    # One place more, so that an owner of -1 finds -1 there.
    number = np.full(member_count + 1, NOBODY, dtype=np.int32)
    number[members] = np.arange(len(members))
    first = np.concatenate([first[:1], np.cumsum(sizes[taken])])
    solved = _equal(first, number[owner[partitions]], len(members), effort, moves_last=moves_last)
    answer = np.full(len(owner), NOBODY, dtype=np.int32)
    answer[partitions] = members[solved.owner]
    return replace(solved, owner=answer, changed=partitions[solved.changed])


def _mixed(
    rows: Rows, topics: Topics, class_of: Int32, effort: Effort, *, moves_last: bool
) -> Solved:
    """Return the answer where rows differ in who may take them, or in their racks."""
    is_active: Bool = np.logical_or.reduce(rows.allowed, axis=0)  # `any` takes twice as long
    rows, reached, known, outcome = _table(rows, class_of, is_active, effort)
    is_best = is_settled = outcome is not None and outcome.is_settled
    if not is_best:
        _place_rest(reached)
    is_on_table = topics.rows.order is None and len(rows.size) == len(topics.row_of)
    if is_best and is_on_table:
        assert outcome is not None
        is_best = spread_counts(
            reached, labels_of(outcome.distances, len(class_of)), effort, moves_last=moves_last
        )
    less, more = reached.table.changes()
    if is_best and not is_on_table:
        is_large = len(rows.owner) > PARTITIONS_MAX and int(more.count.sum()) > CHANGES_MAX
        assert outcome is not None
        given, changed, is_best = choose(
            topics.rows,
            rows.owner,
            len(class_of),
            _face(rows, topics, reached, outcome, moves_last=moves_last),
            tasks=() if is_large else _tasks(rows, topics, less, more),
            given=_in_bulk(rows, topics, less, more)[0] if is_large else None,
            effort=effort,
        )
    else:
        given, changed = _in_bulk(rows, topics, less, more)
    load = reached.load[is_active]
    square_sum = int(load @ load)
    kept = len(rows.owner) - int(np.count_nonzero(rows.owner < 0))
    kept -= int(np.count_nonzero(rows.owner[changed] >= 0))
    solved = Solved(
        owner=given,
        load_square_sum=square_sum,
        load_max=int(load.max()),
        load_min=int(load.min()),
        kept=kept,
        changed=changed,
        levels=1 if known is None else known.level_count,
        phases=effort.phases[0],
        ways=effort.ways[0],
        steps=effort.steps[0],
        is_best=is_best,
    )
    if is_best:
        return solved
    least, kept_max = square_sum, kept
    if not is_settled:
        least, kept_max = _bounds(rows, class_of, known)
    elif moves_last:
        kept_max = len(rows.cell)
    takers = np.bincount(class_of, minlength=rows.takes.shape[1])
    return replace(
        solved,
        gap=square_sum - least,
        moves_gap=max(kept_max - kept, 0),
        racks_gap=0 if is_settled else _mismatches(rows, given),
        spread_gap=_spread_gap(rows, topics, given, takers),
    )


def _in_bulk(rows: Rows, topics: Topics, less: Cells, more: Cells) -> tuple[Int32, Int64]:
    """Return who gets each partition, and which ones change hands."""
    return choose_partitions(
        row_of=rows.row_of, topic_of=topics.topic_of, owner=rows.owner, less=less, more=more
    )


def _mismatches(rows: Rows, given: Int32) -> int:
    """Return how many partitions are remote from the rack of their member."""
    if rows.remote is None:
        return 0
    held = np.flatnonzero(given >= 0)
    return int(np.count_nonzero(rows.remote[rows.row_of[held], given[held]]))


def _spread_gap(rows: Rows, topics: Topics, given: Int32, takers: Int64) -> int:
    """Return by how much the spread is above one in which every topic is even."""
    first = np.flatnonzero(np.diff(topics.topic_of, prepend=-1))
    size = np.diff(np.append(first, len(topics.topic_of)))
    row = rows.row_of[first]
    taken = row >= 0
    even = _even_spread(size[taken], (rows.takes @ takers)[row[taken]])
    return spread_of(np.append(first, len(topics.topic_of)), given) - even


def _tasks(rows: Rows, topics: Topics, less: Cells, more: Cells) -> list[Task]:
    """Return what members give up and get of each row."""
    by_row: dict[int, tuple[dict[int, int], dict[int, int]]] = {}
    for place, cells in enumerate((less, more)):
        for row, member, count in zip(
            cells.row.tolist(), cells.member.tolist(), cells.count.tolist(), strict=True
        ):
            by_row.setdefault(row, ({}, {}))[place][member] = count
    free_of: dict[int, dict[int, int]] = {}
    is_free = rows.owner < 0
    is_free &= rows.row_of >= 0
    row_of = topics.row_of.tolist()
    for topic, count in topics.rows.count(is_free.nonzero()[0]).items():
        free_of.setdefault(row_of[topic], {})[topic] = count
    topics_of: dict[int, list[int]] = {row: [] for row, (drops, _) in by_row.items() if drops}
    if topics_of:
        for topic, row in enumerate(row_of):
            if row in topics_of:
                topics_of[row].append(topic)
    return [
        Task(rows=topics_of.get(row, ()), drops=drops, free=free_of.get(row, {}), gains=gains)
        for row, (drops, gains) in sorted(by_row.items())
    ]


def _face(
    rows: Rows, topics: Topics, reached: Network, outcome: Outcome, *, moves_last: bool
) -> Face:
    """Return the face of the table, by topic."""
    allowed, remote = rows.allowed, rows.remote
    (full, optional) = bit_sets(np.stack([reached.load > reached.least, reached.optional > 0]))
    face = flow_face(
        outcome.distances,
        allowed=cache(lambda row: bit_sets(allowed[row : row + 1])[0]),
        remote=None if remote is None else cache(lambda row: bit_sets(remote[row : row + 1])[0]),
        optional=optional,
        full=full,
        moves_last=moves_last,
    )
    of_topic, gain, lose = topics.row_of.tolist(), face.may_gain, face.may_lose
    return face._replace(
        may_gain=lambda topic: gain(of_topic[topic]),
        may_lose=lambda topic: lose(of_topic[topic]) if of_topic[topic] >= 0 else 0,
    )


def _bounds(rows: Rows, class_of: Int32, known: Prices | None) -> tuple[int, int]:
    """Return the least sum of squared loads, and how much stays in a best answer at most.

    With prices the first is exact, and nobody keeps more than its price; without, nobody knows
    better than equal loads of all, and that everything stays.
    """
    if known is None:
        active = int(rows.allowed.any(axis=0).sum())
        return _mean_square_sum(int(rows.size.sum()), active), len(rows.cell)
    member_count = np.bincount(class_of, minlength=rows.takes.shape[1])
    owned = np.bincount(rows.cell % len(class_of), minlength=len(class_of))
    kept_max = int(np.minimum(owned, known.of_class[class_of]).sum())
    return known.square_sum(rows.size, member_count), kept_max


def _table(
    rows: Rows, class_of: Int32, is_active: Bool, effort: Effort
) -> tuple[Rows, Network, Prices | None, Outcome | None]:
    """Return the table that keeps most among the balanced ones, its prices if they were needed.

    The rows are those in which something may stay. The last one says how the search ended, `None`
    if `effort` was spent on prices: then some partitions are left that `_place_rest` places.
    """
    class_count = rows.takes.shape[1]
    member_count = np.bincount(class_of, minlength=class_count)
    known = None
    is_large = len(rows.size) * len(class_of) > GUESS_CELLS_MAX
    if is_large and 1 < class_count <= len(class_of) // 4:
        known = prices(size=rows.size, takes=rows.takes, member_count=member_count, effort=effort)
    if known is None or known.level_count == 1:
        reached, outcome = with_loads(rows, mean_loads(rows, is_active), effort)
        if outcome.cut is None:
            return rows, reached, known, outcome
        known = prices(size=rows.size, takes=rows.takes, member_count=member_count, effort=effort)
        if known is None:
            return rows, reached, None, None
    rows = _agreeing(rows, class_of, known)
    reached, outcome = with_loads(rows, promised_loads(rows, known.of_class[class_of]), effort)
    assert outcome.cut is None, "no table has the loads that its prices promise"
    return rows, reached, known, outcome


def _place_rest(network: Network) -> None:
    """Place what is left with the subscribers that have least, whatever it costs."""
    load, left = network.load, network.unplaced
    for row in np.flatnonzero(left).tolist():
        members = np.flatnonzero(network.allowed[row])
        order = members[np.argsort(load[members], kind="stable")]
        depth = np.arange(1, len(order) + 1) * load[order] - np.cumsum(load[order])
        count = int(np.searchsorted(depth, left[row], side="left"))
        level, spare = divmod(int(left[row] + load[order[:count]].sum()), count)
        given = level - load[order[:count]]
        given[:spare] += 1
        network.table.add(row, order[:count], given)
        load[order[:count]] += given


def _mean_square_sum(total: int, member_count: int) -> int:
    """Return the sum of squares of loads that differ by one at most."""
    floor, spare = divmod(total, member_count)
    return member_count * floor * floor + spare * (2 * floor + 1)


def _agreeing(rows: Rows, class_of: Int32, known: Prices) -> Rows:
    """Return the rows without the cells where prices differ: nothing stays there."""
    agree = by_member(rows.takes & (known.of_row[:, None] == known.of_class), class_of)
    owner, cell = owned_cells(rows.owner, rows.row_of, agree, rows.row_of >= 0)
    return replace(
        rows,
        owner=owner,
        cell=cell,
        allowed=agree,
        remote=None if rows.remote is None else rows.remote & agree,
    )
