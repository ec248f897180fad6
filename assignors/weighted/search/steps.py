"""One step of the search: what takes weight off a member that carries too much.

In this order: one partition that brings the member below its limit, the lightest that does; two
that change places; a heavy one to a member that hands a few on, where that saves moves; a part of
what is too much; then whatever lowers the higher of two members; then chains of members. Receivers
stay below their limits, or at least below what the member had, so each step lowers the sorted list
of all members' fill.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import compress

from assignors.weighted.search.facts import Held
from assignors.weighted.search.lower import Near, lower
from assignors.weighted.search.relay import relay_for
from assignors.weighted.search.state import State
from assignors.weighted.search.table import Move

SPREAD = 6
"""Among so many of the emptiest receivers two partitions are looked for that change places."""

WORTH = 1e-4
"""A step that lowers a member's fill by a smaller part than this is not worth it."""


def step_for(state: State, giver: int) -> list[Move] | None:
    """Return moves that belong together and relieve a member, `None` where there are none.

    Cost: O(kinds x rows of its partitions + SPREAD x partitions of a member), and O(kinds) where a
    single move is enough and all take the same.
    """
    held = state.held(giver)
    weights, partitions = held
    if not weights:
        return None
    excess = state.excess(giver)
    fits = state.fitting(held)
    enough = fits[bisect_left(fits, excess, key=weights.__getitem__) :]
    if enough:
        return [_single(state, giver, held, _cheapest(state, partitions, enough))]
    heaviest = weights[fits[-1]] if fits else 0
    if 0 < excess <= 2 * heaviest:
        return [_single(state, giver, held, fits[-1])]
    near = _near(state, giver, held)
    exchange = _exchange_to_limit(state, giver, near)
    if exchange is not None:
        return exchange
    if not fits or heaviest < WORTH * state.load[giver]:
        return lower(state, giver, near, state.fill(giver) * (1 - WORTH))
    relay = relay_for(state, giver) if state.way.relays else None
    state.has_relayed |= relay is not None
    return relay or [_single(state, giver, held, fits[-1])]


def _cheapest(state: State, partitions: array[int], places: Sequence[int]) -> int:
    """Return the place of the partition that is cheapest to move, the lightest of equal ones."""
    cost = state.facts.cost
    return places[0] if cost is None else min(places, key=lambda one: int(cost[partitions[one]]))


def _single(state: State, giver: int, held: Held, place: int) -> Move:
    partition, weight = held[1][place], held[0][place]
    choose = state.fullest_receiver_of if state.way.packs else state.receiver_of
    return Move(partition, giver, choose(partition, weight))


def _near(state: State, giver: int, held: Held) -> Near:
    """Return the emptiest members that may take something of what a member has."""
    facts = state.facts
    if len(facts.takes) == 1:
        near = state.emptiest(facts.kinds_of_row(0), SPREAD, giver)
        return [(one, held, state.held(one)) for one in near]
    near = state.emptiest(facts.kinds_of_rows(set(facts.rows_of(held))), SPREAD, giver)
    return [(one, allowed(state, giver, one), allowed(state, one, giver)) for one in near]


def allowed(state: State, giver: int, receiver: int) -> Held:
    """Return what a member has that another may take."""
    facts, held = state.facts, state.held(giver)
    if len(facts.takes) == 1:
        return held
    takes = facts.takes[:, facts.class_of[facts.kind_of[receiver]]].tolist()
    rows = facts.rows_of(held)
    chosen = [takes[row] for row in rows]
    weights, partitions = (array("q", compress(one, chosen)) for one in held)
    return weights, partitions


def _exchange_to_limit(state: State, giver: int, near: Near) -> list[Move] | None:
    """Return two partitions that change places, after which both members are below their limits.

    Of those with the least difference that is enough.
    """
    excess, kind_of = state.excess(giver), state.facts.kind_of
    known, ceiling = -1, 0
    for receiver, (ours, mine), (others, theirs) in near:
        if not ours or not others or ours[-1] - others[0] < excess:
            continue
        if kind_of[receiver] != known:
            known = kind_of[receiver]
            ceiling = state.ceiling(known)
        room = ceiling - state.load[receiver]
        if room < excess:
            continue
        least, pair = room + 1, None
        # Lighter ones are not enough, whatever comes back.
        for place in range(bisect_left(ours, excess + others[0]), len(ours)):
            back = bisect_right(others, ours[place] - excess) - 1
            difference = ours[place] - others[back]
            if difference < least:
                least, pair = difference, (mine[place], theirs[back])
        if pair is not None:
            return [Move(pair[0], giver, receiver), Move(pair[1], receiver, giver)]
    return None
