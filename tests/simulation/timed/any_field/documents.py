"""Documents of random scenarios (`explore.random_scenarios`) as a strategy of Hypothesis."""

from __future__ import annotations

from functools import partial

from hypothesis import strategies as st

from assignors.simulation.timed.explore.random_scenarios import (
    EVERYTHING,
    Document,
    random_document,
)


def documents() -> st.SearchStrategy[Document]:
    """Return documents of any seed, with settings that break rules among the others."""
    return st.integers(0, 2**32 - 1).map(partial(random_document, choices=EVERYTHING))
