"""A share of the long runs: healthy days of each protocol, and histories with double ownership."""

from __future__ import annotations

import pytest

from tests.conftest import SEED
from tests.lab.watch.double import judged
from tests.lab.watch.healthy import pages_of, pages_of_starts
from tests.lab.watch.histories import KINDS

REGRESSIONS = (7, 24, 39)
"""Days that once had a page: see `histories.healthy_day`."""


@pytest.mark.parametrize("seed", [*REGRESSIONS, *range(SEED, SEED + len(KINDS))])
def test_nobody_is_woken_up_on_a_healthy_day(seed: int) -> None:
    assert pages_of(seed) == []


def test_every_double_ownership_that_records_show_is_found_in_time() -> None:
    found = [judged(seed) for seed in range(SEED, SEED + 15)]
    assert sum(one.shown for one in found) > 3
    assert [missed for one in found for missed in one.missed] == []
    assert max(delay for one in found for delay in one.delays_ms) <= 1_000


@pytest.mark.parametrize("seed", [15, *range(SEED, SEED + 3)])
def test_nobody_is_woken_up_when_a_watch_starts_on_a_compacted_topic(seed: int) -> None:
    assert pages_of_starts(seed) == []
