"""The sequence of steps off the fullest members, until all are below their limits or no step helps.

Each step lowers the sorted list of fills, so the sequence ends. It does not know the budget, which
cuts it (`budget.best_within`). A step depends on the state alone: if a whole pass finds none, a
second pass on its result finds none. Chains are searched only for the fullest member of all.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from heapq import heapify, heappop, heappush, nsmallest

from assignors.weighted.search.chains import chain_for
from assignors.weighted.search.state import State
from assignors.weighted.search.steps import WORTH, allowed, step_for
from assignors.weighted.search.table import Move

IDLE_BELOW = 0.3
"""A member below this share of its fair weight is idle."""

FILLED_TO = 0.5
"""An idle member gets partitions up to this share of its fair weight."""

LEAST_GAIN = 1e-9
"""Gains below this share of the giver's weight are rounding errors."""

GIVERS = 16
"""Fullest members that are tried as givers."""


def relief(state: State, *, of_fullest: bool = False, chains: bool = True) -> Iterator[list[Move]]:
    """Yield steps off members above their limits, each done on the state.

    With `of_fullest` it ends when no step helps the fullest member. Without `chains` only members
    above their limits lose weight.

    Cost: for each step that of `step_for`, and O(members of a kind) to keep them sorted.
    """
    waiting = [(-state.fill(one), one) for one in above(state, state.limit)]
    heapify(waiting)
    while waiting:
        fill, giver = heappop(waiting)
        if -fill != state.fill(giver):
            continue  # it has changed since, and waits with what it has now
        step = step_for(state, giver)
        if step is None and chains and giver == state.fullest():
            step = chain_for(state, giver)
        if step is None:
            if of_fullest:
                return
            continue  # until something of it moves
        for move in step:
            state.move(move)
        for member in {one for move in step for one in (move.giver, move.receiver)}:
            if state.excess(member) > 0:
                heappush(waiting, (-state.fill(member), member))
        yield step


def above(state: State, limit: list[int]) -> list[int]:
    """Return the members above the limits of their kinds. Cost: O(kinds + those members)."""
    found = []
    for members, most in zip(state.ranked, limit, strict=True):
        for load, member in reversed(members):
            if load <= most:
                break
            found.append(member)
    return found


def idle(state: State, part: float = IDLE_BELOW) -> list[int]:
    """Return the members below a share of their fair weight, emptiest first."""
    found = []
    for members, fair in zip(state.ranked, state.facts.fair, strict=True):
        for load, member in members:
            if load >= part * fair:
                break
            found.append((load / fair, member))
    return [member for _, member in sorted(found)]


def filling(
    state: State, begins: float = IDLE_BELOW, until: float = FILLED_TO
) -> Iterator[list[Move]]:
    """Yield steps that give partitions to idle members, each done on the state.

    A partition comes from the fullest member that has one light enough to stay as full as the
    receiver. Cost: as `relief`.
    """
    for receiver in idle(state, begins):
        while state.load[receiver] < until * state.facts.fair[state.facts.kind_of[receiver]]:
            move = _to_idle(state, receiver, until)
            if move is None:
                break
            state.move(move)
            yield [move]


def _to_idle(state: State, receiver: int, until: float) -> Move | None:
    """Return a move to an idle member from the first of the fullest givers that has enough.

    Else from the giver that has most; `None` if no partition is worth the move.
    """
    facts, load = state.facts, state.load[receiver]
    fair, fill = facts.fair[facts.kind_of[receiver]], state.fill(receiver)
    takes = facts.takes[:, facts.class_of[facts.kind_of[receiver]]].nonzero()[0].tolist()
    fuller = (
        (-one / facts.wide[kind], member)
        for kind in facts.kinds_of_rows(set(takes))
        for one, member in state.top(kind, GIVERS)
        if one / facts.wide[kind] > fill
    )
    best, most = None, WORTH * fair
    for _, giver in nsmallest(GIVERS, fuller):
        found = _suited(state, giver, receiver)
        if found is not None and found[0] > most:
            most, best = found[0], Move(found[1], giver, receiver)
            if most >= until * fair - load:
                break
    return best


def _suited(state: State, giver: int, receiver: int) -> tuple[int, int] | None:
    """Return weight and number of the giver's partition closest to what the receiver lacks."""
    weights, partitions = allowed(state, giver, receiver)
    facts = state.facts
    fair, wide = (one[facts.kind_of[receiver]] for one in (facts.fair, facts.wide))
    givers_wide, load = facts.wide[facts.kind_of[giver]], state.load[receiver]
    equal = (state.load[giver] * wide - load * givers_wide) / (givers_wide + wide)
    less_than = 2 * equal - LEAST_GAIN * state.load[giver]
    at = bisect_right(weights, min(equal, fair - load)) - 1
    room = state.room(receiver)
    for place in (at, at + 1):
        if 0 <= place < len(weights) and weights[place] < less_than and weights[place] <= room:
            return weights[place], partitions[place]
    return None
