"""What makes a history of groups quick to read, each beside what it replaces in one run."""

from __future__ import annotations

import statistics
from random import Random

from tests.benchmarks.bench_record_loop import group, opened, opened_carefully, seconds
from wire.records import MemberCache

GROUPS = [group(Random(seed)) for seed in range(10)]


def test_plain_bytes_are_read_sooner_than_odd_ones_could_be() -> None:
    ratios = [
        seconds(lambda: opened_carefully(GROUPS), best_of=3)
        / seconds(lambda: opened(GROUPS), best_of=3)
        for _ in range(5)
    ]
    assert statistics.median(ratios) > 1.3, ratios


def test_a_cache_makes_what_comes_back_two_and_a_half_times_as_fast() -> None:
    cache = MemberCache()
    opened(GROUPS, cache)
    ratios = [
        seconds(lambda: opened(GROUPS), best_of=3)
        / seconds(lambda: opened(GROUPS, cache), best_of=3)
        for _ in range(5)
    ]
    assert statistics.median(ratios) > 2.5, ratios
