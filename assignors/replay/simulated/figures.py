"""The tables that compare the protocols of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from assignors.replay.report.comparison import BAR_WIDTH
from assignors.replay.report.table_view import Column, Form, InlineBar, TableView, table_view
from assignors.simulation.timed.tables.labels import figure_text, labels_of

Figures = tuple[str, Mapping[str, Mapping[str, Any]]]
"""A protocol, with its execution model if it has one, and the summary row of each figure."""


def comparison(summary: Iterable[Mapping[str, Any]]) -> TableView:
    """Return the medians of each protocol, a bar beside each; `summary` is of one group."""
    rows = _by_protocol(summary)
    labels = _labels(rows)
    columns: list[Column[Figures]] = [
        Column("protocol", lambda row: row[0], Form.NAME),
        Column("runs", lambda row: row[1]["events"]["runs"], Form.NUMBER),
        *(Column(label, _median(figure, rows), Form.BAR) for figure, label in labels.items()),
        Column("settled", lambda row: _share(row[1]["is_settled"]["mean"]), Form.NUMBER),
    ]
    return table_view(columns, rows, caption="Figures by protocol: medians over the seeds")


def differences(summary: Iterable[Mapping[str, Any]]) -> TableView | None:
    """Return each protocol's mean differences from the first one, seed by seed, with intervals.

    `None` where there is only one protocol.
    """
    rows = _by_protocol(summary)
    if len(rows) < 2:
        return None
    baseline, *others = rows
    columns: list[Column[Figures]] = [
        Column("protocol", lambda row: row[0], Form.NAME),
        Column("seeds in common", lambda row: row[1]["events"]["pairs"], Form.NUMBER),
        *(
            Column(label, _difference(figure), Form.NUMBER)
            for figure, label in _labels(rows).items()
        ),
    ]
    return table_view(
        columns,
        others,
        caption=f"Mean difference from {baseline[0]} over the same seeds, and its 95 % interval",
    )


def _by_protocol(summary: Iterable[Mapping[str, Any]]) -> list[Figures]:
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in summary:
        found.setdefault(str(row["variant"]), {})[row["figure"]] = row
    return list(found.items())


def _labels(rows: Iterable[Figures]) -> dict[str, str]:
    return labels_of((figure, found["mean"]) for row in rows for figure, found in row[1].items())


def _median(figure: str, rows: Iterable[Figures]) -> Callable[[Figures], InlineBar]:
    largest = max((abs(row[1][figure]["median"] or 0) for row in rows), default=0)

    def cell(row: Figures) -> InlineBar:
        value = row[1][figure]["median"]
        width = BAR_WIDTH * abs(value or 0) / largest if largest else 0.0
        return InlineBar(text=figure_text(figure, value), left=0.0, width=max(width, 0.5))

    return cell


def _difference(figure: str) -> Callable[[Figures], str | None]:
    def cell(row: Figures) -> str | None:
        found = row[1][figure]
        if found["difference"] is None:
            return None
        mean = figure_text(figure, found["difference"], signed=True)
        if found["difference_low"] is None:
            return mean
        low = figure_text(figure, found["difference_low"], signed=True)
        high = figure_text(figure, found["difference_high"], signed=True)
        return f"{mean} ({low} to {high})"

    return cell


def _share(value: float | None) -> str | None:
    return None if value is None else f"{100 * value:.0f} %"
