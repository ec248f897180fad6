"""Tables of the page: columns are rows of a table of their own, a header and what is in a cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from assignors.replay.report.markup import Child, Markup, element, shortened, together
from assignors.replay.report.wording import NONE

Row = TypeVar("Row")

NAME_MAX = 80
"""Characters of a name in a cell or a label."""


NAMELESS = element("span", NONE, class_="quiet")

EMPTY = (None, "", NONE, NAMELESS)
"""Cells that say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Generic[Row]):
    """A header, and the cell of a row."""

    header: str
    cell: Callable[[Row], Child]
    is_number: bool = False
    is_wide: bool = False
    """Running text, which wraps; the rest stays on one line."""


def text(header: str, cell: Callable[[Row], Child]) -> Column[Row]:
    """Return a column of short texts."""
    return Column(header=header, cell=cell)


def figure(header: str, cell: Callable[[Row], Child]) -> Column[Row]:
    """Return a column of numbers."""
    return Column(header=header, cell=cell, is_number=True)


def prose(header: str, cell: Callable[[Row], Child]) -> Column[Row]:
    """Return a column of running text."""
    return Column(header=header, cell=cell, is_wide=True)


def table(
    columns: Sequence[Column[Row]],
    rows: Iterable[Row],
    *,
    caption: str,
    is_captioned: bool = True,
    row_class: Callable[[Row], str | None] = lambda _: None,
) -> Markup:
    """Return a table that scrolls within itself; the first cell of a row is its header.

    A column without anything in it is left out. A caption that is not shown is still read aloud.
    """
    listed = [(row, [column.cell(row) for column in columns]) for row in rows]
    kept = [
        place
        for place in range(len(columns))
        if place == 0 or any(not _is_empty(columns[place], cells[place]) for _, cells in listed)
    ]
    head = element("tr", *(_header(columns[place]) for place in kept))
    body = together(_row(columns, kept, cells, row_class(row)) for row, cells in listed)
    hidden = None if is_captioned else "unseen"
    return scrolling(
        element(
            "table",
            element("caption", caption, class_=hidden),
            element("thead", head),
            element("tbody", body),
        ),
        label=caption,
    )


def scrolling(content: Markup, *, label: str, class_: str = "scroll") -> Markup:
    """Return content that may be wider than the page; the keyboard can scroll it as well."""
    return element(
        "div", content, class_=class_, tabindex=0, role="region", aria_label=shortened(label, 200)
    )


def name(value: str | None) -> Markup:
    """Return a name: any language's direction, cut where it is long."""
    if not value:
        return NAMELESS
    shown = shortened(value, NAME_MAX)
    return element("bdi", shown, title=shortened(value) if shown != value else None, class_="name")


def unfolding(label: Child, *content: Child) -> Markup:
    """Return what is closed until somebody opens it."""
    return element("details", element("summary", label), *content, class_="more")


def left_out(sentence: str) -> Markup:
    """Return the plain statement of what is not shown here."""
    return element("p", sentence, class_="left-out")


def _is_empty(column: Column[Row], cell: Child) -> bool:
    """Return whether a cell says nothing. In running text a dash is somebody's word: a topic's."""
    return cell in ((None, "") if column.is_wide else EMPTY)


def _header(column: Column[Row]) -> Markup:
    return element("th", column.header, scope="col", class_=_class(column))


def _row(
    columns: Sequence[Column[Row]], kept: Sequence[int], cells: Sequence[Child], class_: str | None
) -> Markup:
    head, *others = kept
    return element(
        "tr",
        element("th", cells[head], scope="row", class_=_class(columns[head])),
        *(element("td", cells[place], class_=_class(columns[place])) for place in others),
        class_=class_,
    )


def _class(column: Column[Row]) -> str | None:
    if column.is_number:
        return "number"
    return "prose" if column.is_wide else None
