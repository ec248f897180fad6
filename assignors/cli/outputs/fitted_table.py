"""A table that fits the terminal it is printed on: whole words, and fewer columns where it must be.

`FittedTable` is what rich asks of something that can be printed. How columns are chosen and lines
broken is in `fitting`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from assignors.cli.outputs.cells import rule
from assignors.cli.outputs.fitting import GAP, Column, Layout, cell_width, layout, wrapped

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

RANKS: Mapping[str, int] = {"VERSION": 1, "USER-DATA": 2, "RACK": 3}
"""Header -> rank of the column: the highest is left out first; others never are."""

WHOLE = frozenset({"LINE", "BELIEVED", "RULE", "SHORT", "NAME", "model"})
"""Headers of columns whose cells are codes or names to copy: they are never broken."""


class FittedTable:
    """Rows of texts below headers; columns in `right` are aligned to the right."""

    def __init__(self, *headers: str, right: Sequence[str] = (), title: str = "") -> None:
        """Begin without rows."""
        self.title = title
        self._headers = headers
        self._right = right
        self._rows: list[tuple[Sequence[str], str | None]] = []

    def add_row(self, *cells: str, style: str | None = None) -> None:
        """Add a row: a text for each column, which may have lines."""
        assert len(cells) == len(self._headers), (self._headers, cells)
        self._rows.append((cells, style))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines, none longer than the terminal is wide."""
        from rich.text import Text  # noqa: PLC0415 - only to draw

        del console
        for line, style in self._lines(options.max_width, options.encoding):
            yield Text(line, style=style or "", no_wrap=True, overflow="ignore")

    def _lines(self, width: int, encoding: str) -> Iterator[tuple[str, str | None]]:
        headers, found = self._laid_out(width)
        for line in wrapped(self.title, width) if self.title else ():
            yield line, "bold"
        yield "", None
        for line in _row_lines(found, headers):
            yield line, "bold"
        yield rule(min(found.width, width), encoding), None
        for cells, style in self._rows:
            for line in _row_lines(found, cells):
                yield line, style
        shown = {one.place for one in found.placed}
        missing = [header for place, header in enumerate(self._headers) if place not in shown]
        if missing:
            words = f"not shown at {width} columns: {', '.join(missing)} (-o jsonl has everything)"
            for line in wrapped(words, width):
                yield line, "dim"
        yield "", None

    def _laid_out(self, width: int) -> tuple[Sequence[str], Layout]:
        """Return headers and layout; headers of numbers are broken where there is no room."""
        whole = list(self._headers)
        broken = [
            "\n".join(wrapped(header, _longest_part(header))) if header in self._right else header
            for header in whole
        ]
        found = self._layout(whole, width)
        is_whole = found.width <= width and len(found.placed) == len(whole)
        return (whole, found) if is_whole else (broken, self._layout(broken, width))

    def _layout(self, headers: Sequence[str], width: int) -> Layout:
        columns = [
            Column(
                header="",
                cell=lambda _: "",
                rank=RANKS.get(header, 0),
                is_number=header in self._right,
                is_text=header not in self._right and header not in WHOLE,
            )
            for header in self._headers
        ]
        lines = [
            list(line)
            for cells in (headers, *(cells for cells, _ in self._rows))
            for line in zip_longest(*(cell.split("\n") for cell in cells), fillvalue="")
        ]
        return layout(columns, lines, width)


def _row_lines(found: Layout, cells: Sequence[str]) -> Iterator[str]:
    """Yield the lines of one row, whose cells may have lines of their own."""
    parts = [
        [line for part in cells[one.place].split("\n") for line in wrapped(part, one.width)]
        for one in found.placed
    ]
    for line in zip_longest(*parts, fillvalue=""):
        aligned = [
            " " * (one.width - cell_width(text)) + text
            if one.column.is_number
            else text + " " * (one.width - cell_width(text))
            for text, one in zip(line, found.placed, strict=True)
        ]
        yield GAP.join(aligned).rstrip()


def _longest_part(header: str) -> int:
    """Return the width of the longest part of a header: names of assignors break at - and /."""
    return max((len(part) for word in header.split() for part in _parts(word)), default=1)


def _parts(word: str) -> list[str]:
    pieces = word.replace("-", "-\n").replace("/", "/\n").split("\n")
    return [piece for piece in pieces if piece]
