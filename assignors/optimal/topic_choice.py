"""Which partitions change hands, on arrays, with the least spread of topics.

The solver works on counts: partitions of one row of its table differ only in their present
owner. Here they are told apart by topic. Where few change, members give up and receive topic by
topic (`spread`); where many do, partitions are chosen in bulk (`partition_choice`), and `spread`
improves what they amount to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from assignors.optimal.cycles import Cells, cancel_cycles
from assignors.optimal.flow.effort import Effort
from assignors.optimal.flow.network import Network
from assignors.optimal.flow.table import bit_sets
from assignors.optimal.spread import (
    MOVES_MAX,
    Face,
    Levels,
    Table,
    Task,
    least_spread,
    levels_of,
    turns,
)
from assignors.problem import Int32, Int64

CHANGES_MAX = 4_000
"""So many partitions that change hands are chosen one by one."""
DIFFERENT_MAX = 12
"""So many different counts of a topic are looked for in all topics at once."""
LISTED_MAX = 200
"""Rows of so many partitions are counted as lists: numpy's calls would take longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRows:
    """The partitions by topic, and with racks by replica set within the topic. F rows, T topics."""

    bounds: Int64
    """int64[F + 1]: row f has the partitions order[bounds[f]:bounds[f + 1]]."""
    order: Int64 | None = None
    """int64: partitions by row; `None` where row f has those from bounds[f] to bounds[f + 1]."""
    beside: Sequence[Sequence[int]] | None = None
    """F: the rows of the topic of each row; `None` where each row is a topic."""

    def places(self, row: int) -> slice | Int64:
        """Return the partitions of a row."""
        begin, end = self.bounds[row : row + 2].tolist()
        return slice(begin, end) if self.order is None else self.order[begin:end]

    def places_of_topic(self, row: int) -> slice | Int64:
        """Return the partitions of a row's topic."""
        if self.order is None or self.beside is None:
            return self.places(row)
        begin, end = self.beside[row][0], self.beside[row][-1] + 1
        return self.order[self.bounds[begin] : self.bounds[end]]

    def first_partitions(self) -> Int64:
        """Return the first partition of each row, int64[F]."""
        begin = self.bounds[:-1]
        return begin if self.order is None else self.order[begin]

    def count(self, partitions: Int64) -> dict[int, int]:
        """Return how many of these partitions each row has, if some."""
        at = partitions
        if self.order is not None:
            at = np.flatnonzero(np.isin(self.order, partitions))
        counts = np.bincount(self.bounds.searchsorted(at, "right") - 1)
        rows = counts.nonzero()[0]
        return dict(zip(rows.tolist(), counts[rows].tolist(), strict=True))


class Chosen(NamedTuple):
    """Who gets each partition."""

    owner: Int32
    changed: Int64
    """Partitions that do not stay with their owner, ascending."""
    is_best: bool


def rack_rows(topic_of: Int32, replica_set: Int32, row_of: Int32) -> TopicRows:
    """Return the rows by topic and replica set of the partitions that have a row, `row_of` >= 0."""
    taken = np.flatnonzero(row_of >= 0)
    key = topic_of[taken] * (np.int64(replica_set.max(initial=0)) + 1) + replica_set[taken]
    order = taken[key.argsort(kind="stable")]
    key = np.sort(key)
    begin = np.flatnonzero(np.diff(key, prepend=-1))
    topic = topic_of[order[begin]]
    first = np.flatnonzero(np.diff(topic, prepend=-1))
    ends = [*first[1:].tolist(), len(topic)]
    beside: list[Sequence[int]] = []
    for start, end in zip(first.tolist(), ends, strict=True):
        beside += [range(start, end)] * (end - start)
    return TopicRows(bounds=np.append(begin, len(order)), order=order, beside=beside)


def choose(
    rows: TopicRows,
    owner: Int32,
    member_count: int,
    face: Face,
    *,
    tasks: Iterable[Task] = (),
    given: Int32 | None = None,
    effort: Effort,
) -> Chosen:
    """Return the answer with the least spread on the face.

    `owner` is int32[P], -1 for nobody. It begins with `tasks`, or with the answer `given`,
    int32[P]. Cost: O(P), and that of `spread.least_spread`.
    """
    every = range(len(rows.bounds) - 1)
    tasks = tuple(tasks)
    asked = {row for task in tasks for row in task.free} if given is None else every
    known = None
    if rows.order is None and 2 * len(asked) > len(every):
        known = _levels_of_topics(rows.bounds, owner, member_count)
    table = Table(
        member_count=member_count,
        owned=lambda row: (
            _levels(owner[rows.places(row)], member_count) if known is None else known[row]
        ),
        topic=lambda row: _levels(owner[rows.places_of_topic(row)], member_count),
        change=lambda row: {} if given is None else _change(rows.places(row), owner, given),
        rows_beside=None if rows.beside is None else rows.beside.__getitem__,
    )
    begin = [row for row in every if given is not None or face.may_lose(row)]
    spread = least_spread(table, face, tasks=tasks, begin=begin, effort=effort)
    if given is None:
        answer = owner.copy()
        changed = _write(rows, owner, spread.change, answer)
        return Chosen(answer, changed, spread.is_best)
    changes = {
        row: spread.change.get(row, {})
        for row in every
        if spread.change.get(row, {}) != table.change(row)
    }
    _write(rows, owner, changes, given)
    return Chosen(given, np.flatnonzero(given != owner), spread.is_best)


def _write(
    rows: TopicRows, owner: Int32, changes: Mapping[int, Mapping[int, int]], answer: Int32
) -> Int64:
    """Write who has the partitions of rows into an answer; return those that change hands."""
    gives_nobody = all(min(change.values(), default=1) > 0 for change in changes.values())
    if gives_nobody and rows.order is None and len(changes) > 1:
        free = np.flatnonzero(owner < 0)
        row = rows.bounds.searchsorted(free, "right") - 1
        is_changed = np.zeros(len(rows.bounds), dtype=np.bool_)
        is_changed[list(changes)] = True
        free = free[is_changed[row]]
        answer[free] = list(chain.from_iterable(map(turns, changes.values())))
        return free
    changed = [np.zeros(0, dtype=np.int64)]
    for number, change in changes.items():
        places = rows.places(number)
        of_row = np.array(owner[places])
        at = _given_places(of_row, change)
        of_row[at] = turns(change)
        answer[places] = of_row
        changed.append(at + places.start if isinstance(places, slice) else places[at])
    return np.sort(np.concatenate(changed))


def spread_counts(
    network: Network, labels: tuple[Int64, Int64], effort: Effort, *, moves_last: bool
) -> bool:
    """Give the table of a flow the least spread on its face, where each row is a topic.

    `labels` are the distances of rows and of members. Returns whether `effort` sufficed.
    Cost: O(R M), and that of `cycles.cancel_cycles`.
    """
    owned, placed = network.table.owned, network.table.placed
    of_row, of_member = labels
    if moves_last:  # without racks the distances count moves alone
        may_gain = may_lose = network.allowed
    else:
        length = of_member - of_row[:-2, None]
        may_gain, may_lose = network.allowed & (length == 0), network.allowed & (length == 1)
    can_take = (may_gain & (placed > owned)) | (may_lose & (placed > 0))
    rows = np.flatnonzero(can_take.any(axis=1))
    if not len(rows):
        return True
    flexible = network.optional > 0
    if not moves_last:
        flexible &= of_member == of_row[-2]
    is_full = network.load > network.least
    useful = can_take.any(axis=0) | (flexible & ~is_full)
    is_cell = (may_gain | (may_lose & (owned > 0)))[rows] & useful
    row, member = is_cell.nonzero()
    at = rows[row]
    count = placed[at, member].astype(np.int64)
    has = owned[at, member].astype(np.int64)
    cells = Cells(
        row=row,
        member=member,
        topic=None,
        count=count,
        owned=has,
        more=count - has,
        may_gain=may_gain[at, member],
        may_lose=may_lose[at, member],
        unit=MOVES_MAX if moves_last else 1,
        discount=int(moves_last),
    )
    up, down = (flexible & ~is_full)[cells.members], (flexible & is_full)[cells.members]
    is_full = down.copy()
    is_best = cancel_cycles(cells, up, down, effort)
    for cell in cells.changed:
        placed[at[cell], member[cell]] = cells.count[cell]
    network.load[cells.members] += down.astype(np.int64) - is_full
    return is_best


def _levels_of_topics(bounds: Int64, owner: Int32, member_count: int) -> list[Levels] | None:
    """Return `_levels` of all rows, made at once; `None` where that takes longer."""
    row_count = len(bounds) - 1
    if row_count * member_count > 4 * len(owner):
        return None
    # Members count from 1: nobody has a place before them.
    width = member_count + 1
    cell = (np.arange(row_count) * width + 1).repeat(np.diff(bounds))
    cell += owner
    table = np.bincount(cell, minlength=row_count * width).reshape(row_count, width)[:, 1:]
    most = int(table.max(initial=0))
    if most >= DIFFERENT_MAX:
        return None
    are_at = table == np.arange(most + 1)[:, np.newaxis, np.newaxis]
    sets = bit_sets(are_at.reshape(-1, member_count))
    of_row = [enumerate(sets[row::row_count]) for row in range(row_count)]
    return [{count: having for count, having in each if having or not count} for each in of_row]


def _levels(owners: Int32, member_count: int) -> Levels:
    """Return how many of a row's partitions each member owns, as sets."""
    if len(owners) <= LISTED_MAX:
        return levels_of(owners.tolist(), member_count)
    counts = np.bincount(owners + np.int32(1), minlength=member_count + 1)[1:]
    values = np.flatnonzero(np.bincount(counts))
    if values[0]:
        values = np.append(0, values)
    return dict(zip(values.tolist(), bit_sets(counts == values[:, None]), strict=True))


def _change(places: slice | Int64, owner: Int32, given: Int32) -> dict[int, int]:
    """Return how many more than it owns each member has in an answer."""
    had, has = owner[places], given[places]
    is_new = had != has
    more: dict[int, int] = {}
    for sign, members in ((-1, had[is_new]), (1, has[is_new])):
        for member in members.tolist():
            more[member] = more.get(member, 0) + sign
    more.pop(-1, None)
    return {member: count for member, count in sorted(more.items()) if count}


def _given_places(owners: Int32, change: Mapping[int, int]) -> Int64:
    """Return which partitions of a row nobody owns or are given up, the last of each member."""
    places = [np.flatnonzero(owners < 0)]
    for member, more in change.items():
        if more < 0:
            places.append(np.flatnonzero(owners == member)[more:])
    return places[0] if len(places) == 1 else np.sort(np.concatenate(places))
