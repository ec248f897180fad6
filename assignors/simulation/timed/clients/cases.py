"""The small cases in which every order of everything is tried, and how to try one."""

from __future__ import annotations

from assignors.simulation.timed.clients.models import Model
from assignors.simulation.timed.clients.search import Explored, explore
from assignors.simulation.timed.clients.world import Case, World, is_settled, moves, started

SWAP = (frozenset({0}), frozenset({1}), frozenset({0}))
"""A partition is given up for another one, and comes back."""
GROW = (frozenset({0}), frozenset({0, 1}))
"""A partition is kept, and one more is taken."""

CASES = {
    "swap and back": Case(SWAP),
    "swap": Case(SWAP[:2]),
    "two records": Case(SWAP[:2], records=2),
    "grow": Case(GROW, records=0, commits=1),
    "grow, fenced by partition": Case(GROW, records=0, commits=1, fences_exactly=False),
    "two commits": Case(SWAP[:1], commits=2),
    "commit while a partition is revoked": Case(SWAP[:2], commits=1),
    "commit in a callback": Case(SWAP[:2], commits_in_callbacks=True),
    "removed": Case(SWAP[:2], records=1, removals=1),
    "removed, with a commit in a callback": Case(
        SWAP[:2], records=0, removals=1, commits_in_callbacks=True
    ),
    "identity read at any time": Case(SWAP[:2], reads=1),
}
"""What is exhausted, by name."""


def exhausted(model: Model, case: Case) -> Explored[World]:
    """Try every order of everything. Cost: 10 to 20 microseconds a move, up to 30,000 moves."""
    return explore(
        started(case), lambda world: moves(case, model, world), lambda w: is_settled(case, w)
    )
