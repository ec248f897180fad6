"""Hand out the free partitions of a small group, as `flow.pour` does, from lists."""

from __future__ import annotations

from collections.abc import Sequence

from assignors.optimal.flow.pour import (
    PARTS,
    is_worth_counting,
    is_worth_spreading,
    spread,
)
from assignors.optimal.flow.shares import shares_of

Cells = list[dict[int, int]]
"""[row]: member -> how many partitions of the row."""


def pour(
    takers: Sequence[Sequence[int]],
    placed: Cells,
    unplaced: list[int],
    load: list[int],
    room: list[int],
    *,
    is_even: bool,
) -> None:
    """Hand out free partitions where there is room; all but `takers` change.

    `takers` has by row the members that may take some, `room` by member how much it can take;
    `is_even` says that all members may get as much.
    """
    waiting = [row for row, free in enumerate(unplaced) if free]
    waiting.sort(key=lambda row: -(unplaced[row] / len(takers[row])))
    here = [takers[row] for row in waiting]
    if is_even and is_worth_spreading(len(here), sum(map(len, here))):
        amounts = [unplaced[row] for row in waiting]
        shares = spread(amounts, here, _row_weights(here, len(load)), room)
        for row, members, given in zip(waiting, here, shares, strict=True):
            _place(placed[row], load, members, given)
            unplaced[row] -= sum(given)
        return
    left = None
    if is_worth_counting(sum(unplaced), sum(load), len(waiting)):
        left = [0] * len(load)
        for members in here:
            for member in members:
                left[member] += 1
    for row, members in zip(waiting, here, strict=True):
        chosen, given = shares_of(members, room, unplaced[row], left)
        _place(placed[row], load, chosen, given)
        unplaced[row] -= sum(given)
        for member, amount in zip(chosen, given, strict=True):
            room[member] -= amount


def _place(
    of_row: dict[int, int], load: list[int], members: Sequence[int], given: Sequence[int]
) -> None:
    """Place so much of the row with each of these members."""
    for member, amount in zip(members, given, strict=True):
        if amount:
            of_row[member] = of_row.get(member, 0) + amount
            load[member] += amount


def _row_weights(takers: Sequence[Sequence[int]], member_count: int) -> list[list[int]]:
    """Return what `flow.pour.row_weights` does, by row."""
    left = [0] * member_count
    weights: list[list[int]] = []
    for members in reversed(takers):
        for member in members:
            left[member] += 1
        weights.append([max(PARTS // left[member], 1) for member in members])
    return weights[::-1]
