"""The proof of balance, judged by trial: a chain exists exactly where loads can be better."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assignors.optimal.bounds import improving_path, is_balanced, optimum
from assignors.problem import Int32
from tests.optimal.groups import SHAPES, Arrays, arrays, group, tiny_groups, with_racks
from tests.optimal.oracles import best_by_trial


def dealt_anyhow(made: Arrays, dice: Random) -> Int32:
    """Return an assignment in which every partition goes to any of its subscribers."""
    takers = [made.subscribers(topic) for topic in made.topic_of.tolist()]
    return np.array([dice.choice(able) if able else -1 for able in takers], dtype=np.int32)


@given(tiny_groups(), st.randoms(use_true_random=False))
def test_there_is_a_chain_exactly_where_balance_can_be_better(made: Arrays, dice: Random) -> None:
    given_now = dealt_anyhow(made, dice)
    is_best = made.figures(given_now)[0] == best_by_trial(made)[0]
    assert is_balanced(made.first, made.takes, made.class_of, given_now) == is_best


def test_following_chains_ends_at_the_optimum() -> None:
    for seed, shape in ((seed, shape) for seed in range(8) for shape in SHAPES):
        made = group(seed, member_max=12, topic_max=6, size_max=9, shape=shape, owners="nobody")
        now = dealt_anyhow(made, Random(seed))
        while path := improving_path(made.first, made.takes, made.class_of, now):
            before, following = made.figures(now)[0], now.copy()
            for shift in path:
                assert now[shift.partition] == shift.giver
                assert made.may_take()[shift.partition, shift.receiver]
                following[shift.partition] = shift.receiver
            chain = [shift.giver for shift in path[1:]]
            assert chain == [shift.receiver for shift in path[:-1]]
            now = following
            assert made.figures(now)[0] < before
        assert made.figures(now)[0] == made.solve().load_square_sum


def test_a_chain_can_be_long() -> None:
    # Surplus at one end of a row of neighbours, room at the other.
    made = arrays([3, 1, 1, 0], [[0], [0, 1], [1, 2], [2, 3]])
    now = np.array([0, 0, 0, 1, 2], dtype=np.int32)
    path = improving_path(made.first, made.takes, made.class_of, now)
    assert [shift.receiver for shift in path] == [1]
    now = np.array([0, 0, 1, 1, 2], dtype=np.int32)
    path = improving_path(made.first, made.takes, made.class_of, now)
    assert [(shift.partition, shift.giver, shift.receiver) for shift in path] == [
        (0, 0, 1),
        (3, 1, 2),
        (4, 2, 3),
    ]


def test_partitions_held_without_right_are_left_out() -> None:
    made = arrays([2, 5], [[0], [0]])
    now = np.array([0, 1, 0, 0, 0, 0, 0], dtype=np.int32)
    assert is_balanced(made.first, made.takes, made.class_of, now)


def test_nothing_is_balanced() -> None:
    made = arrays([], [])
    assert is_balanced(made.first, made.takes, made.class_of, made.owner)


@given(tiny_groups())
def test_bounds_are_those_of_the_best_assignment(made: Arrays) -> None:
    bound = optimum(**made.arguments())
    best = best_by_trial(made)
    found = (bound.load_square_sum, bound.rack_mismatch_min, bound.kept_max, bound.spread_min)
    assert found == best
    held = np.flatnonzero(made.owner >= 0)
    rightful = int(made.may_take()[held, made.owner[held]].sum())
    assert bound.moves_min == rightful - best[2]
    assert bound.load_max == made.solve().load_max


def test_bounds_count_racks() -> None:
    made = with_racks(arrays([4], [[0], [0]]), 1, rack_max=2)
    assert optimum(**made.arguments()).rack_mismatch_min == best_by_trial(made)[1]
