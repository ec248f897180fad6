"""Where we are ahead of each peer, and where behind, in one table."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from tests.benchmarks.peers.contenders import BY_NAME, WORKLOADS, Stage, title
from tests.benchmarks.peers.results import Results
from tests.optimal.workloads import EVENTS


def standing(results: Results, peers: dict[Stage, tuple[str, ...]]) -> Iterator[str]:
    """Yield a row a stage and peer: in how many events we need less time, and where we do not.

    A peer that did not finish in time counts with the time it was given.
    """
    yield "| stage | beside | we need less in | median | we need more in | median |"
    yield "|---|---|---:|---:|---:|---:|"
    for stage, names in peers.items():
        for peer in names:
            found = _ratios(results, stage, peer)
            ahead = [ratio for ratio, _ in found if ratio >= 1]
            short = [ratio for ratio, _ in found if ratio < 1]
            yield (
                f"| `{stage}` | {BY_NAME[peer].label} | {len(ahead)} of {len(found)} "
                f"| {_middle(ahead)} | {len(short)} of {len(found)} | {_middle(short)} |"
            )


def behind(results: Results, peers: dict[Stage, tuple[str, ...]]) -> Iterator[str]:
    """Yield where others need less CPU time than we do."""
    for stage, names in peers.items():
        for peer in names:
            found = _ratios(results, stage, peer)
            lost = [entry for entry in found if entry[0] < 1]
            spans = [
                _span(title(group), [ratio for ratio, name in lost if name == group])
                for group in dict.fromkeys(workload for _, workload in lost)
            ]
            if lost:
                yield (
                    f"{BY_NAME[peer].label}, `{stage}`, {len(lost)} of {len(found)} events: "
                    f"{'; '.join(spans)}."
                )


def _ratios(results: Results, stage: Stage, peer: str) -> list[tuple[float, str]]:
    """Return how many times our time a peer needs, with the group, of each event measured."""
    workloads = [each for each in WORKLOADS if any(row.workload == each for row in results.rows)]
    return [
        (ratio[0], workload)
        for workload in workloads
        for event in EVENTS
        if (ratio := results.ratio(workload, event, peer, stage))
    ]


def _span(name: str, ratios: list[float]) -> str:
    low, high = factor(min(ratios)), factor(max(ratios))
    return f"{name} ({low})" if low == high else f"{name} ({low} to {high})"


def _middle(ratios: list[float]) -> str:
    """Return the median, a dash where there is none."""
    return factor(median(ratios)) if ratios else "-"


def factor(value: float) -> str:
    """Return a ratio.

    >>> factor(0.123), factor(3.14), factor(1234)
    ('0.12x', '3.1x', '1,234x')
    """
    return f"{value:,.0f}x" if value >= 10 else f"{value:.2g}x"
