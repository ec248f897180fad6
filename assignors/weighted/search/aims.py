"""The fair use of each class of members: the level of the rows that it takes.

Rows fall into groups of equal price (`assignors.optimal.prices`). If partitions could be divided,
the classes of a group would carry its rows and no others, all with the same use: the level of the
group. If a few partitions are too heavy for that, the bound of heavy partitions replaces the level.
Members that take nothing have no level.
Source: Harvey, Ladner, Lovasz, Tamir (2006) for the levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from assignors.arrays import Bool, Int32, Int64
from assignors.optimal.prices import prices
from assignors.weighted.heavy import heavy
from assignors.weighted.level import scaled_for_prices


@dataclass(frozen=True, slots=True, kw_only=True)
class Aims:
    """Uses of K classes, 0 for a class that takes no weight."""

    most: list[Fraction]
    """Highest use that members of each class should have."""
    fair: list[Fraction]
    """Mean use of members of each class that do not carry one of the heaviest partitions alone."""


def aims(*, weight: Int64, row_of: Int32, takes: Bool, class_of: Int32, capacity: Int64) -> Aims:
    """Return the fair uses of K classes.

    `weight` is int64[P]; `row_of` int32[P], -1 for a partition that no member takes; `takes`
    bool[R, K], with a present class in each row; `class_of` int32[M]; `capacity` int64[M].
    Cost: that of `prices`, and O(P log P).
    """
    row_count, class_count = takes.shape
    if row_count == 1:
        return _of_one_row(weight, row_of, takes[0], class_of, capacity)
    taken = row_of >= 0
    size = np.zeros(row_count, dtype=np.int64)
    np.add.at(size, row_of[taken], weight[taken])
    room = np.zeros(class_count, dtype=np.int64)
    np.add.at(room, class_of, capacity)
    answer = Aims(most=[Fraction(0)] * class_count, fair=[Fraction(0)] * class_count)
    rows = np.flatnonzero(size)
    if not len(rows):
        return answer
    group_of_row = np.full(row_count, -1, dtype=np.int64)
    group_of_row[rows] = _groups(size[rows], takes[rows], room)
    count = int(group_of_row.max()) + 1
    # A class carries the most crowded rows that it takes: groups are numbered from the top.
    group = np.where(takes & (group_of_row >= 0)[:, None], group_of_row[:, None], count)
    group_of_class = group.min(axis=0)
    group_of_class[room == 0] = count
    for number in range(count):
        members = (group_of_class == number)[class_of]
        inside = weight[taken & (group_of_row[row_of] == number)]
        most, fair = _of_group(inside, capacity[members])
        for one in np.flatnonzero(group_of_class == number).tolist():
            answer.most[one], answer.fair[one] = most, fair
    return answer


def _of_one_row(
    weight: Int64, row_of: Int32, takes: Bool, class_of: Int32, capacity: Int64
) -> Aims:
    """Return the uses if all partitions that members take are of one row."""
    inside = weight if row_of.min() >= 0 else weight[row_of >= 0]
    members = capacity if takes.all() else capacity[takes[class_of]]
    most, fair = _of_group(inside, members)
    present = set(class_of.tolist())
    has = [is_taker and number in present for number, is_taker in enumerate(takes.tolist())]
    return Aims(
        most=[most if one else Fraction(0) for one in has],
        fair=[fair if one else Fraction(0) for one in has],
    )


def _of_group(weight: Int64, capacity: Int64) -> tuple[Fraction, Fraction]:
    """Return both uses of members that carry these partitions and no others."""
    total = int(weight.sum())
    if not total:
        return Fraction(0), Fraction(0)
    most = max(Fraction(total, int(capacity.sum())), heavy(weight, capacity))
    return most, _without_heaviest(weight, capacity)


def _without_heaviest(weight: Int64, capacity: Int64) -> Fraction:
    """Return the mean use without the partitions that are too heavy for any member's mean.

    While the heaviest is above the mean of the rest, it goes to the fastest member alone.
    """
    total, place = int(weight.sum()), int(capacity.sum())
    few = min(len(capacity) - 1, len(weight))
    highest, fastest = int(weight.max()), int(capacity.max())
    if not few or highest * (place - fastest) <= (total - highest) * fastest:
        return Fraction(total, place)
    heaviest = -np.sort(-np.partition(weight, len(weight) - few)[len(weight) - few :])
    falling = -np.sort(-capacity)
    for one, room in zip(heaviest.tolist(), falling.tolist(), strict=False):
        if one * (place - room) <= (total - one) * room:
            break
        total, place = total - one, place - room
    return Fraction(total, place)


def _groups(size: Int64, takes: Bool, room: Int64) -> Int64:
    """Return the number of each row's group, 0 for the most crowded."""
    if len(size) == 1:
        return np.zeros(1, dtype=np.int64)
    scaled, members = scaled_for_prices(size, room)
    found = prices(size=scaled, takes=takes, member_count=members)
    assert found is not None, "prices without a limit are always found"
    _, group = np.unique(-found.of_row, return_inverse=True)
    return group.reshape(-1)
