"""The chart of one life: which member owned which partition, and every rebalance above it.

Time runs from left to right on one scale for the whole chart. From top to bottom: the time of day,
the generation, members that joined and left, partitions that moved, findings, and the pause of the
rebalance; a row for each partition, with a bar for each interval in which a member owned it; the
smallest, the largest and the best possible load. A gap between bars is time in which no member
owned the partition.

Here is only geometry, in pixels, and text; `chart.html` makes SVG of it. Every mark has its
tooltip as an SVG title, so that it can be read without the script. The script also shows it on
touch and to the keyboard. `group_details` lists the same intervals as a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from assignors.replay.report.formats import (
    clock,
    count,
    date,
    duration,
    generation_name,
    shortened,
    shortened_name,
    value_range,
)
from assignors.replay.report.member_styles import MemberStyle
from assignors.replay.report.time_scale import TimeScale, time_scale
from assignors.replay.report.view_model import LifeView, Limits, Words
from assignors.replay.tables.rows import AssignmentRow, FindingRow, GenerationRow
from wire.text import utf16_key

ROW, TOPIC_GAP = 15, 5
"""Pixels of a partition's row, and between two topics."""

ROWS_HEIGHT = 102
"""Pixels of the rows above the partitions, as `chart.html` draws them."""

MOVES_BOTTOM, MOVES_HEIGHT = 68, 20
"""Pixels: where the bars of the moves stand, and the height of the tallest."""

TIME_WIDTH = 54
"""Pixels of a time of day: one that is closer to the one before is not printed."""

SHORTENED_WIDTH = 110
"""Pixels that an interval needs for its duration, beside the finding at its begin."""

LOADS_HEIGHT, LOADS_MARGIN_TOP, LOADS_MARGIN_BOTTOM = 66, 12, 4
"""Pixels of the row of the loads, and of its margins."""

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
class Mark:
    """Something that is drawn, in pixels, with its tooltip; not every mark has all of this."""

    x: float
    title: str
    text: str = ""
    width: float = 0.0
    top: float = 0.0
    height: float = 0.0
    css_class: str = ""
    member: int = 0
    """The number of the member that a bar is of."""
    line: float | None = None
    """Of a load, where the best possible maximum is; of moves, the height of the unnecessary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationMark:
    """The generations that begin at one time: they are drawn as one."""

    mark: Mark
    """Its text is the generation, or the first and the last of them."""
    membership: str
    """How many members joined and left, as `+2-1`."""
    moves: Mark | None
    """A bar for the partitions that moved."""


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
class PartitionRow:
    """The bars of one partition."""

    top: int
    label: str
    """The partition, with its topic in the topic's first row."""
    title: str
    bars: Sequence[Mark]


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
    times: Sequence[Mark]
    shortened: Sequence[Mark]
    """Durations of the intervals that are drawn shorter than to scale."""
    generations: Sequence[GenerationMark]
    findings: Sequence[FindingMark]
    pauses: Sequence[Mark]
    partitions: Sequence[PartitionRow]
    partitions_top: int
    partitions_bottom: int
    loads: Sequence[Mark]
    """A band from the smallest to the largest load for each generation."""
    load_axis: float
    """Where a load of 0 is."""
    load_max: int
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
        times=list(_times(shown.scale, has_dates=life.words.has_dates)),
        shortened=list(_shortened(shown.scale)),
        generations=list(_generations(generations, shown.scale, life.words)),
        findings=list(_findings(life, limits, generations, shown.scale, anchor)),
        pauses=[
            _pause(row, row.pause_ms, shown.scale, is_estimate=life.words.has_estimates)
            for row in generations
            if row.pause_ms
        ],
        partitions=list(_partition_rows(shown, tops, styles)),
        partitions_top=ROWS_HEIGHT,
        partitions_bottom=bottom,
        loads=list(_loads(generations, shown.scale, bottom)),
        load_axis=bottom + LOADS_HEIGHT - LOADS_MARGIN_BOTTOM + 1,
        load_max=max((row.load_max for row in generations), default=0),
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


def _bar(row: AssignmentRow, scale: TimeScale, style: MemberStyle) -> Mark:
    left = scale.at(row.from_ms)
    right = scale.width if row.to_ms is None else scale.at(row.to_ms)
    width = max(right - left, 1.5)
    double = " double" if row.is_double else ""
    uncertain = "" if row.is_certain else " uncertain"
    return Mark(
        x=left,
        width=width,
        css_class=f"bar {style.css_class}{double}{uncertain}",
        member=style.number,
        text=str(style.number) if width >= NUMBER_WIDTH else "",
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


def _times(scale: TimeScale, *, has_dates: bool) -> Iterator[Mark]:
    """Yield times of day where there is enough space for them."""
    free_from = -1.0
    for interval in scale.intervals:
        if interval.left < free_from:
            continue
        free_from = interval.left + TIME_WIDTH
        time = clock(interval.from_ms)
        yield Mark(
            x=interval.left + 2,
            text=time.partition(".")[0],
            title=f"{date(interval.from_ms)} {time}" if has_dates else time,
        )


def _shortened(scale: TimeScale) -> Iterator[Mark]:
    """Yield the duration of each interval that is drawn much shorter than to scale."""
    for interval in scale.intervals:
        if interval.is_shortened and interval.right - interval.left > SHORTENED_WIDTH:
            lasted = duration(interval.to_ms - interval.from_ms)
            yield Mark(
                x=(interval.left + interval.right) / 2,
                text=f"// {lasted} //",
                title=f"{lasted}, drawn shorter than to scale",
            )


def _generations(
    generations: Sequence[GenerationRow], scale: TimeScale, words: Words
) -> Iterator[GenerationMark]:
    simultaneous = [tuple(rows) for _, rows in groupby(generations, key=lambda row: row.at_ms)]
    moved_max = max((sum(row.moved for row in rows) for rows in simultaneous), default=0)
    for rows in simultaneous:
        joined = sum(len(row.joined) for row in rows)
        left = sum(len(row.left) for row in rows)
        mark = Mark(
            x=scale.at(rows[0].at_ms),
            text=value_range(rows[0].generation, rows[-1].generation),
            title="; ".join(generation_text(row, words) for row in rows),
            css_class=" missing" if any(row.missing_before for row in rows) else "",
        )
        membership = (f"+{joined}" if joined else "") + (f"-{left}" if left else "")
        moves = _moves(rows, mark, moved_max)
        yield GenerationMark(mark=mark, membership=membership, moves=moves)


def _moves(rows: Sequence[GenerationRow], mark: Mark, moved_max: int) -> Mark | None:
    moved = sum(row.moved for row in rows)
    if not moved:
        return None
    unnecessary = sum(
        max(row.moved - row.moved_minimum, 0) for row in rows if row.moved_minimum is not None
    )
    height = MOVES_HEIGHT * moved / moved_max
    return Mark(
        x=mark.x,
        title=mark.title,
        text=str(moved),
        top=MOVES_BOTTOM - height,
        height=height,
        line=MOVES_HEIGHT * unnecessary / moved_max,
    )


def _pause(row: GenerationRow, pause_ms: int, scale: TimeScale, *, is_estimate: bool) -> Mark:
    left = scale.at(row.at_ms - pause_ms)
    name = f"{generation_name(row.kind)} {row.generation}"
    return Mark(
        x=left,
        width=max(scale.at(row.at_ms) - left, 1.5),
        title=f"{name}: the rebalance paused the group for {duration(pause_ms)} (estimate)"
        if is_estimate
        else f"{name}: the rebalance took {duration(pause_ms)}",
    )


def _findings(
    life: LifeView,
    limits: Limits,
    generations: Sequence[GenerationRow],
    scale: TimeScale,
    anchor: str,
) -> Iterator[FindingMark]:
    """Yield a mark for each time at which a finding occurred: how many, and of which kinds."""
    findings: Sequence[FindingRow] = life.findings[: limits.findings]
    name = life.words.finding
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


def load_text(row: GenerationRow) -> str:
    """Return the tooltip of a generation's loads."""
    best = ""
    if row.load_max_optimum is not None:
        best = f"; best possible maximum load {row.load_max_optimum:,}"
    loads = value_range(row.load_min, row.load_max)
    return f"generation {row.generation}: {loads} partitions per member{best}"


def _loads(generations: Sequence[GenerationRow], scale: TimeScale, top: int) -> Iterator[Mark]:
    axis_y = top + LOADS_HEIGHT - LOADS_MARGIN_BOTTOM
    loads = [max(row.load_max, row.load_max_optimum or 0) for row in generations]
    load_max = max(loads, default=0)
    if not load_max:
        return
    unit = (LOADS_HEIGHT - LOADS_MARGIN_TOP - LOADS_MARGIN_BOTTOM) / load_max
    ends = [*(scale.at(row.at_ms) for row in generations[1:]), scale.width]
    for row, right in zip(generations, ends, strict=True):
        left = scale.at(row.at_ms)
        if not row.member_count or right <= left:
            continue
        best = row.load_max_optimum
        yield Mark(
            x=left,
            width=right - left,
            top=axis_y - unit * row.load_max - 1,
            height=unit * (row.load_max - row.load_min) + 2,
            line=None if best is None else axis_y - unit * best,
            title=load_text(row),
        )
