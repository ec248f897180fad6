"""Patterns of topics match what Python's `re` does, in time that no pattern can draw out."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.topic_patterns import matching, require_pattern
from tests.conftest import cases

LETTERS = "ab-1_"
PARTS = ["a", "b", ".", "-", "[ab]", "[^a1]", "[a-b_]", r"\d", r"\w", r"\W", r"\s", r"[\D_]"]
PLACES = ["^", "$", r"\b", r"\A", ""]
TIMES = ["", "", "*", "+", "?", "{2}", "{1,2}", "{2,}", "*?", "+?", "{0,1}?"]


def repeated(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Some parts one after the other or in place of each other, so many times."""
    ways = st.lists(st.lists(parts, min_size=1, max_size=3).map("".join), min_size=1, max_size=3)
    return st.builds("({}){}".format, ways.map("|".join), st.sampled_from(TIMES))


PATTERNS = st.recursive(
    st.builds("{}{}".format, st.sampled_from(PARTS), st.sampled_from(TIMES))
    | st.sampled_from(PLACES),
    repeated,
    max_leaves=6,
)
NAMES = st.lists(st.text(LETTERS, min_size=1, max_size=6), min_size=1, max_size=8, unique=True)


@given(PATTERNS, NAMES)
@cases(150)
def test_what_matches_is_what_python_says(pattern: str, names: list[str]) -> None:
    require_pattern(pattern)
    known = re.compile(pattern)
    assert matching(pattern, names) == tuple(sorted(filter(known.fullmatch, names)))


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+b", "(a|a)*b", "(.*.*.*.*.*.*)*x", "a?" * 60 + "a" * 60 + "b", "(((a?){50}){50}){50}b"],
)
def test_no_pattern_keeps_a_run_busy(pattern: str) -> None:
    """Python's own search of the first takes 2 ** 249 steps."""
    began = time.process_time()
    assert matching(pattern, ["a" * 249]) == ()
    assert time.process_time() - began < 10
