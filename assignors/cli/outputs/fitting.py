"""Lay out a table in the width it may have: fewer columns where it is narrow, and whole words.

Each column has a rank. Where not all of them fit, those of the highest rank are left out, and a
line below the table names them. Lists and sentences are broken between words, or behind the signs
that join words (`-`, `.`, `,`); only what is longer than its line is cut. Names are broken where
the columns that are always shown would not fit otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from assignors.cli.outputs.cells import Fields

COMFORTABLE = 32
"""Characters that a list or a sentence may need before a column is left out for it."""

GAP = "  "
"""Between two columns."""

_PIECES = re.compile(r"[^\s\-._,/]*(?:[\-._,/]+|\s+|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: its header, what makes its cell of a row, and how it may be laid out."""

    header: str
    cell: Callable[[Fields], str]
    rank: int = 0
    """The highest is left out first, and 0 only where not even its longest word fits."""
    is_number: bool = False
    """Aligned to the right."""
    is_text: bool = False
    """Names, lists or sentences, that may be broken into lines."""
    is_name: bool = False
    """Columns are left out before it is broken, unless it takes most of the width alone."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A column that is shown, and its width in characters."""

    column: Column
    place: int
    width: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns that are shown, from left to right."""

    placed: Sequence[Placed]

    @property
    def width(self) -> int:
        """Characters of a line."""
        return _total([one.width for one in self.placed])


def layout(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> Layout:
    """Return the columns that fit, with their widths; `rows` have a cell for each column.

    Cost: linear in the text.
    """
    natural = _widths(columns, rows, cell_width)
    if _total(natural) <= width:
        return Layout([Placed(column, at, natural[at]) for at, column in enumerate(columns)])
    pieces = _widths(columns, rows, _longest_piece)
    least = [
        piece if column.is_text else size
        for column, size, piece in zip(columns, natural, pieces, strict=True)
    ]
    titles = [
        max(low, cell_width(column.header)) for low, column in zip(least, columns, strict=True)
    ]
    if _total(titles) <= width:
        least = titles  # headers are broken only where columns would be left out
    needed = [
        size if column.is_name and size * 3 <= width * 2 else min(size, max(low, COMFORTABLE))
        for column, size, low in zip(columns, natural, least, strict=True)
    ]
    shown: list[int] = []
    for place in sorted(range(len(columns)), key=lambda place: (columns[place].rank, place)):
        # A column of rank 0 may make others narrow.
        wanted = needed if columns[place].rank else least
        if not shown or _total([wanted[one] for one in (*shown, place)]) <= width:
            shown.append(place)
    sizes = _shrunk({place: needed[place] for place in shown}, least, width)
    for _ in range(width - _total(list(sizes.values()))):
        # What is left goes to the column whose texts are broken into most lines.
        tallest = max(shown, key=lambda place: natural[place] / sizes[place])
        if sizes[tallest] < natural[tallest]:
            sizes[tallest] += 1
    return Layout([Placed(columns[place], place, sizes[place]) for place in sorted(shown)])


def row_lines(found: Layout, row: Sequence[str]) -> Iterator[str]:
    """Yield the lines of one row."""
    cells = [wrapped(row[one.place], one.width) for one in found.placed]
    for line in range(max(map(len, cells), default=0)):
        parts = [
            _aligned(cell[line] if line < len(cell) else "", one)
            for cell, one in zip(cells, found.placed, strict=True)
        ]
        yield GAP.join(parts).rstrip()


def wrapped(text: str, width: int) -> list[str]:
    """Return the text in lines of at most `width`: between words, else behind signs that join them.

    >>> wrapped("orders-1 was owned by client-7", 12)
    ['orders-1 was', 'owned by', 'client-7']
    >>> wrapped("chaos-sticky-aio-4", 10)
    ['chaos-', 'sticky-', 'aio-4']
    """
    lines = [""]
    for piece in _fitting_pieces(text, width):
        if cell_width(lines[-1] + piece.rstrip()) > width and lines[-1]:
            lines[-1] = lines[-1].rstrip()
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def cell_width(text: str) -> int:
    """Return how many characters of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - only to draw

    return cell_len(text)


def _widths(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], width_of: Callable[[str], int]
) -> list[int]:
    return [
        max(map(width_of, (column.header, *(row[place] for row in rows))))
        for place, column in enumerate(columns)
    ]


def _shrunk(sizes: dict[int, int], least: Sequence[int], width: int) -> dict[int, int]:
    """Return the widths, smaller where they do not fit: none so small that a word is cut.

    But for the only column there is, where even that is wider than the terminal.
    """
    while _total(list(sizes.values())) > width:
        loosest = max(sizes, key=lambda place: sizes[place] - least[place])
        if sizes[loosest] <= least[loosest]:
            return {place: min(size, max(width, 1)) for place, size in sizes.items()}
        sizes[loosest] -= 1
    return sizes


def _fitting_pieces(text: str, width: int) -> Iterator[str]:
    """Yield words; of a word that is too long the parts that signs join; of these what fits."""
    for word in re.findall(r"\S+\s*|\s+", text):
        if cell_width(word.rstrip()) <= width:
            yield word
            continue
        for piece in _PIECES.findall(word):
            if cell_width(piece.rstrip()) <= width:
                yield piece
            else:
                yield from _cut(piece, width)


def _cut(piece: str, width: int) -> Iterator[str]:
    """Yield a piece that is longer than its line in parts that are not."""
    part = ""
    for character in piece:
        if part and cell_width(part + character) > width:
            yield part
            part = ""
        part += character
    yield part


def _longest_piece(text: str) -> int:
    return max((cell_width(piece.rstrip()) for piece in _PIECES.findall(text)), default=0)


def _total(sizes: Sequence[int]) -> int:
    return sum(sizes) + len(GAP) * max(len(sizes) - 1, 0)


def _aligned(text: str, one: Placed) -> str:
    room = " " * (one.width - cell_width(text))
    return room + text if one.column.is_number else text + room
