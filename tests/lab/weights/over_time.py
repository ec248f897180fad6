"""OVER_TIME.md, from the figures that `bench_traffic` has kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.benchmarks.bench_traffic import RESULTS, SEEDS
from tests.docs.source import table

PAGE = Path(__file__).parent / "OVER_TIME.md"

Figures = Mapping[str, float]


@cache
def _stored() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return found


def kept() -> Mapping[str, Mapping[str, Figures]]:
    """Return the means by part and contender."""
    found: Mapping[str, Mapping[str, Figures]] = _stored()["parts"]
    return found


def least() -> Mapping[str, float]:
    """Return how soon a group can have caught up at best, by part."""
    found: Mapping[str, float] = _stored()["least_s"]
    return found


def page() -> str:
    """Return the page."""
    parts = kept()
    noisy = parts["noisy"]
    lines = [
        HEAD,
        NOISY.format(seeds=len(SEEDS)),
        *table(NOISY_HEAD, (_noisy(name, figures) for name, figures in noisy.items())),
        STEADY,
        *table(("assignor", *(name for name in parts if "steady" in name)), _steady(parts)),
        CATCH_UP,
        *table(_catch_up_head(parts), _catch_up(parts)),
    ]
    return "\n".join(lines) + "\n"


def _noisy(name: str, found: Figures) -> tuple[str, ...]:
    return (
        name,
        f"{found['moves_per_hour']:,.0f}",
        f"{found['returned_share']:.0%}",
        f"{found['rebalances_per_hour']:.1f}",
        f"{found['rounds_per_hour']:.1f}",
        f"{found['use_over_bound_mean']:.3f}",
        f"{found['overloaded_share']:.0%}",
        f"{found['lag_p99_s']:,.0f}",
        f"{found['paused_s_per_hour']:,.0f}",
    )


def _steady(parts: Mapping[str, Mapping[str, Figures]]) -> Iterator[tuple[str, ...]]:
    steady = [found for name, found in parts.items() if "steady" in name]
    for name in steady[0]:
        yield name, *(f"{found[name]['moves_per_hour']:,.1f}" for found in steady)


def _catch_up_head(parts: Mapping[str, Mapping[str, Figures]]) -> tuple[str, ...]:
    names = [name for name in parts if "catch-up" in name]
    return ("assignor", *(f"{name}{words}" for name in names for words in (", s", ", moves")))


def _catch_up(parts: Mapping[str, Mapping[str, Figures]]) -> Iterator[tuple[str, ...]]:
    caught = [found for name, found in parts.items() if "catch-up" in name]
    for name in caught[0]:
        cells = []
        for found in caught:
            after_s = found[name]["caught_up_after_s"]
            cells += [
                "not in 4 h" if after_s >= END_S else f"{after_s:,.0f}",
                f"{found[name]['moves_per_hour'] * END_S / 3600:,.0f}",
            ]
        yield name, *cells
    yield (
        BEST,
        *(cell for name in parts if name in least() for cell in (f"{least()[name]:,.0f}", "-")),
    )


END_S = 4 * 3600


BEST = "at best, whoever decides"
HEAD = """# Weighted assignors over four hours of uneven traffic

`kafka-assignors traffic noisy` plays one of these groups: 240 partitions and 12 members at 70 % of
their capacity, with waves, noise, bursts, a member that restarts and one that comes and goes.
"""
NOISY_HEAD = (
    *("assignor", "moves/h", "returned", "rebalances/h", "rounds/h"),
    *("use over bound", "overloaded", "lag p99, s", "paused, s/h"),
)
NOISY = """The means of {seeds} seeds, measured by `python -m tests.benchmarks.bench_traffic`. The
peers are [ports](../../benchmarks/weighted/peers/all_peers.py), which get the same measurements
and pass through the same hand-over rule; eager ones stop everybody. `returned`: moves back to a
member that had the partition within half an hour; `use over bound`: the largest use over what
[bound](../../../docs/weights-bounds.md), averaged over time; `overloaded`: the share of the time in
which some member gets more than it can process; `lag p99`: of all partitions and times; `paused`:
seconds in which a partition was not consumed, summed over partitions, in an hour.
"""
STEADY = """`steady`: rates do not change, but what the leader measures is off by 10 % or 30 %,
each time anew. All that moves then, moves for nothing. Moves an hour, after the first ten minutes:
"""
CATCH_UP = """`catch-up`: a fifth of the partitions begin an hour behind, at 50 % and 70 % use.
Seconds until no partition is two minutes behind, and moves in four hours. `at best`: members
together have processed what is missing, and so has a member with nothing else to do for each
partition; no assignment is sooner.
"""
