"""The figures of docs/weights.md, `Over time`, are those of today."""

from __future__ import annotations

import pytest

from tests.benchmarks.bench_traffic import COUNTING, OURS, PARTS, measured
from tests.docs.weights_over_time import kept


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("noisy", COUNTING),
        pytest.param("noisy", OURS, marks=pytest.mark.deep),
        pytest.param("catch-up, 70%", OURS, marks=pytest.mark.deep),
    ],
)
def test_the_kept_figures_are_those_of_today(part: str, name: str) -> None:
    seeds, parts = kept()
    ((_, found),) = measured(PARTS[part], seeds, only=name)
    again = "play them anew: python -m tests.benchmarks.bench_traffic --store"
    assert found == pytest.approx(parts[part][name], rel=0.02, abs=0.01), again
