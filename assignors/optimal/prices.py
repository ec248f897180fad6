"""The best loads where members may take different topics, computed from classes of members.

Balance is a convex flow problem, and its dual gives every member one integer, its price: the
cost of its last partition. A row costs what its cheapest subscriber costs. Complementary
slackness says that a table is balanced best if and only if

* partitions are placed only where row and member have the same price, and
* a member with price k has k or k - 1 partitions.

So "balance first, then movement" is exactly "movement, over those cells, with those loads".
To fix the load of each member instead would be wrong: the loads that occur are unique, who
has which is not.

Prices depend on subscriptions alone, never on who owns what, so they are found on classes of
equal members. Try whether everybody can carry k at most, where k is the mean rounded up, and
everybody k - 1 at least. What gets stuck is a minimum cut, and it separates rows and classes
with prices above from those below; each side is a smaller problem of the same kind.
Source: Harvey, Ladner, Lovasz, Tamir, "Semi-matchings for bipartite graphs and load
balancing" (2006) for the problem; divide and conquer as in Hochbaum and Hong (1995).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assignors.optimal.flow.effort import Effort
from assignors.optimal.flow.network import Network, start
from assignors.optimal.flow.settle import Cut, settle
from assignors.optimal.flow.table import Table, table_of
from assignors.problem import Bool, Int64

NEVER = 1 << 30
"""Price of a row that nobody takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """The dual of the balance problem, and the price of every row that follows from it."""

    of_class: Int64
    """int64[K]: members of the class carry this many or one less; 0: none at all."""
    of_row: Int64
    """int64[R]: the lowest price among the classes that take the row."""

    @property
    def level_count(self) -> int:
        """How many different prices there are among rows: 1 means one mean load for all."""
        return len(np.unique(self.of_row))

    def square_sum(self, size: Int64, member_count: Int64) -> int:
        """Return the sum of squared loads of every best table.

        `size` is int64[R], `member_count` int64[K]. Exact for up to 2**62.

        >>> known = Prices(of_class=np.array([3, 3, 1]), of_row=np.array([3, 1]))
        >>> known.square_sum(np.array([5, 2]), np.array([1, 1, 2]))
        15
        """
        total = 0
        for price in np.unique(self.of_row).tolist():
            members = int(member_count[self.of_class == price].sum())
            full = int(size[self.of_row == price].sum()) - members * (price - 1)
            total += full * price**2 + (members - full) * (price - 1) ** 2
        return total


def prices(
    *, size: Int64, takes: Bool, member_count: Int64, effort: Effort | None = None
) -> Prices | None:
    """Return the prices of K classes that share R rows, `None` where `effort` is spent first.

    `size` is int64[R], partitions of each row, at least 1; `takes` is bool[R, K], with a
    class in every row; `member_count` is int64[K].
    Cost: at most two maximum flows on rows x classes for each split into levels.

    Topic 0 has 9 partitions and is all that two members take; a third takes both topics.

    >>> answer = prices(
    ...     size=np.array([9, 2]),
    ...     takes=np.array([[True, True], [False, True]]),
    ...     member_count=np.array([2, 1]),
    ... )
    >>> answer.of_class.tolist(), answer.of_row.tolist()
    ([4, 4], [4, 4])
    """
    effort = Effort() if effort is None else effort
    of_class = np.zeros(takes.shape[1], dtype=np.int64)
    useful = np.flatnonzero(takes.any(axis=0) & (member_count > 0))
    parts = [(np.arange(len(size)), useful)]
    while parts:
        rows, classes = parts.pop()
        if not len(rows) or not len(classes):
            assert not len(rows), "rows without anybody to take them"
            continue
        members = member_count[classes]
        mean = -(-int(size[rows].sum()) // int(members.sum()))
        part_takes = takes[np.ix_(rows, classes)]
        cut = None
        if not _are_separate_at(mean, size[rows], part_takes, members):
            cut = _cut_at(mean, size[rows], part_takes, members, effort)
        if effort.is_spent:
            return None
        if cut is None:
            of_class[classes] = mean
            continue
        parts.append((rows[cut.row], classes[cut.member]))
        parts.append((rows[~cut.row], classes[~cut.member]))
    of_row = np.where(takes, of_class, NEVER).min(axis=1, initial=NEVER)
    return Prices(of_class=of_class, of_row=of_row)


def _are_separate_at(mean: int, size: Int64, takes: Bool, members: Int64) -> bool:
    """Return whether no class takes two rows, and each row has the mean load, up or down.

    Then there is nothing to cut, and no flow has to show it.
    """
    if (np.count_nonzero(takes, axis=0) > 1).any():
        return False
    taking = takes @ members
    return bool(((size <= taking * mean) & (size >= taking * (mean - 1))).all())


def _cut_at(mean: int, size: Int64, takes: Bool, members: Int64, effort: Effort) -> Cut | None:
    """Return what separates prices above from prices below, `None` if all are the mean.

    If not every class can be filled to `mean - 1`, the cut of that flow separates prices of
    at least `mean` from smaller ones; else, if some rows do not fit into `mean`, the cut of
    that flow separates prices above `mean` from the rest.
    """
    capacity = members * (mean - 1)
    nothing = np.zeros(0, dtype=np.int64)
    table = table_of(nothing, *takes.shape)
    lower = _fill(size, takes, capacity, table)
    cut = settle(lower, effort).cut
    if effort.is_spent or (lower.load < capacity).any():
        return cut
    assert cut is not None, "more partitions than room, yet all of them were placed"
    return settle(_fill(size, takes, members * mean, table), effort).cut


def _fill(size: Int64, takes: Bool, capacity: Int64, table: Table) -> Network:
    """Return a network in which classes may take up to `capacity` and need not take any.

    It goes on from what is placed in `table`.
    """
    return start(
        size=size,
        table=table,
        allowed=takes,
        remote=None,
        least=np.zeros(len(capacity), dtype=np.int64),
        optional=capacity,
        spare=int(capacity.sum()),
    )
