"""Tables as the template `table.html` draws them: columns, and a plain value a cell.

A `Column` has a header, a function from a row to the value of its cell, and a `Form`, by which
the template decides how the value is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from assignors.replay.report.formats import NONE

Row = TypeVar("Row")


class Form(StrEnum):
    """How a cell is drawn, and of which type its value is."""

    TEXT = "text"
    """One line of text: `str` or `None`."""
    NUMBER = "number"
    """Aligned to the right: `str`, `int` or `None`."""
    PROSE = "prose"
    """Text that wraps: `str` or `None`."""
    NAME = "name"
    """A name from the records, in any script and of any length: `str` or `None`."""
    MEMBER = "member"
    """A member's colour and number: `MemberStyle`."""
    FINDING_KIND = "finding-kind"
    """A button that searches for the groups with this kind of finding: `str`."""
    LINK = "link"
    """Text that leads to a place on the page: `Link` or `None`."""
    BAR = "bar"
    """A number with a bar beside it: `InlineBar`."""


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """A header, and how the cell of a row is made and drawn."""

    header: str
    cell: Callable[[Row], object]
    form: Form = Form.TEXT

    @property
    def css_class(self) -> str | None:
        """The class of its cells."""
        if self.form in {Form.NUMBER, Form.BAR}:
            return "number"
        return "prose" if self.form is Form.PROSE else None


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineBar:
    """A bar in a cell, beside its number; lengths in pixels."""

    text: str
    left: float
    width: float
    has_axis: bool = False
    """Whether a line across the cell shows where the bar could be."""


@dataclass(frozen=True, slots=True)
class Link:
    """Text, and the id of the place that it leads to; `None`: the page does not show that place."""

    text: str
    anchor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """A table that is ready to be drawn."""

    caption: str
    columns: Sequence[Column[Any]]
    """The columns that have a value in at least one row."""
    rows: Sequence[Sequence[tuple[Column[Any], object]]]
    """The cells of each row: the column and the value."""
    is_caption_visible: bool = True
    """A caption that is not visible is there for screen readers."""
    heading: str | None = None
    """With a heading, the table is hidden until the reader opens it."""
    omitted: str | None = None
    """A sentence about rows that are not shown."""
    first_row_class: str | None = None
    anchor: str | None = None
    """Begins the ids of its rows, to which marks of the chart lead; a number follows it."""
    is_stacked: bool = False
    """Whether a narrow screen shows the cells of a row below each other, each with its header."""


def table_view(
    columns: Sequence[Column[Row]],
    rows: Iterable[Row],
    *,
    caption: str,
    is_caption_visible: bool = True,
    heading: str | None = None,
    omitted: str | None = None,
    first_row_class: str | None = None,
    anchor: str | None = None,
    is_stacked: bool = False,
) -> TableView:
    """Return the table of some rows, without the columns that are empty in every row.

    The first column stays in any case. Cost: linear in the cells.
    """
    listed = [[column.cell(row) for column in columns] for row in rows]
    kept = [
        place
        for place, column in enumerate(columns)
        if place == 0 or any(not _is_empty(column, cells[place]) for cells in listed)
    ]
    return TableView(
        caption=caption,
        columns=[columns[place] for place in kept],
        rows=[[(columns[place], cells[place]) for place in kept] for cells in listed],
        is_caption_visible=is_caption_visible and heading is None,
        heading=heading,
        omitted=omitted,
        first_row_class=first_row_class,
        anchor=anchor,
        is_stacked=is_stacked,
    )


def _is_empty(column: Column[Row], value: object) -> bool:
    """Return whether a cell has no value. Among prose and names, `-` can be a topic's name."""
    if column.form in {Form.PROSE, Form.NAME}:
        return value is None or value == ""
    return value is None or value in ("", NONE)
