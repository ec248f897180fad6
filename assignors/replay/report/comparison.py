"""What other assignors would have done, compared with what happened.

The first row is what happened, the next ones an assignor each. Beside each figure stands a bar;
all bars of a column have the same scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from assignors.replay.report.formats import clock, number, partition_seconds, value_range
from assignors.replay.report.table_view import Column, Form, InlineBar, TableView, table_view
from assignors.replay.tables.rows import OutcomeRow

ACTUAL = "actual"
"""The name of the row, and of the column, of what happened."""

BAR_WIDTH = 72
"""Pixels of the longest bar, as in `table.html`."""


def comparison(sums: Sequence[OutcomeRow], *, caption: str) -> TableView:
    """Return what happened and what each assignor would have done, from one sum an assignor."""
    rows = [actual(sums[0]), *sums]
    moved_max = max(row.moved for row in rows)
    rounds_max = max(row.rounds for row in rows)
    load_max = max(row.load_max for row in rows)
    downtime_max = max(row.downtime_partition_ms or 0 for row in rows)
    columns: list[Column[OutcomeRow]] = [
        Column("assignor", lambda row: row.assignor, Form.NAME),
        Column(
            "rebalances", lambda row: _bar(number(row.rounds), row.rounds, rounds_max), Form.BAR
        ),
        Column("moves", lambda row: _bar(number(row.moved), row.moved, moved_max), Form.BAR),
        Column(
            "load per member",
            lambda row: _range_bar(row.load_min, row.load_max, load_max),
            Form.BAR,
        ),
        Column("largest balance gap", lambda row: number(row.balance_gap), Form.NUMBER),
        Column("unassigned", lambda row: number(row.unassigned), Form.NUMBER),
        Column(
            "downtime, partition-s",
            lambda row: _bar(
                partition_seconds(row.downtime_partition_ms),
                row.downtime_partition_ms or 0,
                downtime_max,
            ),
            Form.BAR,
        ),
        Column("error", lambda row: row.error, Form.PROSE),
    ]
    return table_view(columns, rows, caption=caption, first_row_class=ACTUAL)


def comparison_by_generation(outcomes: Sequence[OutcomeRow], *, limit: int) -> TableView | None:
    """Return moves and loads of the last `limit` generations, a column an assignor.

    `None` where there are no generations or `limit` is 0. Cost: linear in the rows.
    """
    by_generation: dict[int, dict[str, OutcomeRow]] = {}
    for row in outcomes:
        if row.generation is not None:
            by_generation.setdefault(row.generation, {})[row.assignor] = row
    if not by_generation or not limit:
        return None
    names = dict.fromkeys(name for rows in by_generation.values() for name in rows)
    columns: list[Column[Generation]] = [
        Column("generation", lambda pair: pair[0], Form.NUMBER),
        Column("time, UTC", lambda pair: clock(_any(pair).at_ms)),
        Column("members", lambda pair: _any(pair).member_count, Form.NUMBER),
        Column(
            ACTUAL,
            lambda pair: _moves_and_loads(actual(_any(pair))),
            Form.NUMBER,
        ),
        *(Column(name, _of_assignor(name), Form.NUMBER) for name in names),
    ]
    shown = list(by_generation.items())[-limit:]
    missing = len(by_generation) - len(shown)
    return table_view(
        columns,
        shown,
        caption="Moves and loads by generation",
        heading="Comparison by generation: moves · load per member",
        omitted=f"The first {missing:,} generations are not shown." if missing else None,
    )


def actual(row: OutcomeRow) -> OutcomeRow:
    """Return what happened as a row of its own, from a row that has both."""
    return replace(
        row,
        assignor=ACTUAL,
        rounds=row.actual_rounds,
        moved=row.actual_moved,
        load_min=row.actual_load_min,
        load_max=row.actual_load_max,
        balance_gap=row.actual_balance_gap,
        unassigned=row.actual_unassigned,
        downtime_partition_ms=row.actual_downtime_partition_ms,
        error=None,
    )


Generation = tuple[int, dict[str, OutcomeRow]]
"""The number of a generation, and its row of each assignor."""


def _any(generation: Generation) -> OutcomeRow:
    return next(iter(generation[1].values()))


def _of_assignor(name: str) -> Callable[[Generation], str | None]:
    def cell(generation: Generation) -> str | None:
        row = generation[1].get(name)
        return None if row is None else _moves_and_loads(row)

    return cell


def _moves_and_loads(row: OutcomeRow) -> str:
    return f"{row.moved:,} · {value_range(row.load_min, row.load_max)}"


def _bar(text: str, value: int, value_max: int) -> InlineBar:
    width = BAR_WIDTH * value / value_max if value_max else 0.0
    return InlineBar(text=text, left=0.0, width=max(width, 0.5))


def _range_bar(smallest: int, largest: int, value_max: int) -> InlineBar:
    """Return a bar that begins at the smallest value and ends at the largest."""
    left = BAR_WIDTH * smallest / value_max if value_max else 0.0
    right = BAR_WIDTH * largest / value_max if value_max else 0.0
    width = max(right - left, 3.0)
    return InlineBar(
        text=value_range(smallest, largest),
        left=min(left, BAR_WIDTH - width),
        width=width,
        has_axis=True,
    )
