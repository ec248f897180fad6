"""Round after round of joins and leaves, every aim is the least that OR-tools finds.

3,000 rounds: lists and arrays, equal and different subscriptions, either order of aims.
"""

from __future__ import annotations

import os
from itertools import product

import pytest

from assignors import Options, Prefer, UserData, assignor_named
from assignors.optimal.assign import assign_by_arrays
from assignors.problem import owners
from tests.laws.laws import as_arrays
from tests.optimal.churn import ROUNDS, rounds
from tests.optimal.oracles import best_by_flow

HISTORIES = int(os.environ.get("DEEP", "1")) * 58
STICKY = assignor_named("sticky")


@pytest.mark.parametrize(("is_mixed", "prefer"), list(product([False, True], Prefer)))
def test_no_round_could_be_better(*, is_mixed: bool, prefer: Prefer) -> None:
    options = Options(prefer=prefer)
    assignor = STICKY.configured(options)
    for seed in range(HISTORIES):
        for turn, group in enumerate(rounds(assignor, seed, is_mixed=is_mixed)):
            problem, made = as_arrays(group, UserData.STICKY)
            best = best_by_flow(made, first=prefer.value)
            answers = [assignor.assign(group)]
            if turn % 3 == 0:
                answers.append(assign_by_arrays(group, UserData.STICKY, options))
            for answer in answers:
                assert made.figures(owners(problem, answer.assignment)) == best, (seed, turn)
    assert ROUNDS == 12
