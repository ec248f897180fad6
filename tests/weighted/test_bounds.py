"""Bounds on the largest use against every assignment of tiny groups, and against an LP."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from assignors.arrays import Bool, Int64
from assignors.optimal.prices import Prices, prices
from assignors.weighted.bounds import Bounds, bounds
from assignors.weighted.heavy import heavy
from assignors.weighted.level import QUANTA, _shrunk, level
from tests.weighted.oracles import (
    Weighted,
    best_by_trial,
    level_by_lp,
    random_tiny,
    tiny_equal,
    tiny_mixed,
)

SIZES = [(partitions, members) for partitions in range(1, 6) for members in range(1, 4)]


def tightness(groups: list[Weighted]) -> tuple[int, float]:
    """Return for how many the bound is the optimum, and the largest optimum / bound."""
    tight, worst = 0, Fraction(1)
    for group in groups:
        bound, best = group.bounds().use, best_by_trial(group)
        assert bound <= best, group
        tight += bound == best
        if best:
            worst = max(worst, best / bound)
    return tight, float(worst)


def test_no_assignment_of_members_that_take_everything_is_below_the_bound() -> None:
    groups = [group for size in SIZES for group in tiny_equal(*size)]
    tight, worst = tightness(groups)
    assert len(groups) == 1125
    assert tight >= 1041
    assert worst <= 4 / 3


def test_no_assignment_of_mixed_subscriptions_is_below_the_bound() -> None:
    groups = [random_tiny(seed) for seed in range(700)]
    tight, worst = tightness(groups)
    assert tight >= 0.85 * len(groups)
    assert worst <= 5 / 3


def test_no_assignment_of_two_members_is_below_the_bound() -> None:
    groups = [*tiny_mixed(2, 2), *islice(tiny_mixed(3, 2), 0, None, 2)]
    tight, _ = tightness(groups)
    assert tight >= 0.94 * len(groups)


def table(seed: int) -> tuple[Int64, Bool, Int64]:
    """Weights of rows, who takes them, capacities."""
    random = np.random.default_rng(seed)
    rows, classes = int(random.integers(1, 13)), int(random.integers(1, 9))
    size = random.integers(0, 10 ** int(random.integers(1, 13)), rows)
    takes = random.random((rows, classes)) < random.choice([0.15, 0.4, 0.8])
    takes[np.arange(rows), random.integers(0, classes, rows)] = True
    return size, takes, random.integers(1, random.choice([2, 5, 1000]), classes)


def test_the_level_is_the_optimum_of_the_linear_program() -> None:
    for seed in range(200):
        size, takes, capacity = table(seed)
        found = level(size=size, takes=takes, capacity=capacity, prices=prices)
        assert float(found) == pytest.approx(level_by_lp(size, takes, capacity), rel=1e-6), seed


def test_the_level_is_the_most_crowded_set_of_rows() -> None:
    for seed in range(60):
        size, takes, capacity = table(seed)
        size, takes = size[:7] % 50, takes[:7]
        capacity = capacity % 5 + 1
        best = Fraction(0)
        for chosen in range(1, 1 << len(size)):
            rows = [row for row in range(len(size)) if chosen >> row & 1]
            room = int(capacity[takes[rows].any(axis=0)].sum())
            best = max(best, Fraction(int(size[rows].sum()), room))
        assert level(size=size, takes=takes, capacity=capacity, prices=prices) == best


def test_a_price_function_that_finds_nothing_gives_a_lower_bound() -> None:
    size, takes, capacity = np.array([9, 2]), np.array([[True, False], [True, True]]), [1, 1]
    poor = level(size=size, takes=takes, capacity=np.array(capacity), prices=lambda **_: None)
    assert poor == Fraction(11, 2)


def test_every_threshold_of_the_prices_proposes_a_set() -> None:
    """These prices call the quiet row the crowded one; both rows together are still tried."""
    wrong = Prices(of_class=np.array([2, 2]), of_row=np.array([2, 1]))
    found = level(
        size=np.array([1, 9]),
        takes=np.array([[True, False], [False, True]]),
        capacity=np.array([1, 1]),
        prices=lambda **_: wrong,
    )
    assert found == 5


@pytest.mark.parametrize(("partitions", "most"), [(1_001, 11), (5_050, 51), (9_999, 100)])
def test_equal_partitions_have_their_exact_bound(partitions: int, most: int) -> None:
    """The mean of 1,001 on 100 members is 10.01, but somebody has 11."""
    assert heavy(np.full(partitions, 7), np.ones(100, dtype=np.int64)) == 7 * most


@pytest.mark.parametrize("factor", [1, 7, QUANTA, 1 << 40])
def test_the_level_of_scaled_weights_is_scaled(factor: int) -> None:
    for seed in range(20):
        size, takes, capacity = table(seed)
        size %= 1000
        once = level(size=size, takes=takes, capacity=capacity, prices=prices)
        scaled = level(size=size * factor, takes=takes, capacity=capacity, prices=prices)
        assert scaled == once * factor


def heavy_by_trial(weight: list[int], capacity: list[int]) -> Fraction:
    """Both arguments as they are written, for every number of partitions."""
    falling, fastest = sorted(weight, reverse=True), sorted(capacity, reverse=True)
    best = Fraction(0)
    for count in range(1, len(falling) + 1):
        if count <= len(fastest):
            best = max(best, Fraction(sum(falling[:count]), sum(fastest[:count])))
        uses = [
            Fraction(sum(falling[count - place : count]), one)
            for one in capacity
            for place in range(1, count + 1)
        ]
        best = max(best, sorted(uses)[count - 1])
    return best


def test_heavy_is_what_both_arguments_say() -> None:
    for seed in range(150):
        random = np.random.default_rng(seed)
        weight = random.integers(0, random.choice([3, 30, 10**9]), random.integers(1, 25))
        capacity = random.integers(1, random.choice([2, 4, 50]), random.integers(3, 7))
        expected = heavy_by_trial(weight.tolist(), capacity.tolist())
        assert heavy(weight, capacity) == expected, seed


def test_heavy_looks_at_the_takers_of_each_topic() -> None:
    """Two of three members take the heavy topic: three partitions of 5, so two share a member."""
    found = bounds(
        weight=np.array([5, 5, 5, 1, 1]),
        topic_of=np.array([0, 0, 0, 1, 1], dtype=np.int32),
        takes=np.array([[True, True], [False, True], [True, False]]),
        class_of=np.array([0, 0, 1], dtype=np.int32),
        capacity=np.array([1, 1, 1]),
    )
    assert found == Bounds(level=Fraction(15, 2), heavy=Fraction(10))
    assert found.use == 10


def larger(seed: int) -> Weighted:
    """A group of up to 30 partitions and 8 members, mixed subscriptions."""
    random = np.random.default_rng(seed)
    partitions, members = int(random.integers(1, 31)), int(random.integers(1, 9))
    patterns = random.random((4, members)) < 0.6
    patterns[:, 0] |= ~patterns.any(axis=1)
    may = patterns[random.integers(0, 4, partitions)]
    return Weighted(
        weight=tuple(np.exp(random.normal(5, 2, partitions)).astype(int).tolist()),
        capacity=tuple(random.integers(1, 5, members).tolist()),
        may=tuple(map(tuple, may.tolist())),
    )


def test_no_set_of_takers_has_a_better_heavy_bound_than_the_one_reported() -> None:
    for seed in range(80):
        group = larger(seed)
        may, weight = np.array(group.may), np.array(group.weight)
        capacity = np.array(group.capacity)
        pools = [*np.unique(may, axis=0), may.any(axis=0)]
        best = max(heavy(weight[~(may & ~pool).any(axis=1)], capacity[pool]) for pool in pools)
        assert group.bounds().heavy == best, seed


def test_bounds_depend_on_no_order_and_scale_with_weights() -> None:
    for seed in range(40):
        group, random = larger(seed), np.random.default_rng(seed)
        once = group.bounds()
        order, seats = (
            random.permutation(len(group.weight)),
            random.permutation(len(group.capacity)),
        )
        moved = Weighted(
            weight=tuple(group.weight[place] for place in order),
            capacity=tuple(group.capacity[seat] for seat in seats),
            may=tuple(tuple(group.may[place][seat] for seat in seats) for place in order),
        )
        assert moved.bounds() == once
        scaled = replace(group, weight=tuple(10**6 * weight for weight in group.weight)).bounds()
        assert scaled == Bounds(level=10**6 * once.level, heavy=10**6 * once.heavy)


def test_a_member_of_capacity_two_is_two_members_to_the_level() -> None:
    for seed in range(40):
        group = larger(seed)
        seats = [seat for seat, room in enumerate(group.capacity) for _ in range(room)]
        split = replace(
            group,
            capacity=(1,) * len(seats),
            may=tuple(tuple(row[seat] for seat in seats) for row in group.may),
        )
        assert split.bounds().level == group.bounds().level


def test_partitions_without_weight_or_takers_change_nothing() -> None:
    group = Weighted(weight=(4, 3, 2), capacity=(1, 1), may=((True, True),) * 3)
    more = Weighted(
        weight=(4, 0, 3, 9, 2),
        capacity=(1, 1),
        may=((True, True), (True, False), (True, True), (False, False), (True, True)),
    )
    assert more.bounds() == group.bounds()
    nothing = Weighted(weight=(0,), capacity=(1,), may=((True,),))
    assert nothing.bounds() == Bounds(level=Fraction(0), heavy=Fraction(0))


def test_a_class_without_members_takes_nothing() -> None:
    """Class 1 is empty: nobody takes topic 1, and topic 0 has one taker."""
    found = bounds(
        weight=np.array([6, 5]),
        topic_of=np.array([0, 1], dtype=np.int32),
        takes=np.array([[True, False], [True, True], [False, False]]),
        class_of=np.array([0, 2], dtype=np.int32),
        capacity=np.array([2, 1]),
    )
    assert found == Bounds(level=Fraction(3), heavy=Fraction(3))


@pytest.mark.parametrize(
    ("weight", "capacity", "message"),
    [
        ([3, -1], [1], r"weight\[1\]: -1 is below 0"),
        ([3], [1, 0], r"capacity\[1\]: 0 is below 1"),
        ([1 << 53], [1], r"weight\[0\]: 9007199254740992 is not below 2\*\*53"),
        ([1 << 52, 1 << 52], [1], r"weight: the sum is not below 2\*\*53"),
        ([0.5], [1], r"weight: expected integers, found float64"),
    ],
)
def test_what_is_no_weight_or_capacity_is_an_error(
    weight: list[int], capacity: list[int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        bounds(
            weight=np.array(weight),
            topic_of=np.zeros(len(weight), dtype=np.int32),
            takes=np.array([[True]]),
            class_of=np.zeros(len(capacity), dtype=np.int32),
            capacity=np.array(capacity),
        )


@pytest.mark.parametrize("more", [-1, 0, 1])
@pytest.mark.parametrize("times", [1, 2, 8])
def test_sizes_are_halved_no_more_often_than_they_must(times: int, more: int) -> None:
    total = times * QUANTA + more
    found = int(_shrunk(np.array([total])).sum())
    assert found <= QUANTA
    assert found == total or 2 * (found + 1) > QUANTA
