"""The lanes above the bars: time, generations, who came and went, moves, findings, pauses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from assignors.replay.history.model import Kind
from assignors.replay.report.markup import Markup, element, together
from assignors.replay.report.scale import Scale
from assignors.replay.report.wording import clock, count, day, extent, span
from assignors.replay.tables.rows import AnomalyRow, GenerationRow

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """The generations that begin at one time: drawn as one, or they would lie on each other."""

    rows: tuple[GenerationRow, ...]

    @property
    def at_ms(self) -> int:
        """When they begin."""
        return self.rows[0].at_ms

    @property
    def label(self) -> str:
        """Their number, or the first and the last of them."""
        return extent(self.rows[0].generation, self.rows[-1].generation)

    @property
    def said(self) -> str:
        """What they say, as sentences."""
        return "; ".join(map(generation_text, self.rows))

    @property
    def joined(self) -> int:
        """Members that came."""
        return sum(len(row.joined) for row in self.rows)

    @property
    def left(self) -> int:
        """Members that went."""
        return sum(len(row.left) for row in self.rows)

    @property
    def moved(self) -> int:
        """Partitions that changed hands."""
        return sum(row.moved for row in self.rows)

    @property
    def needless(self) -> int:
        """Those that need not have."""
        known = [row for row in self.rows if row.moved_minimum is not None]
        return sum(max(row.moved - (row.moved_minimum or 0), 0) for row in known)

    @property
    def is_after_gap(self) -> bool:
        """Whether generations before them have no record."""
        return any(row.missing_before for row in self.rows)


def lanes(
    generations: Sequence[GenerationRow],
    anomalies: Sequence[AnomalyRow],
    scale: Scale,
    *,
    bottom: int,
) -> Markup:
    """Return the lanes, and a hair line down to `bottom` where each generation begins."""
    begins = [
        Begin(rows=tuple(rows)) for _, rows in groupby(generations, key=lambda row: row.at_ms)
    ]
    most = max((begin.moved for begin in begins), default=0)
    return together(
        [
            *_times(scale),
            *_cuts(scale),
            *(mark for begin in begins for mark in _begins(begin, scale, bottom, most)),
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


def _begins(begin: Begin, scale: Scale, bottom: int, most: int) -> Iterator[Markup]:
    """Yield what the lanes have of the generations that begin at one time."""
    left = scale.at(begin.at_ms)
    hint = element("title", begin.said)
    yield element("path", d=f"M{left:.1f} 18V{bottom}", class_="line")
    looks = "generation missing" if begin.is_after_gap else "generation"
    yield element("text", hint, begin.label, x=left + 3, y=28, class_=looks)
    came = f"+{begin.joined}" if begin.joined else ""
    went = f"-{begin.left}" if begin.left else ""
    if came or went:
        yield element("text", hint, f"{came}{went}", x=left + 3, y=43, class_="change")
    if begin.moved:
        yield _moves(begin, left, hint, MOVES_HEIGHT / most)


def _moves(begin: Begin, left: float, hint: Markup, unit: float) -> Markup:
    """Return a bar as high as there were moves; what was not needed is filled."""
    bottom = MOVES_TOP + MOVES_HEIGHT
    top = bottom - unit * begin.moved
    bars = [
        element("rect", x=left + 1, y=top, width=7, height=bottom - top, class_="moved"),
        element("text", begin.moved, x=left + 10, y=bottom - 1, class_="small"),
    ]
    if begin.needless:
        filled = unit * begin.needless
        bars.append(
            element("rect", x=left + 1, y=top, width=7, height=filled, class_="needless"),
        )
    return element("g", hint, *bars, class_="mark")


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
