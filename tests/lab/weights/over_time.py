"""Writes OVER_TIME.md from the figures that `bench_traffic` has kept.

    python -m tests.lab.weights.over_time

What the text claims is decided by the figures: a target that is missed says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.benchmarks.bench_traffic import (
    AIMED_AT,
    INTERVAL,
    OF_RATE,
    OURS,
    PARTS,
    RESULTS,
)
from tests.docs.source import table

PAGE = Path(__file__).parent / "OVER_TIME.md"

Figures = Mapping[str, float]

TARGETS = (
    ("moves_per_hour", "moves an hour", 70.0, "{:.0f}"),
    ("rebalances_per_hour", "rebalances an hour", 15.0, "{:.1f}"),
    ("use_over_bound_mean", "largest use over its bound", 1.2, "{:.3f}"),
)
"""Figure of the noisy scenario, what it is, the most that it should be, and how it is shown."""
SOONER = 2.0
"""By work a group should have caught up so many times sooner than by rate."""


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
        NOISY.format(seeds=PARTS["noisy"].seeds),
        *table(NOISY_HEAD, (_noisy(name, figures) for name, figures in noisy.items())),
        TARGETS_TEXT.format(seeds=PARTS[AIMED_AT].seeds),
        *table(TARGETS_HEAD, _targets(parts[AIMED_AT][OURS])),
        _lags(noisy),
        STEADY,
        *table(("assignor", *(name for name in parts if "steady" in name)), _steady(parts)),
        CATCH_UP,
        *table(_catch_up_head(parts), _catch_up(parts)),
        _sooner(parts),
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


def _targets(found: Figures) -> Iterator[tuple[str, ...]]:
    for key, words, most, shown in TARGETS:
        met = "yes" if found[key] <= most else "**no**"
        width = found[f"{key}{INTERVAL}"]
        interval = f"{shown.format(found[key] - width)} to {shown.format(found[key] + width)}"
        yield words, shown.format(most), shown.format(found[key]), interval, met


def _lags(noisy: Mapping[str, Figures]) -> str:
    """Return who keeps lags lower than ours, and at what price."""
    ours = noisy[OURS]
    lower = [
        f"{name} ({found['lag_p99_s']:.0f} s, at {found['moves_per_hour']:.0f} moves and"
        f" {found['rebalances_per_hour']:.0f} rebalances an hour)"
        for name, found in noisy.items()
        if found["lag_p99_s"] < ours["lag_p99_s"] and not name.startswith("ours")
    ]
    who = ", ".join(lower) or "nobody"
    return f"Lower 99th percentile of lags than ours ({ours['lag_p99_s']:.0f} s): {who}.\n"


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


def _sooner(parts: Mapping[str, Mapping[str, Figures]]) -> str:
    found = []
    for name, figures in parts.items():
        if "catch-up" in name:
            rate, ours = (figures[one]["caught_up_after_s"] for one in (OF_RATE, OURS))
            met, best = "met" if rate / ours >= SOONER else "**missed**", least()[name]
            found.append(
                f"{rate / ours:.2f} times sooner than by rate at {name.split(', ')[1]} use"
                f" ({met}; at best it is {rate / best:.2f}), and takes {ours / best:.2f} times what"
                " it takes at best"
            )
    return f"By work the group has caught up {'; '.join(found)}. The target is {SOONER:g} times.\n"


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
TARGETS_HEAD = ("figure", "target", "measured", "95 % interval", "met")
TARGETS_TEXT = """Targets for the defaults, and means over {seeds} seeds. The
targets come from a prototype that moved partitions in one round. Here a rebalance that moves a
partition has two under the cooperative protocol, one to revoke and one to give. Limits and
smoothing were chosen with other seeds than those of the tables.
"""
STEADY = """`steady`: rates do not change, but what the leader measures is off by 10 % or 30 %,
each time anew. All that moves then, moves for nothing. Moves an hour, after the first ten minutes:
"""
CATCH_UP = """`catch-up`: a fifth of the partitions begin an hour behind, at 50 % and 70 % use.
Seconds until no partition is two minutes behind, and moves in four hours. `at best`: members
together have processed what is missing, and so has a member with nothing else to do for each
partition; no assignment is sooner.
"""

FILES: dict[Path, Callable[[], str]] = {PAGE: page}


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
