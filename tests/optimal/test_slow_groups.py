"""What was slow once does not get slower, and its answers are the best there are."""

from __future__ import annotations

import numpy as np
import pytest

from assignors.optimal.bounds import is_balanced
from assignors.optimal.solve import solve
from tests.optimal import slow_search
from tests.optimal.slow_groups import FOUND, Recipe, group_of

NAMED = pytest.mark.parametrize(
    ("recipe", "steps"),
    FOUND,
    ids=lambda value: f"{value.cells}" if isinstance(value, Recipe) else "",
)


@NAMED
def test_what_was_found_takes_no_more_steps(recipe: Recipe, steps: int) -> None:
    made = group_of(recipe)
    solved = made.solve()
    assert solved.steps <= steps * 1.25
    assert is_balanced(made.first, made.takes, made.class_of, solved.owner)


@NAMED
def test_a_limit_ends_what_was_found(recipe: Recipe, steps: int) -> None:
    made = group_of(recipe)
    cut = solve(**made.arguments(), limit=steps // 20)
    assert not cut.is_best
    assert cut.steps < steps // 5
    taken = np.any(made.takes, axis=0)
    assert ((cut.owner >= 0) == taken[made.topic_of]).all()


def test_the_search_repeats_itself(capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for _ in range(2):
        slow_search.main(["--groups", "25", "--cells", "500", "--partitions", "300"])
        lines = capsys.readouterr().out.splitlines()
        printed.append([line for line in lines if line.startswith("(Recipe")])
    assert printed[0] == printed[1]
    assert len(printed[0]) == 3 * len(slow_search.AIMS)
