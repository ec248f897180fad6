"""Free partitions of a few rows, placed with kinds of members: those that take the same rows.

Where racks matter and subscriptions are equal there are as many rows as sets of racks, and as many
kinds of members as racks. To pour row after row leaves the last one with members that are full, and
each partition left is a way to be searched. Between rows and kinds the most that can be placed is a
maximum flow over a few numbers; members of a kind then get what falls to it, one after the other.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from assignors.arrays import bounds_of
from assignors.optimal.flow.table import Table
from assignors.problem import Bool, Int64

ROWS_MAX = 8
"""So many rows fit into a byte for each member."""


class _Kinds(NamedTuple):
    """K kinds of members, of M members that take at least one row."""

    member: Int64
    """int64[M]: the members of the first kind, then those of the second."""
    ptr: list[int]
    """[K + 1]: kind k has member[ptr[k]:ptr[k + 1]]."""
    takes: list[list[int]]
    """By row: the kinds that take it."""


def pour_by_kind(
    *,
    table: Table,
    unplaced: Int64,
    load: Int64,
    least: Int64,
    optional: Int64,
    spare: int,
    local: Bool,
) -> None:
    """Place as many free partitions as can be: first what members must get, then `spare` more.

    Arguments are as in `network.Network`; `local`, bool[R, M], says who takes a row, and R is at
    most `ROWS_MAX`. `table`, `unplaced` and `load` change. Cost: O(R M).
    """
    kinds = _kinds_of(local)
    above = load - least
    extra = np.minimum(np.maximum(above, 0), optional)
    must_end = bounds_of(np.maximum(-above, 0)[kinds.member])
    may_end = bounds_of((optional - extra)[kinds.member])
    given = most_placed(
        unplaced.tolist(),
        kinds.takes,
        must=[last - first for first, last in pairwise(must_end[kinds.ptr].tolist())],
        may=[last - first for first, last in pairwise(may_end[kinds.ptr].tolist())],
        spare=spare - int(extra.sum()),
    )
    for kind, (first, last) in enumerate(pairwise(kinds.ptr)):
        ends = must_end[first : last + 1] - must_end[first]
        amount = sum(amounts[kind] for amounts in given)
        if amount > ends[-1]:
            more = may_end[first : last + 1] - may_end[first]
            ends = ends + np.minimum(more, amount - ends[-1])
        begin = 0
        for row, amounts in enumerate(given):
            if not (amount := amounts[kind]):
                continue
            stop = begin + amount
            # The members on whose room the part from `begin` to `stop` falls.
            low = int(ends.searchsorted(begin, side="right")) - 1
            high = int(ends.searchsorted(stop, side="left"))
            bounds = ends[low : high + 1].copy()
            bounds[0], bounds[-1] = begin, stop
            shares = bounds[1:] - bounds[:-1]
            members = kinds.member[first + low : first + high]
            table.add(row, members, shares)
            load[members] += shares
            unplaced[row] -= amount
            begin = stop


def most_placed(
    supply: list[int], takes: list[list[int]], *, must: list[int], may: list[int], spare: int
) -> list[list[int]]:
    """Return how much of each row to place with each kind: the most there can be.

    `supply` is how much of each row there is, `takes` which kinds take it. A kind gets what it
    `must` at most, and what it `may` beyond, but all kinds together no more than `spare` of that.
    Cost: O(rows x kinds) ways of as many steps. Source: Edmonds and Karp, 1972.

    >>> most_placed([5, 5], [[0, 1], [0]], must=[4, 4], may=[1, 1], spare=1)
    [[1, 4], [4, 0]]
    """
    given = [[0] * len(must) for _ in supply]
    room, left = must.copy(), supply.copy()
    most = sum(left)
    for more in ([0] * len(must), may):
        room = [one + other for one, other in zip(room, more, strict=True)]
        for row in range(len(left)):
            while left[row] and most > 0 and (way := _way(given, takes, room, row)):
                sent = _send(given, room, way, min(left[row], most))
                left[row] -= sent
                most -= sent
        most = spare
    return given


def _send(given: list[list[int]], room: list[int], way: list[tuple[int, int]], most: int) -> int:
    """Send what a way carries, and `most`; return how much that is."""
    sent = min(most, room[way[-1][1]], *(given[row][kind] for (_, kind), (row, _) in pairwise(way)))
    for row, kind in way:
        given[row][kind] += sent
    for (_, kind), (row, _) in pairwise(way):
        given[row][kind] -= sent
    room[way[-1][1]] -= sent
    return sent


def _way(
    given: list[list[int]], takes: list[list[int]], room: list[int], start: int
) -> list[tuple[int, int]]:
    """Return the shortest way from a row to a kind with room, nothing if there is none.

    A way is rows, each with the kind that gets some of it in place of the next row.
    """
    before: dict[int, tuple[int, int] | None] = {start: None}
    seen: set[int] = set()
    for row in (queue := [start]):
        for kind in takes[row]:
            if kind in seen:
                continue
            seen.add(kind)
            if room[kind]:
                way, step = [(row, kind)], before[row]
                while step is not None:
                    way.append(step)
                    step = before[step[0]]
                return way[::-1]
            for other, amounts in enumerate(given):
                if amounts[kind] and other not in before:
                    before[other] = (row, kind)
                    queue.append(other)
    return []


def _kinds_of(local: Bool) -> _Kinds:
    """Return the kinds of members."""
    code = np.packbits(local, axis=0)[0]
    count = np.bincount(code)
    found = np.flatnonzero(count)
    found = found[found > 0]
    order = code.argsort(kind="stable")
    none = len(code) - int(count[found].sum())
    takes = [
        [kind for kind, rows in enumerate(found.tolist()) if rows >> (ROWS_MAX - 1 - row) & 1]
        for row in range(len(local))
    ]
    return _Kinds(order[none:], [0, *count[found].cumsum().tolist()], takes)
