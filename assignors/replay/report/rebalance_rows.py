"""The rows of a chart above its partitions: what happened at each rebalance.

From top to bottom: the time of day, the generation, members that joined and left, partitions that
moved, findings, and the pause of the rebalance. Here is where each mark stands, in pixels from
the left, and what its tooltip says; the heights of the rows are in `chart.html`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from assignors.replay.report.formats import (
    clock,
    count,
    date,
    duration,
    generation_name,
    value_range,
)
from assignors.replay.report.time_scale import TimeScale
from assignors.replay.report.view_model import RECORDED, Words
from assignors.replay.tables.rows import FindingRow, GenerationRow

ROWS_HEIGHT = 102
"""Pixels of all these rows, as `chart.html` draws them."""

MOVES_BOTTOM, MOVES_HEIGHT = 68, 20
"""Pixels: where the bars of the moves stand, and the height of the tallest."""

TIME_WIDTH = 54
"""Pixels of a time of day: one that is closer to the one before is not printed."""

SHORTENED_WIDTH = 110
"""Pixels that an interval needs for its duration, beside the finding at its begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A text in one of the rows, and its tooltip."""

    x: float
    text: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MovesBar:
    """A bar for the partitions that moved; its filled part are the moves that were unnecessary."""

    top: float
    height: float
    moved: int
    unnecessary_height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationMark:
    """The generations that begin at one time: they are drawn as one."""

    x: float
    text: str
    """The generation, or the first and the last of them."""
    title: str
    is_after_missing: bool
    """Whether generations directly before it are not recorded."""
    membership: str
    """How many members joined and left, as `+2-1`."""
    moves: MovesBar | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """The time that a rebalance took."""

    x: float
    width: float
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingMark:
    """All findings that occurred at one time: a link to the first of them in the table."""

    x: float
    title: str
    anchor: str
    """Its own id on the page."""
    findings: tuple[int, ...]
    """Their places among the findings of the life."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalanceRows:
    """The marks in the rows above the partitions."""

    times: Sequence[Label]
    shortened: Sequence[Label]
    """Durations of the intervals that are drawn shorter than to scale."""
    generations: Sequence[GenerationMark]
    findings: Sequence[FindingMark]
    pauses: Sequence[Pause]


def rebalance_rows(
    generations: Sequence[GenerationRow],
    findings: Sequence[FindingRow],
    scale: TimeScale,
    *,
    anchor: str = "",
    words: Words = RECORDED,
) -> RebalanceRows:
    """Return the marks of these generations and findings. Cost: linear, O(log) a mark.

    `anchor` begins the ids of the marks on the page.
    """
    simultaneous = [tuple(rows) for _, rows in groupby(generations, key=lambda row: row.at_ms)]
    moved_max = max((sum(row.moved for row in rows) for rows in simultaneous), default=0)
    return RebalanceRows(
        times=list(_times(scale, has_dates=words.has_dates)),
        shortened=list(_shortened(scale)),
        generations=[_generation_mark(rows, scale, moved_max, words) for rows in simultaneous],
        findings=list(_findings(findings, generations, scale, anchor, words.finding)),
        pauses=[
            _pause(row, row.pause_ms, scale, is_estimate=words.has_estimates)
            for row in generations
            if row.pause_ms
        ],
    )


def generation_text(row: GenerationRow, words: Words) -> str:
    """Return the tooltip of a generation."""
    assignor = f", {row.protocol}" if row.protocol else ""
    moved = count(row.moved, "partition") + " moved"
    if row.moved_minimum is not None:
        moved += f" (best balance: {row.moved_minimum:,})"
    missing = f"; {count(row.missing_before, 'generation')} before it not recorded"
    return (
        f"{generation_name(row.kind)} {row.generation} at {clock(row.at_ms)}: "
        f"{row.state}{assignor}, {count(row.member_count, words.members)}, "
        f"{len(row.joined)} {words.joined}, {len(row.left)} {words.left}, "
        f"{moved}{missing if row.missing_before else ''}"
    )


def _times(scale: TimeScale, *, has_dates: bool) -> Iterator[Label]:
    """Yield times of day where there is enough space for them."""
    free_from = -1.0
    for interval in scale.intervals:
        if interval.left < free_from:
            continue
        free_from = interval.left + TIME_WIDTH
        time = clock(interval.from_ms)
        yield Label(
            x=interval.left + 2,
            text=time.partition(".")[0],
            title=f"{date(interval.from_ms)} {time}" if has_dates else time,
        )


def _shortened(scale: TimeScale) -> Iterator[Label]:
    """Yield the duration of each interval that is drawn much shorter than to scale."""
    for interval in scale.intervals:
        if interval.is_shortened and interval.right - interval.left > SHORTENED_WIDTH:
            lasted = duration(interval.to_ms - interval.from_ms)
            yield Label(
                x=(interval.left + interval.right) / 2,
                text=f"// {lasted} //",
                title=f"{lasted}, drawn shorter than to scale",
            )


def _generation_mark(
    rows: Sequence[GenerationRow], scale: TimeScale, moved_max: int, words: Words
) -> GenerationMark:
    joined = sum(len(row.joined) for row in rows)
    left = sum(len(row.left) for row in rows)
    return GenerationMark(
        x=scale.at(rows[0].at_ms),
        text=value_range(rows[0].generation, rows[-1].generation),
        title="; ".join(generation_text(row, words) for row in rows),
        is_after_missing=any(row.missing_before for row in rows),
        membership=(f"+{joined}" if joined else "") + (f"-{left}" if left else ""),
        moves=_moves(rows, moved_max),
    )


def _moves(rows: Sequence[GenerationRow], moved_max: int) -> MovesBar | None:
    moved = sum(row.moved for row in rows)
    if not moved:
        return None
    unnecessary = sum(
        max(row.moved - row.moved_minimum, 0) for row in rows if row.moved_minimum is not None
    )
    height = MOVES_HEIGHT * moved / moved_max
    return MovesBar(
        top=MOVES_BOTTOM - height,
        height=height,
        moved=moved,
        unnecessary_height=MOVES_HEIGHT * unnecessary / moved_max,
    )


def _pause(row: GenerationRow, pause_ms: int, scale: TimeScale, *, is_estimate: bool) -> Pause:
    left = scale.at(row.at_ms - pause_ms)
    name = f"{generation_name(row.kind)} {row.generation}"
    return Pause(
        x=left,
        width=max(scale.at(row.at_ms) - left, 1.5),
        title=f"{name}: the rebalance paused the group for {duration(pause_ms)} (estimate)"
        if is_estimate
        else f"{name}: the rebalance took {duration(pause_ms)}",
    )


def _findings(
    findings: Sequence[FindingRow],
    generations: Sequence[GenerationRow],
    scale: TimeScale,
    anchor: str,
    name: str,
) -> Iterator[FindingMark]:
    """Yield a mark for each time at which a finding occurred: how many, and of which kinds."""
    begun = {row.generation: row.at_ms for row in generations}
    by_time: dict[int, list[int]] = {}
    for place, row in enumerate(findings):
        times = {row.at_ms, *(begun[number] for number in row.generations if number in begun)}
        for at_ms in times:
            if at_ms >= scale.from_ms:
                by_time.setdefault(at_ms, []).append(place)
    for position, (at_ms, places) in enumerate(sorted(by_time.items())):
        kinds = ", ".join(dict.fromkeys(findings[place].kind for place in places))
        evidence = findings[places[0]].evidence
        yield FindingMark(
            x=scale.at(at_ms) + 5,
            title=f"{count(len(places), name)} at {clock(at_ms)}: {kinds}. {evidence}",
            anchor=f"{anchor}-at-{position}",
            findings=tuple(places),
        )
