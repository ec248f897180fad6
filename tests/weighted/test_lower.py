"""The best move and the best exchange between two members, against trying all of them."""

from __future__ import annotations

import numpy as np

from assignors.weighted.search.lower import lower
from assignors.weighted.search.state import State, state_of
from assignors.weighted.search.table import Table


def two_members(seed: int) -> State:
    """Two members with a few partitions each, and a third that may have a larger use."""
    random = np.random.default_rng(seed)
    owner = np.sort(random.integers(0, 3, int(random.integers(4, 20)))).astype(np.int32)
    weight = random.integers(1, random.choice([4, 30, 1000]), len(owner))
    capacity = random.choice([1, 2], 3).astype(np.int64)
    table = Table(
        weight=weight,
        cost=np.ones(len(owner), dtype=np.int64),
        row_of=np.zeros(len(owner), dtype=np.int32),
        takes=np.array([[True, True, True]]),
        class_of=np.arange(3, dtype=np.int32),
        capacity=capacity,
        wide=(capacity * random.choice([1.0, 1.5], 3)).astype(np.float64),
        fair=capacity.astype(np.float64),
        owner=owner,
        load=np.bincount(owner, weight, 3).astype(np.int64),
    )
    return state_of(table, has_costs=False)


def higher(state: State, shifted: int) -> float | None:
    """The fill of the higher of members 0 and 1 afterwards, `None` above the largest use."""
    given, taken = state.load[0] - shifted, state.load[1] + shifted
    wide, capacity = state.facts.wide, state.facts.capacity
    if shifted <= 0 or taken / capacity[1] > state.largest:
        return None
    return max(given / wide[0], taken / wide[1])


def test_no_move_and_no_exchange_leaves_the_higher_member_lower() -> None:
    found = 0
    for seed in range(400):
        state = two_members(seed)
        if state.fill(0) < state.fill(1):
            continue
        mine, theirs = state.held(0), state.held(1)
        levels = {len(moves): level for level, moves in lower(state, (0, 1), mine, theirs)}
        singles = [higher(state, one) for one in mine[0]]
        pairs = [higher(state, one - other) for one in mine[0] for other in theirs[0]]
        for count, tried in ((1, singles), (2, pairs)):
            best = min((level for level in tried if level is not None), default=None)
            assert levels.get(count) == best, (seed, count)
            found += best is not None
    assert found > 200


def test_the_moves_are_those_of_the_level() -> None:
    for seed in range(100):
        state = two_members(seed)
        for level, moves in lower(state, (0, 1), state.held(0), state.held(1)):
            other = state.copy(state.limit)
            for move in moves:
                other.move(move)
            assert max(other.fill(0), other.fill(1)) == level, seed
