"""The chart of one life: who held which partition when, and what happened above it.

Time runs from left to right over all of it, on one scale. From top to bottom: generations, who
joined and left, how many partitions moved, findings; then a row a partition with a bar for
each interval a member held it; then how the loads were spread. Bars are real intervals of the
records: a gap is time in which nobody had the partition.

Every mark carries its sentence as the title of its own, so that it can be read without the
script; the script shows it on touch and to the keyboard. `details` has the same as a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assignors.replay.history.model import Kind
from assignors.replay.report.lanes import FINDINGS_TOP, LANES, PAUSE_TOP, lanes
from assignors.replay.report.loads import LOADS_HEIGHT, loads
from assignors.replay.report.markup import Markup, element, shortened, together
from assignors.replay.report.member_styles import MemberStyle
from assignors.replay.report.scale import Scale, scale_of
from assignors.replay.report.view_model import LifeView, Limits
from assignors.replay.report.wording import clock, span
from assignors.replay.tables.rows import AssignmentRow, GenerationRow
from wire.text import utf16_key

ROW, BAR, TOPIC_GAP = 15, 12, 5
"""Pixels of a partition's row, of the bar in it, and between topics."""

GUTTER = 128
"""Pixels of the labels on the left, which stay while the chart scrolls."""

MARGIN = 32
"""Pixels on the right, where the last time of day ends."""

LABEL_MAX = 18
"""Characters of a label."""

NUMBER_WIDTH = 18
"""Pixels of a bar from which on its member's number fits in."""

ENDINGS: Mapping[str | None, str] = {
    "moved": "then another member had it",
    "left": "then the member left",
    "withheld": "then nobody had it",
    "group-ended": "then the group ended",
    None: "held to the end of the records",
}
"""`AssignmentRow.ended_by` in words."""

Place = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The part of a life that its chart shows."""

    scale: Scale
    generations: Sequence[GenerationRow]
    generations_left_out: int
    rows: Mapping[Place, Sequence[AssignmentRow]]
    """Partitions in order, each with its intervals by time."""
    partitions_left_out: int

    @property
    def members(self) -> set[str]:
        """Ids of the members that have a bar."""
        return {one.member_id for held in self.rows.values() for one in held}


def window(life: LifeView, limits: Limits) -> Window | None:
    """Return what of a life is shown, or `None` where there is nothing to draw."""
    shown = life.generations[-limits.generations :]
    missing = len(life.generations) - len(shown)
    times = [row.at_ms for row in shown]
    if not missing:
        times += [row.from_ms for row in life.assignments[:1]]
    if not times:
        return None
    begin = min(times)
    held: dict[Place, list[AssignmentRow]] = {}
    for row in life.assignments:
        if row.to_ms is None or row.to_ms > begin or not missing:
            held.setdefault((row.topic, row.partition), []).append(row)
    # Those that changed hands most, and among them the first: what one looks for is there.
    busiest = sorted(held, key=lambda place: (-len(held[place]), *_order(place)))
    kept = sorted(busiest[: limits.partitions], key=_order)
    return Window(
        scale=scale_of(times, end_ms=_end_ms(life)),
        generations=shown,
        generations_left_out=missing,
        rows={place: sorted(held[place], key=lambda row: row.from_ms) for place in kept},
        partitions_left_out=len(held) - len(kept),
    )


def chart(life: LifeView, shown: Window, people: Mapping[str, MemberStyle]) -> Markup:
    """Return the chart: labels that stay and a drawing that scrolls.

    Cost: linear in what is shown.
    """
    tops = dict(_tops(shown.rows))
    rows_bottom = LANES + _height(tops)
    height = rows_bottom + LOADS_HEIGHT
    drawing = element(
        "svg",
        lanes(shown.generations, life.anomalies, shown.scale, bottom=rows_bottom),
        *(_row(shown.rows[place], top, shown.scale, people) for place, top in tops.items()),
        loads(shown.generations, shown.scale, top=rows_bottom),
        width=round(shown.scale.width) + MARGIN,
        height=height,
        role="img",
        aria_label=(
            f"Who held which partition, over {len(shown.generations)} generations; "
            "the table below says the same"
        ),
    )
    return element(
        "div",
        element(
            "div",
            _gutter(tops, shown.generations, rows_bottom, height),
            element(
                "div",
                drawing,
                class_="scroll",
                tabindex=0,
                role="group",
                aria_label="Chart: arrow keys read it bar by bar",
            ),
            class_="chart",
        ),
        element(
            "p",
            "Point at a bar to read it, or go through them with the arrow keys. Moves are filled "
            "where none was needed; dashes among the loads are the best that could be had.",
            class_="readout",
            aria_live="polite",
        ),
    )


def _end_ms(life: LifeView) -> int:
    """Return where the chart ends: not with the hours in which a group waits for its end."""
    if life.generations and life.generations[-1].member_count:
        return life.end_ms
    times = [row.at_ms for row in life.generations[-1:]]
    times += [life.end_ms if row.to_ms is None else row.to_ms for row in life.assignments]
    return max(times, default=life.end_ms)


def _order(place: Place) -> tuple[bytes, int]:
    return utf16_key(place[0]), place[1]


def _tops(places: Iterable[Place]) -> Iterator[tuple[Place, int]]:
    """Yield where the row of each partition begins, a little apart where the topic changes."""
    top, topic = LANES, None
    for place in places:
        if topic is not None and place[0] != topic:
            top += TOPIC_GAP
        topic = place[0]
        yield place, top
        top += ROW


def _height(tops: Mapping[Place, int]) -> int:
    return max(tops.values(), default=LANES - ROW) + ROW - LANES


def _row(
    held: Sequence[AssignmentRow], top: int, scale: Scale, people: Mapping[str, MemberStyle]
) -> Markup:
    """Return the bars of one partition."""
    track = element("rect", y=top + 1, width=scale.width, height=BAR, class_="track")
    bars = together(_bar(row, top, scale, people[row.member_id]) for row in held)
    return element("g", track, bars, class_="row")


def _bar(row: AssignmentRow, top: int, scale: Scale, person: MemberStyle) -> Markup:
    left = scale.at(row.from_ms)
    right = scale.width if row.to_ms is None else scale.at(row.to_ms)
    width = max(right - left, 1.5)
    looks = ["bar", person.look]
    looks += ["double"] if row.is_double else []
    looks += [] if row.is_certain else ["uncertain"]
    bar = element(
        "rect",
        element("title", bar_text(row, person)),
        x=left,
        y=top + 1,
        width=width,
        height=BAR,
        class_=" ".join(looks),
        data_member=person.number,
    )
    if width < NUMBER_WIDTH:
        return bar
    number = element("text", person.number, x=left + 4, y=top + 10.5, class_="in-bar-left")
    return together([bar, number])


def bar_text(row: AssignmentRow, person: MemberStyle) -> str:
    """Return what a bar says, as a sentence."""
    until = row.to_ms
    lasted = "" if until is None else f" to {clock(until)} ({span(until - row.from_ms)})"
    ending = ENDINGS.get(row.ended_by, str(row.ended_by))
    if row.is_double:
        ending += "; another member held it at the same time"
    if not row.is_certain:
        ending += "; generations are missing in between"
    return (
        f"{shortened(row.topic, 60)}-{row.partition}: {person.said}, "
        f"generation {row.from_generation}, from {clock(row.from_ms)}{lasted}, {ending}"
    )


def _gutter(
    tops: Mapping[Place, int], generations: Sequence[GenerationRow], bottom: int, height: int
) -> Markup:
    """Return the labels of the lanes and rows: a topic's name at its first row alone."""
    is_classic = all(row.kind == Kind.CLASSIC for row in generations)
    labels = [
        _label(said, y)
        for said, y in (
            ("time, UTC", 12),
            ("generation" if is_classic else "group epoch", 28),
            ("joined, left", 43),
            ("moved", 62),
            ("findings", FINDINGS_TOP + 8),
            ("pause", PAUSE_TOP + 7),
        )
    ]
    before = None
    for (topic, partition), top in tops.items():
        number = f"-{partition}"
        said = f"{shortened(topic, LABEL_MAX - len(number))}{number}"
        labels.append(
            _label(
                number[1:] if topic == before else said,
                top + 10.5,
                title=f"{shortened(topic)}{number}",
            )
        )
        before = topic
    most = max((row.load_max for row in generations), default=0)
    labels.append(_label(f"load, most {most}", bottom + 20))
    labels.append(_label("0", bottom + LOADS_HEIGHT - 4))
    return element("svg", *labels, width=GUTTER, height=height, class_="gutter", aria_hidden="true")


def _label(said: str, y: float, title: str | None = None) -> Markup:
    hint = None if title is None else element("title", title)
    return element("text", hint, said, x=GUTTER - 8, y=y, class_="label")
