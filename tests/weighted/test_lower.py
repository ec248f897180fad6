"""The best move or exchange between two members, against trying all of them."""

from __future__ import annotations

import numpy as np

from assignors.weighted.search.lower import lower
from assignors.weighted.search.state import State, state_of
from assignors.weighted.search.table import Move, Table


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


def gains(state: State, shifts: list[int], moves: int) -> list[float]:
    """What each shift from member 0 to member 1 lowers the higher of both, for each move."""
    levels = [higher(state, one) for one in shifts]
    return [(state.fill(0) - level) / moves for level in levels if level is not None]


def test_no_move_and_no_exchange_lowers_the_higher_member_more() -> None:
    found = 0
    for seed in range(400):
        state = two_members(seed)
        mine, theirs = state.held(0), state.held(1)
        pairs = [one - other for one in mine[0] for other in theirs[0]]
        best = max([0.0, *gains(state, list(mine[0]), 1), *gains(state, pairs, 2)])
        moves = lower(state, 0, [(1, mine, theirs)], state.fill(0))
        assert (moves is None) == (best == 0), seed
        if moves is not None:
            shifted = int(state.facts.weight[moves[0].partition])
            shifted -= sum(int(state.facts.weight[one.partition]) for one in moves[1:])
            assert max(gains(state, [shifted], len(moves))) == best, seed
            found += 1
    assert found > 100


def test_of_several_receivers_the_best_is_taken_as_if_each_were_asked_alone() -> None:
    """What can not be better than what is known is not looked for, and changes nothing."""
    for seed in range(400):
        state = two_members(seed)
        near = [(one, state.held(0), state.held(one)) for one in (1, 2)]
        alone = [lower(state, 0, [one], state.fill(0)) for one in near]
        both = lower(state, 0, near, state.fill(0))
        worth = [gain_of(state, moves) for moves in (*alone, both)]
        assert worth[2] == max(worth[:2]), seed
        assert both in alone, seed


def gain_of(state: State, moves: list[Move] | None) -> float:
    """What moves lower the higher of the two members that they touch, for each move."""
    if moves is None:
        return 0.0
    pair = moves[0].giver, moves[0].receiver
    other = state.copy(state.limit)
    for move in moves:
        other.move(move)
    return (max(map(state.fill, pair)) - max(map(other.fill, pair))) / len(moves)


def test_a_goal_is_kept() -> None:
    kept = 0
    for seed in range(200):
        state = two_members(seed)
        goal = 0.9 * state.fill(0)
        moves = lower(state, 0, [(1, state.held(0), state.held(1))], goal)
        if moves is not None:
            other = state.copy(state.limit)
            for move in moves:
                other.move(move)
            assert max(other.fill(0), other.fill(1)) <= goal, seed
            kept += 1
    assert kept > 50
