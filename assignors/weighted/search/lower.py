"""Two members, one fuller than the other: what makes the higher one as low as it gets.

What goes from the one to the other lowers the giver and raises the receiver, so the best shift is
next to the one that would make both equal: the largest up to it, or the smallest above it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from math import floor

from assignors.weighted.search.facts import Held
from assignors.weighted.search.state import State
from assignors.weighted.search.table import Move

Lowered = tuple[float, list[Move]]
"""The fill of the higher of two members after moves."""


def lower(state: State, pair: tuple[int, int], mine: Held, theirs: Held) -> list[Lowered]:
    """Return the best single move and the best exchange from a giver to a receiver.

    `pair` is both; `mine` and `theirs` are what each has that the other may take. The receiver
    does not come above the largest use that there is. Cost: O(partitions of both).
    """
    giver, receiver = pair
    facts = state.facts
    given, taken = state.load[giver], state.load[receiver]
    wide, others_wide = (facts.wide[facts.kind_of[one]] for one in pair)
    equal = floor((given * others_wide - taken * wide) / (wide + others_wide))
    if equal < 0:
        return []  # the receiver is the fuller one
    most = _most(state, receiver)
    found: list[Lowered] = []
    for shifts in (_singles(mine, equal, most), _exchanges(mine, theirs, equal, most)):
        best: Lowered | None = None
        for shifted, partition, back in shifts:
            level = max((given - shifted) / wide, (taken + shifted) / others_wide)
            if best is None or level < best[0]:
                moves = [Move(partition, giver, receiver)]
                best = level, moves if back is None else [*moves, Move(back, receiver, giver)]
        if best is not None:
            found.append(best)
    return found


def _most(state: State, receiver: int) -> int:
    """Return how much more a member may have without coming above the largest use."""
    capacity, load = state.facts.capacity[state.facts.kind_of[receiver]], state.load[receiver]
    most = int(state.largest * capacity) - load
    while (load + most) / capacity > state.largest:
        most -= 1
    return most


Shift = tuple[int, int, int | None]
"""Weight that goes from one to the other, the partition, and the one that comes back for it."""


def _singles(mine: Held, equal: int, most: int) -> list[Shift]:
    """Return the heaviest partition up to `equal`, and the lightest above it."""
    weights, partitions = mine
    at = bisect_right(weights, min(equal, most))
    near = [bisect_left(weights, weights[at - 1])] if at else []
    if at < len(weights) and weights[at] <= most:
        near.append(at)
    return [(weights[place], partitions[place], None) for place in near]


def _exchanges(mine: Held, theirs: Held, equal: int, most: int) -> list[Shift]:
    """Return the exchange with the largest difference up to `equal`, and the smallest above it."""
    (ours, partitions), (others, backs) = mine, theirs
    if not others or not ours:
        return []
    equal = min(equal, most)
    below: Shift = 0, -1, None
    above: Shift = most + 1, -1, None
    # Of those that are not too heavy with the lightest coming back the heaviest is the best.
    for place in range(max(bisect_right(ours, equal + others[0]) - 1, 0), len(ours)):
        weight = ours[place]
        at = bisect_left(others, weight - equal)
        if at < len(others) and weight - others[at] > below[0]:
            below = weight - others[at], partitions[place], backs[at]
        if at and weight - others[at - 1] < above[0]:
            above = weight - others[at - 1], partitions[place], backs[at - 1]
    return [one for one in (below, above) if one[1] >= 0]
