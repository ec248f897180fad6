"""Hand out the free partitions of a small group, as `flow.pour` does, from lists."""

from __future__ import annotations

from collections.abc import Sequence

from assignors.optimal.flow.shares import shares_of

Cells = list[dict[int, int]]
"""[row]: member -> how many partitions of the row."""


def pour(
    takers: Sequence[Sequence[int]],
    placed: Cells,
    unplaced: list[int],
    load: list[int],
    room: list[int],
) -> None:
    """Hand out free partitions where there is room; all but `takers` change.

    `takers` has by row the members that may take some, `room` by member how much it can take.
    """
    waiting = [row for row, free in enumerate(unplaced) if free]
    waiting.sort(key=lambda row: -(unplaced[row] / len(takers[row])))
    for row in waiting:
        of_row = placed[row]
        has = [of_row.get(member, 0) for member in takers[row]]
        chosen, given = shares_of(takers[row], room, unplaced[row], has)
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
