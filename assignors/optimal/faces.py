"""Which answers are as good as the one found in balance, racks and moves: `spread.Face`.

An answer is among the best if and only if it agrees with the prices (labels) of one best answer:
each cell whose arc costs more than the difference of the labels of its ends is empty, each whose
arc costs less is full, and the others are free. A partition that stays costs 1 less than one that
is new to the member, so three things can be said of a cell in which new ones cost d more than the
labels say: with d = 0 all that is owned stays and more may come, with d = 1 nothing comes and
what is owned may go, with a larger d the cell is empty.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from assignors.optimal.flow.distances import Distances
from assignors.optimal.flow.residual import RACK
from assignors.optimal.spread import Face, bits
from assignors.problem import Int64

Sets = Callable[[int], int]
"""Row -> a set of members."""


def equal_face(*, rich: int, everybody: int, spare: int, moves_last: bool = False) -> Face:
    """Return the face where every member may take every topic, and racks do not matter.

    Members get P // M partitions, and `spare` of them one more. `rich` are those that own more
    than P // M: it is the face while they alone have one more.
    """
    gaining, losing = everybody ^ rich, rich
    flexible = rich if rich.bit_count() >= spare else gaining
    if moves_last:
        flexible, gaining, losing = everybody, everybody, everybody
    if not spare:
        flexible = 0
    return Face(
        may_gain=lambda _: gaining,
        may_lose=lambda _: losing,
        up=flexible & ~rich,
        down=flexible & rich,
        moves_last=moves_last,
    )


def flow_face(
    found: Distances,
    *,
    allowed: Sets,
    remote: Sets | None,
    optional: int,
    full: int,
    moves_last: bool = False,
) -> Face:
    """Return the face of a table that a min-cost flow has found, from its distances.

    `allowed` and `remote` are those of the rows of the flow, `optional` the members that may have
    one more than they must, and `full` those of them that have.
    """
    labels, at = found.row, found.members_at
    if moves_last:  # what racks alone cost: moves are a small part of a distance
        labels = [_in_racks(label) for label in labels]
        at = {}
        for label, members in found.members_at.items():
            at[_in_racks(label)] = at.get(_in_racks(label), 0) | members

    def at_length(row: int, length: int) -> int:
        label = labels[row] + length
        near = at.get(label, 0) & allowed(row)
        if remote is None:
            return near
        away = at.get(label - RACK, 0) & allowed(row)
        return (near & ~remote(row)) | (away & remote(row))

    flexible = at.get(labels[-2], 0) & optional
    return Face(
        may_gain=lambda row: at_length(row, 0),
        may_lose=lambda row: at_length(row, 0 if moves_last else 1),
        up=flexible & ~full,
        down=flexible & full,
        moves_last=moves_last,
    )


def _in_racks(distance: int) -> int:
    """Return the part of a distance that is made of racks."""
    return (distance + RACK // 2) // RACK * RACK


def labels_of(found: Distances, member_count: int) -> tuple[Int64, Int64]:
    """Return the distances of the rows, the hub and the goal, int64[R + 2], and of members."""
    of_member = np.zeros(member_count, dtype=np.int64)
    for label, members in found.members_at.items():
        if label:
            of_member[bits(members, member_count)] = label
    return np.array(found.row), of_member
