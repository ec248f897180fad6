"""The lowest row of a chart: the smallest, the largest and the best possible load over time.

The load of a member is how many partitions it is assigned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assignors.replay.report.formats import value_range
from assignors.replay.report.time_scale import TimeScale
from assignors.replay.tables.rows import GenerationRow

LOADS_HEIGHT = 66
TOP_MARGIN, BOTTOM_MARGIN = 12, 4
"""Pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadBand:
    """A generation's loads: a band from the smallest to the largest, in pixels."""

    left: float
    right: float
    top: float
    height: float
    best_y: float | None
    """Where the best possible maximum load is, if it is known."""
    title: str

    @property
    def width(self) -> float:
        """How long the generation lasted."""
        return self.right - self.left


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadChart:
    """The bands, from left to right."""

    bands: Sequence[LoadBand]
    axis_y: float
    """Where a load of 0 is."""
    load_max: int
    """The largest load of any generation."""


def load_chart(generations: Sequence[GenerationRow], scale: TimeScale, *, top: int) -> LoadChart:
    """Return the loads of these generations below `top`. Linear in the generations."""
    axis_y = top + LOADS_HEIGHT - BOTTOM_MARGIN
    return LoadChart(
        bands=list(_bands(generations, scale, axis_y)),
        axis_y=axis_y + 1,
        load_max=max((row.load_max for row in generations), default=0),
    )


def load_text(row: GenerationRow) -> str:
    """Return the tooltip of a generation's loads."""
    best = ""
    if row.load_max_optimum is not None:
        best = f"; best possible maximum load {row.load_max_optimum:,}"
    loads = value_range(row.load_min, row.load_max)
    return f"generation {row.generation}: {loads} partitions per member{best}"


def _bands(
    generations: Sequence[GenerationRow], scale: TimeScale, axis_y: int
) -> Iterator[LoadBand]:
    loads = [max(row.load_max, row.load_max_optimum or 0) for row in generations]
    load_max = max(loads, default=0)
    if not load_max:
        return
    unit = (LOADS_HEIGHT - TOP_MARGIN - BOTTOM_MARGIN) / load_max
    ends = [*(scale.at(row.at_ms) for row in generations[1:]), scale.width]
    for row, right in zip(generations, ends, strict=True):
        left = scale.at(row.at_ms)
        if not row.member_count or right <= left:
            continue
        best = row.load_max_optimum
        yield LoadBand(
            left=left,
            right=right,
            top=axis_y - unit * row.load_max - 1,
            height=unit * (row.load_max - row.load_min) + 2,
            best_y=None if best is None else axis_y - unit * best,
            title=load_text(row),
        )
