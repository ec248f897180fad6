"""Choose partitions in bulk: turn how many each member gets into which ones.

This is where `spread` starts in large groups in which much changes hands. Two choices are made so
that each topic is spread over the members much as round robin would spread it:

* A member that must give partitions up gives those of the topics it holds most of, and members
  take turns at which topic comes first. Otherwise all would give up the first topic, and a new
  member would get no other.
* Free partitions are dealt round robin: one to each member that still gains, then one more to
  each that gains two, and so on, with the partitions in topic order.

Only cells that shrink are sorted and only free partitions are dealt, so a group in which
little changes costs a few passes over the owners.
"""

from __future__ import annotations

import numpy as np

from assignors.optimal.flow.table import Cells, narrow
from assignors.problem import NOBODY, Int32, Int64


def choose_partitions(
    *,
    row_of: Int32,
    topic_of: Int32,
    owner: Int32,
    less: Cells,
    more: Cells,
) -> tuple[Int32, Int64]:
    """Return who gets each partition, int32[P], and which ones change hands, ascending.

    `row_of` is int32[P] (-1: nobody may take it), `owner` int32[P] holds only owners that may
    take the partition. `less` and `more` are the cells in which members shall have fewer
    partitions of the row than they own, or more, and how many.
    Cost: O(P + C log C) for C partitions of rows and members that change.

    >>> cell = {"row": np.array([0]), "count": np.array([2])}
    >>> choose_partitions(
    ...     row_of=np.zeros(4, dtype=np.int32),
    ...     topic_of=np.array([0, 0, 0, 1], dtype=np.int32),
    ...     owner=np.array([0, 0, 0, 0], dtype=np.int32),
    ...     less=Cells(member=np.array([0]), **cell),
    ...     more=Cells(member=np.array([1]), **cell),
    ... )
    (array([0, 1, 1, 0], dtype=int32), array([1, 2]))
    """
    answer = owner.copy()
    if len(less.row):
        _give_up(answer, row_of, topic_of, owner, less)
    is_free = answer < 0
    is_free &= row_of >= 0
    free = changed = is_free.nonzero()[0]
    if len(free):
        row_count = int(row_of.max()) + 1
        if row_count > 1:
            free = free[np.argsort(narrow(row_of[free], row_count), kind="stable")]
        answer[free] = dealt(more.row, more.member, more.count, row_count)
    return answer, changed


def _give_up(answer: Int32, row_of: Int32, topic_of: Int32, owner: Int32, less: Cells) -> None:
    """Write nobody into `answer`, int32[P], where partitions are given up."""
    shrinking, cell = _shrinking(row_of, owner, less)
    is_all = np.bincount(cell, minlength=len(less.count)) == less.count
    if is_all.any():  # so it is with most, where racks matter: nothing to choose in these
        goes = is_all[cell]
        answer[shrinking[goes]] = NOBODY
        shrinking, cell = shrinking[~goes], cell[~goes]
    if len(shrinking):
        chosen = given_up(cell, topic_of[shrinking], less.count)
        answer[shrinking[chosen]] = NOBODY


def _shrinking(row_of: Int32, owner: Int32, less: Cells) -> tuple[Int64, Int32 | Int64]:
    """Return the partitions in cells that shrink, and which cell of `less` each is in.

    Most partitions are passed over because their row or their owner gives nothing up.
    """
    # One place more, so that -1 finds nothing there.
    row_count, width = int(row_of.max()) + 2, int(owner.max()) + 2
    keys = less.row * width + less.member
    member_shrinks = np.zeros(width, dtype=np.bool_)
    member_shrinks[less.member] = True
    row_shrinks = np.zeros(row_count, dtype=np.bool_)
    row_shrinks[less.row] = True
    held = np.flatnonzero(member_shrinks[owner])
    held = held[row_shrinks[row_of[held]]]
    key = row_of[held] * np.int64(width) + owner[held]
    cell = np.searchsorted(keys, key)
    found = cell < len(keys)
    found[found] = keys[cell[found]] == key[found]
    return held[found], cell[found]


def given_up(cell: Int32 | Int64, topic: Int32 | Int64, drop: Int64) -> Int64:
    """Return the positions of the partitions that their holders give up.

    `cell` and `topic` say, for partitions in ascending order, which cell holds each and of
    which topic it is; `drop[cell]` is how many a cell gives up, if its partitions are there.
    Cost: O(C log C).

    >>> one_member = np.zeros(5, dtype=np.int64)
    >>> topics = np.array([0, 1, 1, 1, 2], dtype=np.int32)
    >>> given_up(one_member, topics, np.array([2]))
    array([3, 2])
    """
    # Where the choice is between equals, each cell starts where the one before it stopped.
    turn = drop.cumsum() - drop
    order = narrow(cell, len(drop)).argsort(kind="stable")
    held, of_topic = cell[order], topic[order]
    is_again = (held[1:] == held[:-1]) & (of_topic[1:] == of_topic[:-1])
    cell, index = held, np.arange(len(held))
    is_shrinking = drop > 0
    is_shrinking &= np.bincount(cell, minlength=len(drop)) > 0
    if not is_shrinking.all():
        number = np.cumsum(is_shrinking) - 1
        drop, turn = drop[is_shrinking], turn[is_shrinking]
        cell = number[cell]
    start = np.ones(len(cell), dtype=np.bool_)
    start[1:] = ~is_again
    # How many partitions of the same topic come before this one in its cell.
    height = index - np.maximum.accumulate(np.where(start, index, 0))
    top = int(height.max())
    again = np.argsort(
        narrow(cell * (top + 1) + (top - height), len(drop) * (top + 1)), kind="stable"
    )
    order, height = order[again], height[again]
    count = np.bincount(cell, minlength=len(drop))
    begin = np.cumsum(count) - count
    level = height[begin + drop - 1][cell]
    above = np.bincount(cell[height > level], minlength=len(drop))
    tied = np.bincount(cell[height == level], minlength=len(drop))
    place = index - begin[cell]
    lot = (place - above[cell] - turn[cell]) % tied[cell]
    chosen: Int64 = order[(height > level) | ((height == level) & (lot < (drop - above)[cell]))]
    return chosen


def dealt(row: Int64, member: Int64, amount: Int64, row_count: int) -> Int64:
    """Return the members in turns: row by row, each as often as `amount` says, at least once."""
    most = int(amount.max())
    if most == 1:
        return member
    end = amount.cumsum()
    turn = np.arange(int(end[-1]))
    turn -= (end - amount).repeat(amount)
    if row_count > 1:
        turn += (row * most).repeat(amount)
    order = narrow(turn, row_count * most).argsort(kind="stable")
    found: Int64 = member.repeat(amount)[order]
    return found
