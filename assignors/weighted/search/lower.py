"""The move or exchange that lowers the fuller of a giver and a receiver most.

A shift lowers the giver and raises the receiver. The best shift is next to the one that would make
both equal: the largest up to it, or the smallest above it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from math import floor

from assignors.weighted.search.facts import Held
from assignors.weighted.search.state import State
from assignors.weighted.search.table import Move

Near = list[tuple[int, Held, Held]]
"""Receivers, each with the giver's partitions that it may take, and the reverse."""

Shift = tuple[int, int, int]
"""Weight that goes to the receiver, its partition, and the partition that comes back."""

NOTHING = -1
"""No partition comes back: a single move."""


def lower(state: State, giver: int, near: Near, goal: float) -> list[Move] | None:
    """Return the move or the exchange that lowers the fuller of two members most per move.

    To a fill of at most `goal`; `None` if there is none. The receiver stays within the largest use.
    Cost: O(partitions of all of them).
    """
    facts, loads = state.facts, state.load
    given, wide = loads[giver], facts.wide[facts.kind_of[giver]]
    top = given / wide
    gain, best, receiver = 0.0, None, giver
    for other, mine, theirs in near:
        kind, taken = facts.kind_of[other], loads[other]
        others_wide = facts.wide[kind]
        equal = floor((given * others_wide - taken * wide) / (wide + others_wide))
        # Up to `equal` the giver is fuller, above it the receiver. What is found is rounded in the
        # same way, so it is no lower.
        least = min((given - equal) / wide, (taken + equal + 1) / others_wide)
        if equal < 0 or least > goal or top - least <= gain:
            continue
        most = _most(state.largest, facts.capacity[kind], taken)
        for moves, find in ((1, _singles), (2, _exchanges)):
            if (top - least) / moves <= gain:
                break
            if moves == 2 and (top - (given - _widest(mine, theirs)) / wide) / 2 <= gain:
                break
            for shift in find(mine, theirs, equal, most):
                level = max((given - shift[0]) / wide, (taken + shift[0]) / others_wide)
                if level <= goal and (top - level) / moves > gain:
                    gain, best, receiver = (top - level) / moves, shift, other
    if best is None:
        return None
    _, partition, back = best
    move = Move(partition, giver, receiver)
    return [move] if back == NOTHING else [move, Move(back, receiver, giver)]


def _most(largest: float, capacity: int, load: int) -> int:
    """Return the most weight that a member may add within the largest use."""
    most = int(largest * capacity) - load
    while (load + most) / capacity > largest:
        most -= 1
    return most


def _widest(mine: Held, theirs: Held) -> int:
    """Return the largest difference of an exchange, 0 without one."""
    return mine[0][-1] - theirs[0][0] if mine[0] and theirs[0] else 0


def _singles(mine: Held, _theirs: Held, equal: int, most: int) -> list[Shift]:
    """Return the heaviest partition up to `equal`, and the lightest above it."""
    weights, partitions = mine
    at = bisect_right(weights, min(most, equal))
    found = []
    if at:
        place = bisect_left(weights, weights[at - 1], 0, at)
        found.append((weights[place], partitions[place], NOTHING))
    if at < len(weights) and weights[at] <= most:
        found.append((weights[at], partitions[at], NOTHING))
    return found


def _exchanges(mine: Held, theirs: Held, equal: int, most: int) -> list[Shift]:
    """Return the exchange with the largest difference up to `equal`, and the smallest above it."""
    (ours, partitions), (others, backs) = mine, theirs
    if not others or not ours:
        return []
    equal = min(equal, most)
    below: Shift = 0, NOTHING, NOTHING
    above: Shift = most + 1, NOTHING, NOTHING
    # The heaviest partition that is not too heavy when the lightest comes back is the best.
    for place in range(max(bisect_right(ours, equal + others[0]) - 1, 0), len(ours)):
        weight = ours[place]
        at = bisect_left(others, weight - equal)
        if at < len(others) and weight - others[at] > below[0]:
            below = weight - others[at], partitions[place], backs[at]
        if at and weight - others[at - 1] < above[0]:
            above = weight - others[at - 1], partitions[place], backs[at - 1]
    return [one for one in (below, above) if one[1] != NOTHING]
