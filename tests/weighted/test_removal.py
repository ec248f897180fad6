"""The least use within a number of moves, against every choice of partitions and owners."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, islice, product

import numpy as np
import pytest

from assignors.arrays import Int32, Int64
from assignors.weighted.ratios import nth_smallest
from assignors.weighted.removal import Removal, removal_of
from tests.weighted.oracles import SCALE, Weighted, assignments, largest_uses, tiny_equal

SIZES = [(partitions, members) for partitions in range(1, 6) for members in range(1, 4)]


def of_group(group: Weighted, owner: tuple[int, ...]) -> Removal:
    """What the code under test makes of a group and its owners."""
    return removal_of(
        np.array(group.weight), np.array(owner, dtype=np.int32), np.array(group.capacity)
    )


def removed_by_trial(group: Weighted, owner: tuple[int, ...], moves: int) -> Fraction:
    """Return the least largest use after so many owned partitions, any of them, have left."""
    owned = [partition for partition, member in enumerate(owner) if member >= 0]
    if moves >= len(owned):
        return Fraction(0)
    best = []
    for left in combinations(owned, moves):
        load = [0] * len(group.capacity)
        for partition in set(owned).difference(left):
            load[owner[partition]] += group.weight[partition]
        best.append(max(map(Fraction, load, group.capacity)))
    return min(best)


def owned_groups(step: int) -> list[tuple[Weighted, tuple[int, ...]]]:
    """Every `step`-th pair of a tiny group and owners, nobody among them."""
    pairs = (
        (group, owner)
        for partitions, members in SIZES
        for group in tiny_equal(partitions, members)
        for owner in product(range(-1, members), repeat=partitions)
    )
    return list(islice(pairs, 0, None, step))


def test_the_use_within_moves_is_that_of_the_best_partitions_to_remove() -> None:
    for group, owner in owned_groups(step=503):
        removal = of_group(group, owner)
        for moves in range(len(owner) + 1):
            found = removal.use_within(moves)
            assert found == removed_by_trial(group, owner, moves), (group, owner, moves)


def moved(given: Int32, owner: tuple[int, ...]) -> Int64:
    """Return how many partitions each assignment, int32[A, P], takes from their owners."""
    before = np.array(owner, dtype=np.int32)
    count: Int64 = np.count_nonzero((given != before) & (before >= 0), axis=1)
    return count


def test_no_assignment_within_the_moves_is_below_the_bound() -> None:
    tight = total = 0
    for group, owner in owned_groups(step=503):
        removal, given = of_group(group, owner), assignments(group)
        uses, moves = largest_uses(group, given), moved(given, owner)
        bound = group.bounds().use
        for budget in range(len(owner) + 1):
            best = Fraction(int(uses[moves <= budget].min()), SCALE)
            known = max(bound, removal.use_within(budget))
            assert known <= best, (group, owner, budget)
            tight, total = tight + (known == best), total + 1
    assert total > 2_000
    assert tight >= 0.85 * total


def test_no_assignment_reaches_a_use_with_fewer_moves() -> None:
    tight = total = 0
    for group, owner in owned_groups(step=503):
        removal, given = of_group(group, owner), assignments(group)
        uses, moves = largest_uses(group, given), moved(given, owner)
        for use in np.unique(uses).tolist():
            least = int(moves[uses <= use].min())
            known = removal.moves_to(Fraction(use, SCALE))
            assert known <= least, (group, owner, use)
            tight, total = tight + (known == least), total + 1
    assert tight >= 0.85 * total


def large(seed: int) -> tuple[Int64, Int32, Int64]:
    """Weights, owners and capacities of a few hundred partitions; many weights are equal."""
    random = np.random.default_rng(seed)
    partitions, members = int(random.integers(1, 400)), int(random.integers(1, 20))
    weight = random.integers(0, random.choice([2, 10, 10**12]), partitions)
    owner = random.integers(-1, members, partitions).astype(np.int32)
    return weight, owner, random.integers(1, random.choice([2, 7, 10**6]), members)


def test_moves_to_a_use_and_use_within_moves_are_inverse() -> None:
    for seed in range(100):
        weight, owner, capacity = large(seed)
        removal = removal_of(weight, owner, capacity)
        for moves in range(0, len(weight) + 2, 13):
            use = removal.use_within(moves)
            assert removal.moves_to(use) <= moves
            if use:
                assert removal.moves_to(use - Fraction(1, 10**30)) > moves


def test_more_moves_never_have_a_larger_bound() -> None:
    for seed in range(40):
        removal = removal_of(*large(seed))
        uses = [removal.use_within(moves) for moves in range(len(removal.rest) + 1)]
        assert uses == sorted(uses, reverse=True)
        assert uses[-1] == 0


def test_removal_depends_on_no_order_and_scales_with_weights() -> None:
    for seed in range(40):
        weight, owner, capacity = large(seed)
        random = np.random.default_rng(seed)
        order, seats = random.permutation(len(weight)), random.permutation(len(capacity))
        place = np.append(np.argsort(seats), -1).astype(np.int32)
        once = removal_of(weight, owner, capacity)
        other = removal_of(weight[order], place[owner[order]], capacity[seats])
        scaled = removal_of(weight * 16, owner, capacity)
        for moves in (0, 1, 5, 50):
            use = once.use_within(moves)
            assert other.use_within(moves) == use
            assert scaled.use_within(moves) == 16 * use
            assert other.moves_to(use) == once.moves_to(use) == scaled.moves_to(16 * use)


def test_a_group_without_owners_needs_no_move() -> None:
    removal = removal_of(np.array([5]), np.array([-1], dtype=np.int32), np.array([1]))
    assert removal.use_within(0) == 0
    assert removal.moves_to(Fraction(0)) == 0


def test_fractions_that_are_equal_as_floats_are_told_apart() -> None:
    """Neighbours of 1 whose floats are 1.0 or equal to each other: order is that of integers."""
    large_number = (1 << 53) - 1
    top = np.array([large_number - 1, large_number - 2, large_number - 1])
    bottom = np.array([large_number, large_number - 1, large_number - 1])
    expected = sorted(map(Fraction, top.tolist(), bottom.tolist()))
    assert [nth_smallest(top, bottom, rank) for rank in (1, 2, 3)] == expected
    near = 1 << 52  # (n + 1) / (n + 2) and n / (n + 1) have one float
    top, bottom = np.array([near + 1, near]), np.array([near + 2, near + 1])
    assert top[0] / bottom[0] == top[1] / bottom[1]
    assert nth_smallest(top, bottom, 1) < nth_smallest(top, bottom, 2)


@pytest.mark.parametrize("times", [None, [2, 3, 1, 2]])
def test_ranks_count_equal_fractions(times: list[int] | None) -> None:
    top, bottom = [1, 2, 1, 3], [2, 4, 3, 4]
    often = times or [1, 1, 1, 1]
    every = sorted(
        fraction
        for fraction, count in zip(map(Fraction, top, bottom), often, strict=True)
        for _ in range(count)
    )
    counts = None if times is None else np.array(times)
    found = [
        nth_smallest(np.array(top), np.array(bottom), rank, counts)
        for rank in range(1, len(every) + 1)
    ]
    assert found == every


def test_negative_arguments_are_errors() -> None:
    removal = removal_of(np.array([5]), np.array([0], dtype=np.int32), np.array([1]))
    with pytest.raises(ValueError, match="moves: -1 is negative"):
        removal.use_within(-1)
    with pytest.raises(ValueError, match="use: -1 is negative"):
        removal.moves_to(Fraction(-1))
    with pytest.raises(ValueError, match=r"weight\[0\]: -5 is below 0"):
        removal_of(np.array([-5]), np.array([0], dtype=np.int32), np.array([1]))


def test_several_numbers_of_moves_together_are_what_each_is_alone() -> None:
    for seed in range(200):
        random = np.random.default_rng(seed)
        owner = random.integers(-1, 3, int(random.integers(1, 12))).astype(np.int32)
        weight = random.integers(0, 9, len(owner))
        capacity = random.choice([1, 2], 3) if seed % 2 else np.full(3, 2)
        removal = removal_of(weight, owner, capacity)
        moves = random.permutation(len(owner) + 3).tolist()
        assert removal.uses_within(moves) == [removal.use_within(one) for one in moves], seed
    with pytest.raises(ValueError, match="-1 is negative"):
        removal.uses_within([2, -1])
