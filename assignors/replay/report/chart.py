"""The chart of one life: which member owned which partition, and every rebalance above it.

Time runs from left to right on one scale for the whole chart. From top to bottom: the rows of
`rebalance_rows`; a row for each partition, with a bar for each interval in which a member owned
it; then the loads of `load_chart`. A gap between bars is time in which no member owned the
partition.

Here is only geometry, in pixels, and text; `chart.html` makes SVG of it. Every mark has its
tooltip as an SVG title, so that it can be read without the script. The script also shows it on
touch and to the keyboard. `group_details` lists the same intervals as a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assignors.replay.report.formats import (
    clock,
    duration,
    generation_name,
    shortened,
    shortened_name,
)
from assignors.replay.report.load_chart import LOADS_HEIGHT, LoadChart, load_chart
from assignors.replay.report.member_styles import MemberStyle
from assignors.replay.report.rebalance_rows import (
    ROWS_HEIGHT,
    RebalanceRows,
    rebalance_rows,
)
from assignors.replay.report.time_scale import TimeScale, time_scale
from assignors.replay.report.view_model import LifeView, Limits, Words
from assignors.replay.tables.rows import AssignmentRow
from wire.text import utf16_key

ROW, TOPIC_GAP = 15, 5
"""Pixels of a partition's row, and between two topics."""

RIGHT_MARGIN = 32
"""Pixels that the last time of day needs on the right."""

LABEL_MAX = 18
"""Characters of a partition's label."""

NUMBER_WIDTH = 18
"""Pixels that a bar needs to have its member's number in it."""

STRIP_WIDTH, STRIP_OVERLAP = 640, 56
"""Pixels of a strip, and of what two strips share: what one cuts in two is whole in the other."""

LEGEND_MAX = 24
"""Members in a legend."""

ENDINGS: Mapping[str | None, str] = {
    "moved": "assigned to another member",
    "left": "the member left",
    "withheld": "assigned to no member",
    "group-ended": "the group ended",
    "converted": "the group changed its protocol",
    None: "still owned at the end of the records",
}
"""`AssignmentRow.ended_by` in words: what came after the interval."""

Place = tuple[str, int]
"""A topic and the number of a partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """An interval in which a member owned a partition."""

    x: float
    width: float
    css_class: str
    member: int
    """The member's number."""
    has_number: bool
    """Whether the number fits into the bar."""
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRow:
    """The bars of one partition."""

    top: int
    label: str
    """The partition, with its topic in the topic's first row."""
    title: str
    bars: Sequence[Bar]


@dataclass(frozen=True, slots=True)
class Strip:
    """A part of a chart that fits on paper, in pixels of the chart."""

    left: int
    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """What the chart of one life shows."""

    width: int
    """Pixels of the drawing, the labels on its left apart."""
    height: int
    rows_width: float
    generation_count: int
    generation_label: str
    words: Words
    knows_unnecessary_moves: bool
    """Whether the moves that were unnecessary are filled."""
    rebalances: RebalanceRows
    partitions: Sequence[PartitionRow]
    partitions_top: int
    partitions_bottom: int
    loads: LoadChart
    legend: Sequence[MemberStyle]
    legend_omitted_count: int
    """Members that have a bar, but no place in the legend."""
    omitted: str | None
    """A sentence about generations and partitions that are not shown."""
    anchor: str
    """Begins the ids of its parts on the page."""
    strips: Sequence[Strip]
    """The parts into which a printed chart is cut, from left to right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Selection:
    """What of a life is shown."""

    scale: TimeScale
    first: int
    """The place of the first generation that is shown."""
    partitions: Mapping[Place, Sequence[AssignmentRow]]
    """The partitions that are shown, each with its intervals by time."""
    partitions_omitted: int


def chart(
    life: LifeView, limits: Limits, styles: Mapping[str, MemberStyle], *, anchor: str
) -> Chart | None:
    """Return the chart of a life, or `None` where nothing of it is recorded.

    `anchor` is unique among the charts of a page.

    Cost: linear in the rows of the life, and the sort of its partitions.
    """
    shown = _selection(life, limits)
    if shown is None:
        return None
    generations = life.generations[shown.first :]
    tops = dict(_tops(shown.partitions))
    bottom = max(tops.values(), default=ROWS_HEIGHT - ROW) + ROW
    members = {row.member_id for rows in shown.partitions.values() for row in rows}
    width = round(shown.scale.width) + RIGHT_MARGIN
    legend = sorted((styles[member] for member in members), key=lambda style: style.number)
    return Chart(
        width=width,
        height=bottom + LOADS_HEIGHT,
        rows_width=shown.scale.width,
        generation_count=len(generations),
        generation_label=generation_name(life.row.kind),
        words=life.words,
        knows_unnecessary_moves=any(row.moved_minimum is not None for row in generations),
        rebalances=rebalance_rows(
            generations,
            life.findings[: limits.findings],
            shown.scale,
            anchor=anchor,
            words=life.words,
        ),
        partitions=list(_partition_rows(shown, tops, styles)),
        partitions_top=ROWS_HEIGHT,
        partitions_bottom=bottom,
        loads=load_chart(generations, shown.scale, top=bottom),
        legend=legend[:LEGEND_MAX],
        legend_omitted_count=max(len(legend) - LEGEND_MAX, 0),
        omitted=_omitted(life, shown),
        anchor=anchor,
        strips=list(strips(width)),
    )


def strips(width: int) -> Iterator[Strip]:
    """Yield the parts of a chart of this width: all of one width, the same overlap between two.

    >>> [(strip.left, strip.width) for strip in strips(992)]
    [(0, 524), (468, 524)]
    """
    step_max = STRIP_WIDTH - STRIP_OVERLAP
    number = max(-(-(width - STRIP_OVERLAP) // step_max), 1)
    step = -(-(width - STRIP_OVERLAP) // number)
    for position in range(number):
        yield Strip(left=position * step, width=step + STRIP_OVERLAP)


def bar_text(row: AssignmentRow, style: MemberStyle) -> str:
    """Return the tooltip of a bar."""
    until = row.to_ms
    end = "" if until is None else f" to {clock(until)} ({duration(until - row.from_ms)})"
    ending = ENDINGS.get(row.ended_by, row.ended_by)
    notes = "".join(f"; {note}" for note in interval_notes(row))
    return (
        f"{shortened_name(row.topic, 60)}-{row.partition}: {style.description}, "
        f"generation {row.from_generation}, from {clock(row.from_ms)}{end}, "
        f"{'' if until is None else 'then '}{ending}{notes}"
    )


def interval_notes(row: AssignmentRow) -> Iterator[str]:
    """Yield what a reader must know about an interval of ownership."""
    if row.is_double:
        yield "double-owned: another member owned it at the same time"
    if not row.is_certain:
        yield "some generations of this interval are not recorded"


def _selection(life: LifeView, limits: Limits) -> _Selection | None:
    first = max(len(life.generations) - limits.generations, 0)
    times = [row.at_ms for row in life.generations[first:]]
    if not first:
        times += [row.from_ms for row in life.assignments[:1]]
    if not times:
        return None
    begin_ms = min(times)
    by_place: dict[Place, list[AssignmentRow]] = {}
    for row in life.assignments:
        if row.to_ms is None or row.to_ms > begin_ms or not first:
            by_place.setdefault((row.topic, row.partition), []).append(row)
    # Partitions that moved most often are what a reader looks for.
    by_moves = sorted(by_place, key=lambda place: (-len(by_place[place]), *_order(place)))
    kept = sorted(by_moves[: limits.partitions], key=_order)
    return _Selection(
        scale=time_scale(times, end_ms=_end_ms(life)),
        first=first,
        partitions={place: sorted(by_place[place], key=lambda row: row.from_ms) for place in kept},
        partitions_omitted=len(by_place) - len(kept),
    )


def _end_ms(life: LifeView) -> int:
    """Return where the chart ends: a group may be empty for hours before it ends."""
    if life.generations and life.generations[-1].member_count:
        return life.end_ms
    times = [row.at_ms for row in life.generations[-1:]]
    times += [life.end_ms if row.to_ms is None else row.to_ms for row in life.assignments]
    return max(times, default=life.end_ms)


def _order(place: Place) -> tuple[bytes, int]:
    return utf16_key(place[0]), place[1]


def _tops(places: Iterable[Place]) -> Iterator[tuple[Place, int]]:
    """Yield where the row of each partition begins, with a gap between two topics."""
    top, before = ROWS_HEIGHT, None
    for topic, partition in places:
        if before is not None and topic != before:
            top += TOPIC_GAP
        before = topic
        yield (topic, partition), top
        top += ROW


def _partition_rows(
    shown: _Selection, tops: Mapping[Place, int], styles: Mapping[str, MemberStyle]
) -> Iterator[PartitionRow]:
    before = None
    for (topic, partition), rows in shown.partitions.items():
        suffix = f"-{partition}"
        label = f"{shortened_name(topic, LABEL_MAX - len(suffix))}{suffix}"
        yield PartitionRow(
            top=tops[topic, partition],
            label=str(partition) if topic == before else label,
            title=f"{shortened(topic)}{suffix}",
            bars=[_bar(row, shown.scale, styles[row.member_id]) for row in rows],
        )
        before = topic


def _bar(row: AssignmentRow, scale: TimeScale, style: MemberStyle) -> Bar:
    left = scale.at(row.from_ms)
    right = scale.width if row.to_ms is None else scale.at(row.to_ms)
    width = max(right - left, 1.5)
    double = " double" if row.is_double else ""
    uncertain = "" if row.is_certain else " uncertain"
    return Bar(
        x=left,
        width=width,
        css_class=f"bar {style.css_class}{double}{uncertain}",
        member=style.number,
        has_number=width >= NUMBER_WIDTH,
        title=bar_text(row, style),
    )


def _omitted(life: LifeView, shown: _Selection) -> str | None:
    missing = []
    if shown.first:
        missing.append(f"the first {shown.first:,} of {len(life.generations):,} generations")
    if shown.partitions_omitted:
        partition_count = shown.partitions_omitted + len(shown.partitions)
        missing.append(
            f"{shown.partitions_omitted:,} of {partition_count:,} partitions, "
            "those that moved least often"
        )
    return f"Not in the chart: {'; '.join(missing)}." if missing else None
