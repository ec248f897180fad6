"""Relays: a heavy partition goes to a member without room for it, which hands on a few others.

If a member is above its limit by one heavy partition and no member has room for it, it could give
up many light ones. Fewer partitions move if the heavy one goes to an emptier member, which hands on
the heaviest partitions that others have room for. At the end both are below their limits.
"""

from __future__ import annotations

from bisect import bisect_left

from assignors.weighted.search.state import State
from assignors.weighted.search.table import Move

PARTITIONS = 4
"""Heavy enough partitions that are tried, lightest first."""

RECEIVERS = 12
"""Emptiest members that are tried for each of them."""

WORTHWHILE = 4
"""Moves without a relay from which on a relay is searched."""


def relay_for(state: State, giver: int) -> list[Move] | None:
    """Return a relay off a member above its limit, `None` if it saves no moves.

    Also `None` if members take different topics, where a try costs more than it gains. The state is
    unchanged. Cost: PARTITIONS x RECEIVERS tries, each O(kinds); one of them is played.
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
    """Return how many partitions a member must give up, each to a member with room for it.

    `None` if they do not suffice, or are more than `most`. Cost: that of `State.fitting`.
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
    """Return the members that stay below the giver and the largest use with a partition."""
    facts, fill, largest = state.facts, state.fill(giver), state.largest
    found = []
    for member in near:
        load, kind = state.load[member] + weight, facts.kind_of[member]
        if load / facts.wide[kind] < fill and load / facts.capacity[kind] < largest:
            found.append(member)
    return found


def _played(state: State, first: Move, most: int) -> list[Move] | None:
    """Return a relay with all its moves, `None` if it needs more than `most` moves or fails."""
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
    """Return a move off the receiver: the lightest partition that suffices, else the heaviest."""
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
