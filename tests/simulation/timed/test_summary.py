"""Summaries of results: means, paired differences, and intervals that anybody gets again."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.results import NUMBERS
from assignors.simulation.timed.tables.rows import RESULT_COLUMNS
from assignors.simulation.timed.tables.summary import interval_of_mean, summary_rows
from tests.conftest import cases


def result(seed: int, protocol: str, moves: int | None, **others: Any) -> dict[str, Any]:
    """A result row; one without moves is an error."""
    error = "x" if moves is None else None
    row = dict.fromkeys(RESULT_COLUMNS)
    return {
        **row,
        "scenario": "s",
        "seed": seed,
        "protocol": protocol,
        "moves": moves,
        "error": error,
        **others,
    }


def summary(rows: list[dict[str, Any]], **asked: Any) -> list[dict[str, Any]]:
    return list(summary_rows(rows, figures=("moves",), **asked))


def test_a_summary_has_the_figures_that_are_numbers() -> None:
    assert {"moves", "convergence_ms", "is_settled", "recovery_ms"} <= set(NUMBERS)
    assert not {"requests", "stopped_by", "fatal_errors", "events_hash"} & set(NUMBERS)


def test_differences_are_taken_seed_by_seed_from_those_in_common() -> None:
    rows = [result(seed, "a", 100 * seed) for seed in (1, 2, 3)]
    rows += [result(seed, "b", 100 * seed + 7) for seed in (2, 3, 4)]
    rows.append(result(5, "b", None))
    first, second = summary(rows)
    assert (first["protocol"], first["mean"], first["median"]) == ("a", 200, 200)
    assert (first["pairs"], first["difference"]) == (0, None)
    assert (second["runs"], second["errors"], second["pairs"]) == (3, 1, 2)
    # The means differ by 107, but a seed by 7: that is what pairing is for.
    assert (second["mean"], second["difference"]) == (307, 7)
    assert (second["difference_low"], second["difference_high"]) == (7, 7)


def test_groups_and_variants_may_be_any_columns() -> None:
    rows = [
        result(1, protocol, beat, heartbeat=beat) for beat in (10, 9) for protocol in ("a", "b")
    ]
    found = summary(rows, by=("protocol",), between="heartbeat")
    assert [(row["protocol"], row["heartbeat"], row["difference"]) for row in found] == [
        ("a", 9, None),
        ("a", 10, 1),
        ("b", 9, None),
        ("b", 10, 1),
    ]
    with pytest.raises(KeyError, match="rack"):
        summary(rows, by=("rack",))


@cases(30)
@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc"), st.integers(0, 99))))
def test_the_order_of_the_rows_is_no_part_of_the_answer(
    drawn: list[tuple[int, str, int]],
) -> None:
    rows = [result(*each) for each in drawn]
    shuffled = Random(1).sample(rows, len(rows))
    assert summary(rows) == summary(shuffled)


@cases(30)
@given(st.lists(st.integers(0, 1000), min_size=2, max_size=30))
def test_the_interval_lies_within_the_values_and_around_the_mean(values: list[int]) -> None:
    low, high = interval_of_mean(np.array(values, dtype=np.float64))
    assert low is not None
    assert high is not None
    assert min(values) <= low <= np.mean(values) <= high <= max(values)


def test_the_interval_of_two_values_reaches_from_one_to_the_other() -> None:
    # A quarter of all resamples has the one twice, a quarter the other.
    assert interval_of_mean(np.array([2.0, 8.0])) == (2.0, 8.0)
    assert interval_of_mean(np.array([2.0])) == (None, None)


def test_the_interval_covers_the_true_mean_about_as_often_as_it_promises() -> None:
    random = np.random.default_rng(3)
    covered = 0
    for _ in range(200):
        low, high = interval_of_mean(random.exponential(10.0, 60))
        assert low is not None
        assert high is not None
        covered += low <= 10.0 <= high
    assert 0.86 < covered / 200 <= 1.0
