"""One step of the search: moves that take weight off a member above its limit.

In this order: the lightest partition that brings the member below its limit; an exchange of two; a
relay, if it saves moves; the heaviest partition that fits; a move or an exchange that lowers the
fuller of two members; a chain of members. Receivers stay below their limits, or at least below the
load that the giver had, so each step lowers the sorted list of fills.
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
"""Emptiest receivers that are tried for an exchange."""

WORTH = 1e-4
"""Smallest share of a member's fill that a step must take off."""


def step_for(state: State, giver: int) -> list[Move] | None:
    """Return moves that relieve a member together, `None` if there are none.

    Cost: O(kinds x rows of its partitions + SPREAD x partitions of a member), and O(kinds) if a
    single move suffices and all members take the same topics.
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
    relay = relay_for(state, giver) if state.policy.relays else None
    state.has_relayed |= relay is not None
    return relay or [_single(state, giver, held, fits[-1])]


def _cheapest(state: State, partitions: array[int], places: Sequence[int]) -> int:
    """Return the place of the cheapest partition to move, the lightest of equal ones."""
    cost = state.facts.cost
    return places[0] if cost is None else min(places, key=lambda one: int(cost[partitions[one]]))


def _single(state: State, giver: int, held: Held, place: int) -> Move:
    partition, weight = held[1][place], held[0][place]
    choose = state.fullest_receiver_of if state.policy.packs else state.receiver_of
    return Move(partition, giver, choose(partition, weight))


def _near(state: State, giver: int, held: Held) -> Near:
    """Return the emptiest members that may take some partition of a member."""
    facts = state.facts
    if len(facts.takes) == 1:
        near = state.emptiest(facts.kinds_of_row(0), SPREAD, giver)
        return [(one, held, state.held(one)) for one in near]
    near = state.emptiest(facts.kinds_of_rows(set(facts.rows_of(held))), SPREAD, giver)
    return [(one, allowed(state, giver, one), allowed(state, one, giver)) for one in near]


def allowed(state: State, giver: int, receiver: int) -> Held:
    """Return the partitions of a member that another may take."""
    facts, held = state.facts, state.held(giver)
    if len(facts.takes) == 1:
        return held
    takes = facts.takes[:, facts.class_of[facts.kind_of[receiver]]].tolist()
    rows = facts.rows_of(held)
    chosen = [takes[row] for row in rows]
    weights, partitions = (array("q", compress(one, chosen)) for one in held)
    return weights, partitions


def _exchange_to_limit(state: State, giver: int, near: Near) -> list[Move] | None:
    """Return an exchange of two partitions that leaves both members below their limits.

    The one with the least difference that suffices.
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
        # Lighter partitions do not suffice, whatever comes back.
        for place in range(bisect_left(ours, excess + others[0]), len(ours)):
            back = bisect_right(others, ours[place] - excess) - 1
            difference = ours[place] - others[back]
            if difference < least:
                least, pair = difference, (mine[place], theirs[back])
        if pair is not None:
            return [Move(pair[0], giver, receiver), Move(pair[1], receiver, giver)]
    return None
