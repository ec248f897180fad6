"""Results of many runs by group: means, and differences over the same seeds, with intervals.

Runs of one scenario under two protocols have the same seed, so the same members poll at the same
moments and messages take the same time. The difference of two such runs varies far less than
either of them; so variants are compared seed by seed, and the interval is that of the differences.
Intervals hold the middle 95 % of the means of resampled runs (the bootstrap). The resampling
depends on the group's own values alone: the same rows give the same intervals.

Source: Efron, "Bootstrap methods: another look at the jackknife" (1979), the percentile interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from assignors.simulation.timed.results import NUMBERS, figure_of

Float = NDArray[np.float64]

RESAMPLES = 1000
CHOSEN_TOGETHER = 1 << 18
"""Values that are chosen at a time, of several resamples where these are small."""
LOW, HIGH = 2.5, 97.5
"""Percentiles of the resampled means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRow:
    """One figure of one variant in one group; an interval is `None` for fewer than two runs."""

    figure: str
    """Name of the figure."""
    runs: int
    """Runs that have the figure."""
    errors: int
    """Rows of the variant without a result."""
    mean: float | None
    """Mean over the runs."""
    mean_low: float | None
    """Begin of the 95 % interval of the mean."""
    mean_high: float | None
    """End of the 95 % interval of the mean."""
    median: float | None
    """Median over the runs."""
    pairs: int
    """Seeds that the variant has in common with the baseline."""
    difference: float | None
    """Mean over those seeds of the figure minus that of the baseline, the group's first variant;
    `None` for the baseline itself."""
    difference_low: float | None
    """Begin of the 95 % interval of the difference."""
    difference_high: float | None
    """End of the 95 % interval of the difference."""


def summary_rows(
    results: Iterable[Mapping[str, Any]],
    *,
    by: Sequence[str] = ("scenario",),
    between: str = "protocol",
    figures: Sequence[str] = NUMBERS,
    order: Iterable[Any] = (),
) -> Iterator[dict[str, Any]]:
    """Yield a row for each group, variant and figure: `by`, `between`, and those of `SummaryRow`.

    Rows with the same values in the columns `by` are a group; their values in `between` are its
    variants: those of `order` first, the others sorted; the first one is the baseline. Groups come
    sorted. A seed that occurs several times in a variant counts with the mean of its runs in
    differences. Raises `KeyError` for a column that a row does not have. Cost: O(rows x figures x
    RESAMPLES). Memory: the rows.
    """
    places = {variant: place for place, variant in enumerate(dict.fromkeys(order))}
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in results:
        groups.setdefault(tuple(_named(row, name) for name in by), []).append(row)
    for key in sorted(groups, key=lambda key: [_order(value) for value in key]):
        named = dict(zip(by, key, strict=True))
        for variant, found in _of_group(groups[key], between, figures, places):
            yield {**named, between: variant, **asdict(found)}


def _of_group(
    rows: Sequence[Mapping[str, Any]],
    between: str,
    figures: Sequence[str],
    places: Mapping[Any, int],
) -> Iterator[tuple[Any, SummaryRow]]:
    """Yield each variant and its figures, the baseline first."""
    variants: dict[Any, list[Mapping[str, Any]]] = {}
    for row in rows:
        variants.setdefault(_named(row, between), []).append(row)
    listed = sorted(variants, key=lambda name: (places.get(name, len(places)), _order(name)))
    baseline = variants[listed[0]]
    for variant in listed:
        mine = variants[variant]
        for figure in figures:
            other = None if variant == listed[0] else baseline
            yield variant, _summary(figure, mine, other)


def _named(row: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - as the column is
    """Return what a row says of its run; a failed one may not say everything."""
    return row[name] if row["error"] is None else row.get(name)


def _order(value: object) -> tuple[str, Any]:
    """Order values of one type as usual; `None` and other types are groups of their own."""
    kind = "number" if isinstance(value, int | float) else type(value).__name__
    return kind, 0 if value is None else value


def _summary(
    figure: str,
    rows: Sequence[Mapping[str, Any]],
    baseline: Sequence[Mapping[str, Any]] | None,
) -> SummaryRow:
    found = [figure_of(row, figure) for row in rows]
    values = np.array([value for value in found if value is not None], dtype=np.float64)
    values.sort()  # the order of the rows is no part of the answer
    low, high = interval_of_mean(values)
    differences = np.empty(0)
    if baseline is not None:
        mine, theirs = _by_seed(rows, figure), _by_seed(baseline, figure)
        differences = np.array([mine[seed] - theirs[seed] for seed in sorted(mine & theirs.keys())])
    difference_low, difference_high = interval_of_mean(differences)
    return SummaryRow(
        figure=figure,
        runs=len(values),
        errors=sum(row["error"] is not None for row in rows),
        mean=_mean(values),
        mean_low=low,
        mean_high=high,
        median=float(np.median(values)) if len(values) else None,
        pairs=len(differences),
        difference=_mean(differences),
        difference_low=difference_low,
        difference_high=difference_high,
    )


def interval_of_mean(values: Float) -> tuple[float | None, float | None]:
    """Return between what the mean lies in 95 % of all resamples; `None` for fewer than two values.

    Cost: O(N x RESAMPLES). The random numbers depend on the values, and on nothing else.

    >>> interval_of_mean(np.array([3.0, 3.0, 3.0]))
    (3.0, 3.0)
    """
    count = len(values)
    if count < 2:
        return None, None
    source = np.random.PCG64(crc32(values.tobytes()))
    together = max(CHOSEN_TOGETHER // count, 1)
    means = np.empty(RESAMPLES)
    for start in range(0, RESAMPLES, together):
        rows = min(together, RESAMPLES - start)
        # Raw bits, as numpy promises to keep these the same from release to release.
        raw = source.random_raw(rows * count).reshape(rows, count) >> np.uint64(32)
        chosen = (raw * np.uint64(count) >> np.uint64(32)).astype(np.intp)
        means[start : start + rows] = values[chosen].mean(axis=1)
    low, high = np.percentile(means, [LOW, HIGH])
    return float(low), float(high)


def _mean(values: Float) -> float | None:
    return float(values.mean()) if len(values) else None


def _by_seed(rows: Sequence[Mapping[str, Any]], figure: str) -> dict[int, float]:
    """Return the figure of each seed; the mean where a seed occurs more than once."""
    found: dict[int, list[float]] = {}
    for row in rows:
        value = figure_of(row, figure)
        if value is not None:
            found.setdefault(row["seed"], []).append(float(value))
    return {seed: sum(values) / len(values) for seed, values in found.items()}
