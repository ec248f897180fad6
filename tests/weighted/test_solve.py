"""Laws of assignment by weight, over random groups."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from assignors.optimal.solve import solve as optimal
from assignors.weighted.solve import Hold, Search, solve
from assignors.weighting import Balance
from tests.weighted.groups import (
    Drawn,
    answer,
    bound,
    drawn,
    largest,
    lawful,
    loads,
    may,
    spent,
)

SEEDS = range(50)
BAND = Balance(tolerance=Fraction(1, 20), trigger=Fraction(1, 5))
GROUPS = [Drawn(), Drawn(balance=BAND), Drawn(is_mixed=False, balance=BAND)]


@pytest.fixture(params=GROUPS, ids=["exact", "band", "equal"])
def kind(request: pytest.FixtureRequest) -> Drawn:
    """How the groups of a test are drawn."""
    assert isinstance(request.param, Drawn)
    return request.param


def test_what_somebody_takes_has_an_owner_that_takes_it(kind: Drawn) -> None:
    for seed in SEEDS:
        search = drawn(seed, kind)
        found, allowed = answer(search).owner, may(search)
        assert ((found >= 0) == allowed.any(axis=1)).all(), seed
        held = np.flatnonzero(found >= 0)
        assert allowed[held, found[held]].all(), seed


def test_the_largest_use_is_never_above_that_of_holding(kind: Drawn) -> None:
    for seed in SEEDS:
        search = drawn(seed, kind)
        found = answer(search)
        assert largest(search, found.owner) <= largest(search, found.placed), seed
        kept = lawful(search).owner
        assert (found.placed[kept >= 0] == kept[kept >= 0]).all(), seed


@pytest.mark.parametrize("seed", [419, 1265])
def test_no_receiver_comes_above_the_largest_use_there_was(seed: int) -> None:
    """A crowded class is within its tolerance and takes from another: not above what it had."""
    search = drawn(seed, Drawn(balance=BAND))
    found = answer(search)
    assert largest(search, found.owner) <= largest(search, found.placed)


def test_the_budget_is_kept_and_partitions_without_an_owner_cost_nothing(kind: Drawn) -> None:
    for seed in SEEDS:
        search = lawful(drawn(seed, kind))
        if search.budget is not None:
            assert spent(search, answer(search).owner) <= search.budget, seed


def test_a_larger_budget_never_leads_to_a_larger_use(kind: Drawn) -> None:
    """None at all neither; uses that the tolerance allows are equal."""
    for seed in range(15):
        search = lawful(drawn(seed, kind))
        allowed = bound(search) * (1 + search.balance.tolerance)
        uses = [
            max(allowed, largest(search, answer(replace(search, budget=budget)).owner))
            for budget in (0, 1, 2, 3, 5, 8, 13, 50, None)
        ]
        assert uses == sorted(uses, reverse=True), seed


@pytest.mark.parametrize("budget", [4, 40, None])
def test_no_more_moves_than_the_tolerance_asks_for(budget: int | None) -> None:
    """A budget is no order to spend it: one move brings the use into the tolerance."""
    search = Search(
        first=np.array([0, 40]),
        takes=np.array([[True]]),
        class_of=np.zeros(4, dtype=np.int32),
        owner=np.repeat(np.arange(4), [13, 9, 9, 9]).astype(np.int32),
        weight=np.repeat([11, 10], [1, 39]),
        capacity=np.ones(4, dtype=np.int64),
        budget=budget,
        balance=Balance(tolerance=Fraction(1, 4), trigger=Fraction(1, 4)),
    )
    assert spent(search, answer(search).owner) == 1


def test_the_same_weights_again_move_nothing(kind: Drawn) -> None:
    for seed in SEEDS:
        search = replace(drawn(seed, kind), budget=None)
        first = answer(search)
        again = answer(replace(search, owner=first.owner))
        assert (again.owner == first.owner).all(), seed
        assert again.hold is not None


def test_batches_within_a_budget_come_to_rest_in_the_band() -> None:
    for seed in range(60):
        search = lawful(replace(drawn(seed, Drawn(balance=BAND)), cost=None))
        search = replace(search, owner=answer(replace(search, budget=0)).owner, budget=2)
        for _ in range(60):
            found = answer(search)
            if found.hold:
                break
            search = replace(search, owner=found.owner)
        assert found.hold, seed  # `budget`: two partitions that have to change places, and more


@pytest.mark.parametrize("factor", [3, (1 << 34) + 1])
def test_the_unit_of_weights_means_nothing(kind: Drawn, factor: int) -> None:
    for seed in range(30):
        search = drawn(seed, kind)
        scaled = replace(search, weight=search.weight * factor)
        assert (answer(scaled).owner == answer(search).owner).all(), seed


def test_partitions_that_nobody_takes_change_nothing() -> None:
    for seed in range(60):
        search = drawn(seed)
        nobodys = np.zeros((len(search.takes), 1), dtype=np.bool_)
        more = replace(
            search,
            first=np.append(search.first, search.first[-1] + 3),
            takes=np.hstack([search.takes, nobodys]),
            owner=np.append(search.owner, [0, -1, 0]).astype(np.int32),
            weight=np.append(search.weight, [9, 0, 10**6]),
            cost=None if search.cost is None else np.append(search.cost, [1, 1, 1]),
        )
        found = answer(more).owner
        assert (found[:-3] == answer(search).owner).all(), seed
        assert (found[-3:] == -1).all()


@pytest.mark.parametrize("budget", [None, 0, 3])
def test_where_nobody_takes_anything_nobody_gets_anything(budget: int | None) -> None:
    """Members that owned something and no longer ask for it, alone in the group."""
    for weights in ([5, 3, 2], [1, 1, 1], [0, 0, 0]):
        search = Search(
            first=np.array([0, 2, 3]),
            takes=np.zeros((1, 2), dtype=np.bool_),
            class_of=np.zeros(2, dtype=np.int32),
            owner=np.array([0, 1, -1], dtype=np.int32),
            weight=np.array(weights),
            capacity=np.array([1, 2]),
            budget=budget,
            balance=BAND,
        )
        found = answer(search)
        assert found.owner.tolist() == [-1, -1, -1]
        assert found.hold is Hold.IN_BAND
        assert not len(found.deferred)


def test_without_a_budget_nothing_is_lost() -> None:
    for seed in SEEDS:
        search = lawful(replace(drawn(seed), budget=0, cost=None))
        found, had = answer(search).owner, search.owner >= 0
        assert (found[had] == search.owner[had]).all(), seed


def test_equal_weights_are_counted_as_optimal_sticky_counts_them() -> None:
    for seed in range(100):
        search = drawn(seed, Drawn(has_capacities=False, has_budget=False))
        search = replace(search, weight=np.full_like(search.weight, 7), cost=None)
        best = optimal(
            first=search.first, takes=search.takes, class_of=search.class_of, owner=search.owner
        )
        found = answer(search).owner
        assert sorted(loads(search, found)) == sorted(loads(search, best.owner)), seed
        assert spent(lawful(search), found) == spent(lawful(search), best.owner), seed


def test_a_newcomer_is_not_left_without_anything() -> None:
    """The others are within 5 % of the mean without it: the largest use alone would not care."""
    random = np.random.default_rng(1)
    owner = (np.arange(2000) % 50).astype(np.int32)
    search = Search(
        first=np.array([0, 2000]),
        takes=np.array([[True]]),
        class_of=np.zeros(51, dtype=np.int32),
        owner=owner,
        weight=random.integers(90, 110, 2000),
        capacity=np.ones(51, dtype=np.int64),
        balance=BAND,
    )
    found = answer(search).owner
    fair = search.weight.sum() / 51
    assert loads(search, found)[50] >= 0.5 * fair
    assert spent(search, found) <= 25


def test_inside_the_band_nothing_moves() -> None:
    for seed in range(100):
        search = drawn(seed, Drawn(is_mixed=False, has_capacities=False, balance=BAND))
        settled = replace(search, owner=answer(replace(search, budget=None)).owner, budget=None)
        random = np.random.default_rng(seed)
        noise = 1 + 0.1 * random.random(len(settled.weight))
        shifted = replace(settled, weight=(settled.weight * noise).astype(np.int64))
        if answer(settled).hold is Hold.IN_BAND:
            assert answer(shifted).hold in (Hold.IN_BAND, Hold.NOTHING_HELPS), seed


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weight": np.array([1, -1])}, "weight[1]: -1 is below 0"),
        ({"weight": np.array([1, 1 << 53])}, "weight[1]"),
        ({"weight": np.array([0.5, 1.0])}, "weight: expected integers"),
        ({"capacity": np.array([0])}, "capacity[0]: 0 is below 1"),
        ({"cost": np.array([1, -2])}, "cost[1]: -2 is negative"),
        ({"budget": -1}, "budget: -1 is negative"),
    ],
)
def test_what_cannot_be_is_refused(change: dict[str, object], words: str) -> None:
    search = Search(
        first=np.array([0, 2]),
        takes=np.array([[True]]),
        class_of=np.zeros(1, dtype=np.int32),
        owner=np.full(2, -1, dtype=np.int32),
        weight=np.array([1, 2]),
        capacity=np.array([1]),
    )
    with pytest.raises(ValueError, match=r".") as error:
        solve(replace(search, **change))  # type: ignore[arg-type]
    assert words in str(error.value)


@pytest.mark.parametrize("pair", [(Fraction(-1), Fraction(1)), (Fraction(1, 5), Fraction(1, 10))])
def test_a_trigger_is_no_lower_than_the_tolerance(pair: tuple[Fraction, Fraction]) -> None:
    with pytest.raises(ValueError, match="tolerance"):
        Balance(tolerance=pair[0], trigger=pair[1])
