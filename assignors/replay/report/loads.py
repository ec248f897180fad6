"""How the loads were spread, generation by generation: from least to most, and the best most."""

from __future__ import annotations

from collections.abc import Sequence

from assignors.replay.report.markup import Markup, element, together
from assignors.replay.report.scale import Scale
from assignors.replay.report.wording import extent
from assignors.replay.tables.rows import GenerationRow

LOADS_HEIGHT = 66
TOP, BOTTOM = 12, 4
"""Pixels that stay free above and below."""


def loads(generations: Sequence[GenerationRow], scale: Scale, *, top: int) -> Markup:
    """Return bands from the least to the most that a member had; dashes are the best most."""
    most = max((row.load_max for row in generations), default=0)
    most = max([most, *(row.load_max_optimum or 0 for row in generations)])
    if not most:
        return together([])
    bottom = top + LOADS_HEIGHT - BOTTOM

    def height(load: int) -> float:
        return bottom - (LOADS_HEIGHT - TOP - BOTTOM) * load / most

    ends = [*(scale.at(row.at_ms) for row in generations[1:]), scale.width]
    bands: list[Markup] = []
    for row, right in zip(generations, ends, strict=True):
        left = scale.at(row.at_ms)
        if not row.member_count or right <= left:
            continue
        upper, lower = height(row.load_max), height(row.load_min)
        bands.append(
            element(
                "rect",
                element("title", load_text(row)),
                x=left,
                y=upper - 1,
                width=right - left,
                height=lower - upper + 2,
                class_="load",
            )
        )
        if row.load_max_optimum is not None:
            best = height(row.load_max_optimum)
            bands.append(element("path", d=f"M{left:.1f} {best:.1f}H{right:.1f}", class_="best"))
    floor = element("path", d=f"M0 {bottom + 1}H{scale.width:.1f}", class_="line")
    return element("g", *bands, floor, class_="row")


def load_text(row: GenerationRow) -> str:
    """Return what a band says, as a sentence."""
    best = ""
    if row.load_max_optimum is not None:
        best = f"; the best possible has at most {row.load_max_optimum:,}"
    return (
        f"generation {row.generation}: {extent(row.load_min, row.load_max)} partitions a member"
        f"{best}"
    )
