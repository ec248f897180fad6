"""A leader's CPU time after one member has left: how much it may be beside franz-go's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.benchmarks.peers.contenders import title
from tests.benchmarks.peers.results import Results

PEER = "franz-go"
TIMES: Mapping[str, float] = {
    "U 1000 x 10000 / 100": 5,
    "U 2000 x 100000 / 500": 8,
    "U 2000 x 1000000 / 500": 8,
    "Hb 1000 x 10000 / 100": 1.5,
    "Hd 1000 x 10000 / 100": 3,
    "Hc 500 x 3000 / 60": 0.7,
    "He 500 x 3352 / 50": 1,
    "U 100 x 1000 / 10": 0.8,
    "Hb 100 x 1000 / 10": 0.6,
}
"""Workload -> the least of franz-go's time divided by ours."""
LIMITS_MS: Mapping[str, float] = {"U 30 x 300 / 3": 0.6, "U 3 x 12 / 1": 0.2}
"""Workload -> the most milliseconds, where all of it is the cost of calls."""


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """A floor, and what was measured."""

    workload: str
    wanted: str
    measured: str
    is_met: bool | None
    """`None` where nothing was measured."""


def states(results: Results) -> Iterator[State]:
    """Yield the state of every floor: one member has left, from bytes to bytes."""
    for workload, times in TIMES.items():
        ratio = results.ratio(workload, "leave", PEER, "full")
        yield State(
            workload=title(workload),
            wanted=f"at least {times:g}x",
            measured="" if ratio is None else f"{'> ' if ratio[1] else ''}{ratio[0]:.3g}x",
            is_met=None if ratio is None else ratio[0] >= times,
        )
    for workload, limit in LIMITS_MS.items():
        row = results.row(workload, "leave", "ours", "full")
        spent = row.least_ms if row else None
        yield State(
            workload=title(workload),
            wanted=f"at most {limit:g} ms",
            measured="" if spent is None else f"{spent:.3g} ms",
            is_met=None if spent is None else spent <= limit,
        )
