"""Place partitions without an owner: the heaviest first, each on the emptiest member.

In large groups only the heaviest are placed one by one, and the rest in layers of one for each
member that is low enough. Partitions without a weight go to the member with the fewest partitions.
Source: Graham (1969), longest processing time first; on unequal members Gonzalez, Ibarra, Sahni
(1977).
"""

from __future__ import annotations

import numpy as np

from assignors.arrays import Int64
from assignors.weighted.search.table import Table

ONE_BY_ONE = 20_000_000
"""Partitions x members up to which all are placed one by one."""

HEAVIEST = 4
"""Partitions for each member that are always placed one by one."""


def place(table: Table) -> None:
    """Give every partition without an owner to a member that takes it, if there is one.

    Cost: O(P log P), and O(Q M) for Q partitions to place; in larger groups O(M**2 + Q log M).
    """
    free = np.flatnonzero((table.owner < 0) & (table.row_of >= 0))
    if not len(free):
        return
    weighty = free[table.weight[free] > 0]
    weighty = weighty[np.argsort(-table.weight[weighty], kind="stable")]
    count, members = len(weighty), len(table.load)
    first = count if count * members <= ONE_BY_ONE else HEAVIEST * members
    for partition in weighty[:first].tolist():
        _place_one(table, partition)
    _place_in_layers(table, weighty[first:])
    _place_by_count(table, free[table.weight[free] == 0])


def _place_one(table: Table, partition: int) -> None:
    weight = table.weight[partition]
    members = table.takers(int(table.row_of[partition]))
    fill = (table.load[members] + weight) / table.wide[members]
    if table.places is not None:
        fits = fill <= max(1.0, float(fill.min()))
        near = fits & table.places.local(partition, members)
        if near.any():
            fill = np.where(near, fill, np.inf)
    receiver = members[np.argmin(fill)]
    table.owner[partition] = receiver
    table.load[receiver] += weight


def _place_in_layers(table: Table, rest: Int64) -> None:
    """Place partitions, heaviest first, row by row; rows with the fewest takers first."""
    if not len(rest):
        return
    row = table.row_of[rest]
    counts = {number: len(table.takers(number)) for number in np.unique(row).tolist()}
    for number in sorted(counts, key=lambda one: (counts[one], one)):
        _place_row(table, rest[row == number], table.takers(number))


def _place_row(table: Table, partitions: Int64, members: Int64) -> None:
    """Place partitions of one row in layers: one for each member below the first receiver."""
    load, wide = table.load[members], table.wide[members]
    done, count = 0, len(partitions)
    while done < count:
        fill = load / wide
        order = np.argsort(fill, kind="stable")
        weight = int(table.weight[partitions[done]])
        highest = fill[order[0]] + weight / wide[order[0]]
        low = max(1, min(int(np.searchsorted(fill[order], highest)), count - done))
        taken = partitions[done : done + low]
        table.owner[taken] = members[order[:low]]
        load[order[:low]] += table.weight[taken]
        done += low
    table.load[members] = load


def _place_by_count(table: Table, partitions: Int64) -> None:
    """Place partitions without a weight, each on the member with the fewest partitions."""
    if not len(partitions):
        return
    held = np.bincount(table.owner[table.owner >= 0], minlength=len(table.load))
    for number in np.unique(table.row_of[partitions]).tolist():
        row = partitions[table.row_of[partitions] == number]
        members = table.takers(number)
        count = held[members]
        # Each place of a member has the count that it leads to; the lowest counts come first.
        depth = int(count.min()) + -(-(len(row) + int((count - count.min()).sum())) // len(members))
        places = np.maximum(depth - count, 0)
        member = np.repeat(np.arange(len(members)), places)
        rank = np.arange(len(member)) - np.repeat(np.cumsum(places) - places, places)
        order = np.lexsort((member, rank + count[member]))[: len(row)]
        table.owner[row] = members[member[order]]
        held[members] += np.bincount(member[order], minlength=len(members))
