"""Small groups beside the best there is: by CP-SAT, and of tiny ones by trying every assignment.

The limits are frozen: an answer that gets worse fails here.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from assignors.weighted.search.relieve import filling
from assignors.weighted.search.state import State
from assignors.weighted.search.table import Move
from assignors.weighted.solve import solve
from tests.conftest import DEEP
from tests.weighted.exact import FILE, Exact, common, read
from tests.weighted.exhaust import mean, quantile
from tests.weighted.groups import EXACT, bound, largest, proved_best, spent
from tests.weighted.tiny.groups import SIZES, WEIGHTS, Tiny, tiny_groups
from tests.weighted.tiny.judged import Tally, judged

SEED = int(os.environ["SUITE_SEED"])
SETTLED_S = 60.0


@pytest.fixture(scope="module")
def exact() -> list[Exact]:
    """The groups whose optimum is known."""
    return [read(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


LIMITS = {
    # mixed: mean, 95th percentile, worst of largest use / optimum
    False: (1.005, 1.03, 1.16),
    True: (1.005, 1.035, 1.12),
}


@pytest.mark.parametrize("is_mixed", [False, True], ids=["equal", "mixed"])
def test_small_groups_are_close_to_the_best_there_is(
    exact: list[Exact],
    *,
    is_mixed: bool,
) -> None:
    ratios: Counter[Fraction] = Counter()
    for one in exact:
        if one.is_mixed == is_mixed:
            found = solve(one.search)
            use = largest(one.search, found.owner) * common(one.search)
            assert use >= one.optimum, one
            assert bound(one.search) * common(one.search) <= one.optimum, one
            assert one.search.budget is None or spent(one.search, found.owner) <= one.search.budget
            ratios[use / one.optimum if one.optimum else Fraction(1)] += 1
    most, high, worst = LIMITS[is_mixed]
    assert ratios.total() >= 250
    assert mean(ratios) <= most
    assert quantile(ratios, 0.95) <= high
    assert max(ratios) <= worst


def test_what_is_known_as_the_optimum_is_one(exact: list[Exact]) -> None:
    """A few each day, all with `make deep`: what CP-SAT proves today is what the file says."""
    random = np.random.default_rng(SEED)
    count = min(len(exact), 8 * DEEP)
    for place in random.choice(len(exact), count, replace=False).tolist():
        one = exact[place]
        assert proved_best(one.search, SETTLED_S) == one.optimum, one


def test_more_budget_never_has_a_larger_optimum(exact: list[Exact]) -> None:
    """The file against itself: a move less can not be better; nor is the answer ever."""
    for one in exact[:60]:
        budget = one.search.budget
        if budget is not None:
            fewer = replace(one.search, budget=budget - 1)
            use = largest(fewer, solve(fewer).owner) * common(fewer)
            assert use >= one.optimum, one


def test_a_partition_without_weight_changes_no_use() -> None:
    for partitions, members in ((4, 2), (5, 3), (6, 3)):
        step = 997 if partitions > 4 else 61
        for group in islice(tiny_groups(partitions, members, WEIGHTS), SEED % step, None, step):
            light = [place for place, weight in enumerate(group.weight) if not weight]
            if not 0 < len(light) < partitions:
                continue
            less = Tiny(
                weight=group.weight[len(light) :],
                owner=group.owner[len(light) :],
                capacity=group.capacity,
            )
            for budget in (0, 1, 2, 4, None):
                with_it, without = (one.search(budget, EXACT) for one in (group, less))
                assert largest(with_it, solve(with_it).owner) == largest(
                    without, solve(without).owner
                ), (group, budget)


def test_two_idle_members_do_not_pass_a_heavy_partition_to_and_fro(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By rounding, each pass seemed to gain something; it went on for ever with a budget of 1."""
    moves = 0

    def counted(state: State, begins: float) -> Iterator[list[Move]]:
        nonlocal moves
        for step in filling(state, begins):
            moves += len(step)
            yield step

    monkeypatch.setattr("assignors.weighted.solve.filling", counted)
    group = Tiny(weight=(1, 1, 1, 1, 1, 3), owner=(0,) * 6, capacity=(1, 2, 2))
    assert judged(iter([group])).groups == 1
    assert 0 < moves <= 20


STEP = {1: 1, 2: 2, 3: 11, 4: 97, 5: 211, 6: 797}
"""Of so many tiny groups one is looked at, the day says which; `python -m tests.weighted.exhaust`
looks at all (`EXHAUSTED.md`)."""


def test_no_bound_is_above_and_no_answer_below_the_best_of_every_assignment() -> None:
    whole = Tally()
    for partitions, members in SIZES:
        step = max(1, STEP[partitions] // DEEP)
        groups = islice(tiny_groups(partitions, members), SEED % step, None, step)
        whole.add(judged(groups))
    assert whole.groups >= 600 * min(DEEP, 2)
    exact_answers = whole.answers[Fraction(1)] / whole.answers.total()
    exact_bounds = whole.bounds[Fraction(1)] / whole.bounds.total()
    assert exact_answers >= 0.985
    assert mean(whole.answers) <= 1.005
    assert max(whole.answers) <= 2
    assert exact_bounds >= 0.9
    assert mean(whole.bounds) <= 1.03
