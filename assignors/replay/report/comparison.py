"""What another assignor would have done, beside what happened.

A row for what happened, a row for each that was tried, and beside each figure a bar on one
scale down the column: side by side on paper is one under the other on a page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from assignors.replay.report.listing import (
    Column,
    figure,
    left_out,
    prose,
    table,
    text,
    unfolding,
)
from assignors.replay.report.markup import Markup, element, together
from assignors.replay.report.wording import clock, extent, number, partition_seconds
from assignors.replay.tables.rows import OutcomeRow

HAPPENED = "what happened"

BAR_WIDTH, BAR_HEIGHT = 72, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """One row: what happened, or what would have."""

    name: str
    rounds: int
    moved: int
    load_min: int
    load_max: int
    balance_gap: int | None
    unassigned: int
    downtime_partition_ms: int | None
    error: str | None = None


def side_by_side(sums: Sequence[OutcomeRow], *, caption: str) -> Markup:
    """Return the table of what happened and what was tried, from rows that sum up."""
    rows = [happened(sums[0]), *map(tried, sums)]
    moved = max(row.moved for row in rows)
    rounds = max(row.rounds for row in rows)
    load = max(row.load_max for row in rows)
    down = max(row.downtime_partition_ms or 0 for row in rows)
    columns: list[Column[Figures]] = [
        text("assignor", lambda row: element("bdi", row.name, class_="name")),
        figure("rounds", lambda row: _with_bar(number(row.rounds), row.rounds, rounds)),
        figure("moves", lambda row: _with_bar(number(row.moved), row.moved, moved)),
        figure("loads", lambda row: _with_range(row.load_min, row.load_max, load)),
        figure("worst gap", lambda row: number(row.balance_gap)),
        figure("unassigned", lambda row: number(row.unassigned)),
        figure(
            "down, partition-s",
            lambda row: _with_bar(
                partition_seconds(row.downtime_partition_ms), row.downtime_partition_ms or 0, down
            ),
        ),
        prose("could not", lambda row: row.error),
    ]
    return table(
        columns,
        rows,
        caption=caption,
        row_class=lambda row: "happened" if row.name == HAPPENED else None,
    )


def what_if(outcomes: Sequence[OutcomeRow], *, limit: int) -> Markup:
    """Return the comparison of one life: the sums, and the last `limit` generations on demand."""
    sums = [row for row in outcomes if row.generation is None]
    if not sums:
        return together([])
    inferred = (
        left_out("Partition counts are inferred from the group's own history.")
        if any(row.counts_inferred for row in sums)
        else None
    )
    return element(
        "section",
        side_by_side(sums, caption="What if"),
        inferred,
        _by_generation(outcomes, limit=limit),
        class_="what-if",
    )


def happened(row: OutcomeRow) -> Figures:
    """Return what happened, as a row of what was tried tells it beside."""
    return Figures(
        name=HAPPENED,
        rounds=row.actual_rounds,
        moved=row.actual_moved,
        load_min=row.actual_load_min,
        load_max=row.actual_load_max,
        balance_gap=row.actual_balance_gap,
        unassigned=row.actual_unassigned,
        downtime_partition_ms=row.actual_downtime_partition_ms,
    )


def tried(row: OutcomeRow) -> Figures:
    """Return what would have happened."""
    return Figures(
        name=row.assignor,
        rounds=row.rounds,
        moved=row.moved,
        load_min=row.load_min,
        load_max=row.load_max,
        balance_gap=row.balance_gap,
        unassigned=row.unassigned,
        downtime_partition_ms=row.downtime_partition_ms,
        error=row.error,
    )


Step = tuple[int, Mapping[str, OutcomeRow]]
"""A generation's number, and its row by assignor."""


def _by_generation(outcomes: Iterable[OutcomeRow], *, limit: int) -> Markup | None:
    """Return moves and loads of each generation, an assignor beside the other."""
    steps: dict[int, dict[str, OutcomeRow]] = {}
    for row in outcomes:
        if row.generation is not None:
            steps.setdefault(row.generation, {})[row.assignor] = row
    if not steps or not limit:
        return None
    names = list(dict.fromkeys(name for rows in steps.values() for name in rows))
    columns: list[Column[Step]] = [
        figure("generation", lambda step: step[0]),
        text("at, UTC", lambda step: clock(_any(step).at_ms)),
        figure("members", lambda step: _any(step).member_count),
        figure(HAPPENED, lambda step: _moves_and_loads(happened(_any(step)))),
        *(figure(name, _of_assignor(name)) for name in names),
    ]
    shown = list(steps.items())[-limit:]
    missing = len(steps) - len(shown)
    return unfolding(
        "Generation by generation: moves · loads",
        left_out(f"The first {missing:,} generations are left out.") if missing else None,
        table(columns, shown, caption="Moves and loads by generation", is_captioned=False),
    )


def _of_assignor(name: str) -> Callable[[Step], str | None]:
    def cell(step: Step) -> str | None:
        row = step[1].get(name)
        return None if row is None else _moves_and_loads(tried(row))

    return cell


def _any(step: Step) -> OutcomeRow:
    return next(iter(step[1].values()))


def _moves_and_loads(row: Figures) -> str:
    return f"{row.moved:,} · {extent(row.load_min, row.load_max)}"


def _with_bar(said: str, value: int, most: int) -> Markup:
    width = BAR_WIDTH * value / most if most else 0.0
    bar = element("rect", y=1, width=max(width, 0.5), height=BAR_HEIGHT - 2, class_="amount")
    return _drawn(said, bar)


def _with_range(least: int, most: int, scale: int) -> Markup:
    """Return a range of loads as a bar that begins at the least."""
    left = BAR_WIDTH * least / scale if scale else 0.0
    right = BAR_WIDTH * most / scale if scale else 0.0
    floor = element("path", d=f"M0 {BAR_HEIGHT / 2}H{BAR_WIDTH}", class_="line")
    width = max(right - left, 3)
    left = min(left, BAR_WIDTH - width)
    bar = element("rect", x=left, y=1, width=width, height=BAR_HEIGHT - 2, class_="amount")
    return _drawn(extent(least, most), floor, bar)


def _drawn(said: str, *marks: Markup) -> Markup:
    drawing = element(
        "svg", *marks, width=BAR_WIDTH, height=BAR_HEIGHT, class_="beside", aria_hidden="true"
    )
    return together([said, drawing])
