"""The lanes above the bars: time, generations, who came and went, moves, findings, pauses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assignors.replay.report.markup import Markup, element, together
from assignors.replay.report.scale import Scale
from assignors.replay.report.wording import clock, count, day, span
from assignors.replay.tables import AnomalyRow, GenerationRow, Kind

LANES = 102
"""Pixels of all lanes."""

FINDINGS_TOP = 74
PAUSE_TOP, PAUSE_HEIGHT = 90, 7

MOVES_TOP, MOVES_HEIGHT = 48, 20

TIME_WIDTH = 54
"""Pixels of a time of day: labels closer than that are left out."""

CUT_WIDTH = 110
"""Pixels that the length of a spell needs beside the findings at its begin."""

MARK = "M0 0l4.5 8h-9z"
"""A triangle that stands on its base, its top in the origin."""


def lanes(
    generations: Sequence[GenerationRow],
    anomalies: Sequence[AnomalyRow],
    scale: Scale,
    *,
    bottom: int,
) -> Markup:
    """Return the lanes, and a hair line down to `bottom` where each generation begins."""
    most = max((row.moved for row in generations), default=0)
    return together(
        [
            *_times(scale),
            *_cuts(scale),
            *_generations(generations, scale, bottom),
            *(_moves(row, scale, most) for row in generations if row.moved),
            *_findings(anomalies, scale),
            *(_pause(row, row.pause_ms, scale, bottom) for row in generations if row.pause_ms),
        ]
    )


def round_name(kind: str) -> str:
    """Return what a round of this kind of group is called."""
    return "generation" if kind == Kind.CLASSIC else "group epoch"


def generation_text(row: GenerationRow) -> str:
    """Return what a generation says, as a sentence."""
    assignor = f", {row.protocol}" if row.protocol else ""
    moved = count(row.moved, "partition") + " moved"
    if row.moved_minimum is not None:
        moved += f", {row.moved_minimum:,} needed"
    missing = f", {row.missing_before:,} generations before it have no record"
    return (
        f"{round_name(row.kind)} {row.generation} at {clock(row.at_ms)}: {row.state}{assignor}, "
        f"{count(row.member_count, 'member')}, {len(row.joined)} joined, {len(row.left)} left, "
        f"{moved}{missing if row.missing_before else ''}"
    )


def _times(scale: Scale) -> Iterator[Markup]:
    """Yield times of day where there is room for them."""
    free = -1.0
    for spell in scale.spells:
        if spell.left < free:
            continue
        said = clock(spell.from_ms).partition(".")[0]
        free = spell.left + TIME_WIDTH
        hint = element("title", f"{day(spell.from_ms)} {clock(spell.from_ms)}")
        yield element("text", hint, said, x=spell.left + 2, y=12, class_="time")


def _cuts(scale: Scale) -> Iterator[Markup]:
    """Yield how long a spell was, in the middle of each that is drawn much shorter."""
    for spell in scale.spells:
        if spell.is_cut and spell.right - spell.left > CUT_WIDTH:
            lasted = span(spell.to_ms - spell.from_ms)
            yield element(
                "text",
                element("title", f"{lasted}, drawn shorter than it was"),
                f"// {lasted} //",
                x=(spell.left + spell.right) / 2,
                y=FINDINGS_TOP + 8,
                class_="cut",
            )


def _generations(
    generations: Sequence[GenerationRow], scale: Scale, bottom: int
) -> Iterator[Markup]:
    for row in generations:
        left = scale.at(row.at_ms)
        hint = element("title", generation_text(row))
        yield element("path", d=f"M{left:.1f} 18V{bottom}", class_="line")
        looks = "generation missing" if row.missing_before else "generation"
        yield element("text", hint, row.generation, x=left + 3, y=28, class_=looks)
        came = f"+{len(row.joined)}" if row.joined else ""
        went = f"-{len(row.left)}" if row.left else ""
        if came or went:
            yield element("text", hint, f"{came}{went}", x=left + 3, y=43, class_="change")


def _moves(row: GenerationRow, scale: Scale, most: int) -> Markup:
    """Return a bar as high as there were moves; what was not needed is filled."""
    left = scale.at(row.at_ms)
    height = MOVES_HEIGHT * row.moved / most
    needless = 0 if row.moved_minimum is None else max(row.moved - row.moved_minimum, 0)
    filled = MOVES_HEIGHT * needless / most
    bottom = MOVES_TOP + MOVES_HEIGHT
    hint = element("title", generation_text(row))
    bars = [
        element("rect", x=left + 1, y=bottom - height, width=7, height=height, class_="moved"),
        element("rect", x=left + 1, y=bottom - height, width=7, height=filled, class_="needless"),
        element("text", row.moved, x=left + 10, y=bottom - 1, class_="small"),
    ]
    return element("g", hint, *(bars if needless else bars[::2]), class_="mark")


def _pause(row: GenerationRow, pause_ms: int, scale: Scale, bottom: int) -> Markup:
    """Return the time a rebalance took, in its lane and as a band behind the bars."""
    left = scale.at(row.at_ms - pause_ms)
    width = max(scale.at(row.at_ms) - left, 1.5)
    said = f"{round_name(row.kind)} {row.generation}: {span(pause_ms)} until it was agreed on"
    return element(
        "g",
        element("title", f"{said} (estimate)"),
        element("rect", x=left, y=PAUSE_TOP, width=width, height=PAUSE_HEIGHT, class_="agreed"),
        element("rect", x=left, y=LANES, width=width, height=bottom - LANES, class_="pause"),
        class_="mark",
    )


def _findings(anomalies: Sequence[AnomalyRow], scale: Scale) -> Iterator[Markup]:
    """Yield a triangle for each moment with findings, which says how many and which."""
    found: dict[int, list[AnomalyRow]] = {}
    for row in anomalies:
        if row.at_ms >= scale.from_ms:
            found.setdefault(row.at_ms, []).append(row)
    for at_ms, rows in found.items():
        kinds = ", ".join(dict.fromkeys(row.kind for row in rows))
        first = rows[0].evidence
        said = f"{count(len(rows), 'finding')} at {clock(at_ms)}: {kinds}. {first}"
        yield element(
            "path",
            element("title", said),
            d=MARK,
            transform=f"translate({scale.at(at_ms) + 5:.1f} {FINDINGS_TOP})",
            class_="finding",
        )
