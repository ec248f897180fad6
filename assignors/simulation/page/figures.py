"""The tables that compare the runs of a scenario: a row a figure, a column a variant.

There are some twenty figures and seldom more than six variants, so a page shows them all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from assignors.replay.report.comparison import BAR_WIDTH
from assignors.replay.report.table_view import Column, Form, InlineBar, TableView, table_view
from assignors.simulation.timed.results import difference_text, figure_text, labels_of

Figures = Mapping[str, Mapping[str, Any]]
"""The summary row of each figure of one variant."""
Row = tuple[str, Sequence[object]]
"""The label of a figure, and its value in each variant."""

MEDIANS = "Medians over the seeds"


def comparison(summary: Iterable[Mapping[str, Any]]) -> TableView:
    """Return the medians of each variant, each with a bar; `summary` is of one group.

    One variant has nothing to be compared with, and no bars.
    """
    found = _by_variant(summary)
    settled = [each["is_settled"]["mean"] for each in found.values()]
    rows: list[tuple[str, list[InlineBar]]] = [
        ("runs", [_bar(str(each["events"]["runs"]), 0.0) for each in found.values()]),
        *((label, _medians(figure, found)) for figure, label in _labels(found).items()),
        ("settled", [_bar(_share(share) or "-", share or 0.0) for share in settled]),
    ]
    if len(found) == 1:
        numbers = [(label, [bar.text for bar in bars]) for label, bars in rows]
        return _table(found, numbers, Form.NUMBER, caption=MEDIANS)
    return _table(found, rows if found else (), Form.BAR, caption=MEDIANS)


def differences(summary: Iterable[Mapping[str, Any]]) -> TableView | None:
    """Return each variant's mean differences from the first one, seed by seed, with intervals.

    `None` where there is only one variant.
    """
    found = _by_variant(summary)
    if len(found) < 2:
        return None
    baseline, *rest = found
    others = {name: found[name] for name in rest}
    rows: list[Row] = [
        ("seeds in common", [each["events"]["pairs"] for each in others.values()]),
        *(
            (label, [difference_text(figure, each[figure]) for each in others.values()])
            for figure, label in _labels(found).items()
        ),
    ]
    caption = f"Mean difference from {baseline} over the same seeds, and its 95 % interval"
    return _table(others, rows, Form.NUMBER, caption=caption)


def _table(names: Iterable[str], rows: Iterable[Row], form: Form, *, caption: str) -> TableView:
    columns: list[Column[Row]] = [Column("figure", lambda row: row[0], Form.PROSE)]
    columns += [Column(name, _cell(place), form) for place, name in enumerate(names)]
    return table_view(columns, rows, caption=caption)


def _cell(place: int) -> Callable[[Row], object]:
    return lambda row: row[1][place]


def _by_variant(summary: Iterable[Mapping[str, Any]]) -> Mapping[str, Figures]:
    """Return the figures of each variant, in the order of the summary."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in summary:
        found.setdefault(str(row["variant"]), {})[row["figure"]] = row
    return found


def _labels(found: Mapping[str, Figures]) -> dict[str, str]:
    return labels_of(
        (figure, row["mean"]) for each in found.values() for figure, row in each.items()
    )


def _medians(figure: str, found: Mapping[str, Figures]) -> list[InlineBar]:
    values = [each[figure]["median"] for each in found.values()]
    largest = max((abs(value or 0) for value in values), default=0)
    return [
        _bar(figure_text(figure, value), max(abs(value or 0) / largest, 0.007) if largest else 0.0)
        for value in values
    ]


def _bar(text: str, share: float) -> InlineBar:
    return InlineBar(text=text, left=0.0, width=BAR_WIDTH * share)


def _share(value: float | None) -> str | None:
    return None if value is None else f"{100 * value:.0f} %"
