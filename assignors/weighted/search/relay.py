"""Relays: a heavy partition goes to a member without room for it, which hands a few others on.

Where a member is above its limit by one heavy partition, and nobody has room for that, it could
give up many light ones instead. Fewer move if the heavy one goes to a member that has little, and
that member hands on the heaviest that others have room for. In the end both are below their limits.
"""

from __future__ import annotations

from bisect import bisect_left

from assignors.weighted.search.state import State
from assignors.weighted.search.table import Move

PARTITIONS = 4
"""So many partitions that are heavy enough are tried, the lightest first,"""

RECEIVERS = 12
"""each with so many of the emptiest members that may take it."""

WORTHWHILE = 4
"""A relay is looked for where at least so many moves are needed without one."""


def relay_for(state: State, giver: int) -> list[Move] | None:
    """Return a relay off a member above its limit, `None` where it would not save moves.

    Also `None` where members take different things: there a try costs more than it brings. The
    state is as it was. Cost: PARTITIONS x RECEIVERS tries, each O(kinds); one of them is played.
    """
    if len(state.facts.takes) > 1:
        return None
    alone = pieces(state, giver, state.excess(giver))
    if alone is not None and alone < WORTHWHILE:
        return None
    held = state.held(giver)
    first = bisect_left(held[0], state.excess(giver))
    least, best = alone or len(held[0]) + 1, None
    near = state.emptiest(state.facts.kinds_of_row(0), RECEIVERS, giver)
    for weight, partition in zip(*(one[first : first + PARTITIONS] for one in held), strict=True):
        for receiver in _receivers(state, giver, weight, near):
            handed = pieces(state, receiver, state.excess(receiver) + weight, least - 2)
            if handed is not None:
                least, best = handed + 1, Move(partition, giver, receiver)
    return None if best is None else _played(state, best, least)


def pieces(state: State, giver: int, excess: int, most: int | None = None) -> int | None:
    """Return how many partitions a member has to give up that others have room for, one by one.

    `None` where they are not enough, or more than `most`. Cost: that of `State.fitting`.
    """
    weights = (held := state.held(giver))[0]
    count = 0
    for place in reversed(state.fitting(held, giver)):
        if excess <= 0 or count == most:
            break
        excess -= weights[place]
        count += 1
    return count if excess <= 0 else None


def _receivers(state: State, giver: int, weight: int, near: list[int]) -> list[int]:
    """Return the members that a partition leaves below the giver and the largest use."""
    facts, fill, largest = state.facts, state.fill(giver), state.largest
    found = []
    for member in near:
        load, kind = state.load[member] + weight, facts.kind_of[member]
        if load / facts.wide[kind] < fill and load / facts.capacity[kind] < largest:
            found.append(member)
    return found


def _played(state: State, first: Move, most: int) -> list[Move] | None:
    """Return a relay with all its moves, `None` where it needs more than `most`, or fails."""
    done = [first]
    state.move(first)
    while state.excess(first.receiver) > 0 and len(done) < most:
        move = _handed_on(state, first)
        if move is None:
            break
        state.move(move)
        done.append(move)
    is_done = state.excess(first.receiver) <= 0
    for partition, giver, receiver in reversed(done):
        state.move(Move(partition, receiver, giver))
    return done if is_done else None


def _handed_on(state: State, first: Move) -> Move | None:
    """Return what the receiver hands on: the lightest that is enough, else the heaviest."""
    member = first.receiver
    weights, partitions = state.held(member)
    fits = [
        place
        for place in state.fitting((weights, partitions), member)
        if partitions[place] != first.partition
    ]
    if not fits:
        return None
    enough = bisect_left(fits, state.excess(member), key=weights.__getitem__)
    place = fits[min(enough, len(fits) - 1)]
    receiver = state.receiver_of(partitions[place], weights[place], member)
    return Move(partitions[place], member, receiver)
