"""A table that fits the terminal: fewer columns where it is narrow, and whole words.

Each column has a rank. Where not all of them fit, those of the highest rank are left out, and a
line below the table names them. Lists and sentences are broken between words, or behind the signs
that join words (`-`, `.`, `,`); only what is longer than its line is cut. Names are broken where
the columns that are always shown would not fit otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING

from assignors.cli.outputs.cells import Fields, rule

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

COMFORTABLE = 32
"""Characters that a list or a sentence may need before a column is left out for it."""

GAP = "  "
"""Between two columns."""

INDENT = "    "
"""Before the sentences below a row."""

RANKS: Mapping[str, int] = {"VERSION": 1, "USER-DATA": 2, "RACK": 3}
"""Header -> rank of its column, where that is given by its header alone."""

WHOLE = frozenset({"LINE", "BELIEVED", "RULE", "SHORT", "NAME", "model"})
"""Headers of columns whose cells are codes or names to copy: they are never broken."""

_PIECES = re.compile(r"[^\s\-._,/]*(?:[\-._,/]+|\s+|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: its header, what makes its cell of a row, and how it may be laid out."""

    header: str
    cell: Callable[[Fields], str] = str
    rank: int = 0
    """The highest is left out first, and 0 only where not even its longest word fits."""
    is_number: bool = False
    """Aligned to the right."""
    is_text: bool = False
    """Names, lists or sentences, that may be broken into lines."""
    is_name: bool = False
    """Columns are left out before it is broken, unless it takes most of the width alone."""


@dataclass(frozen=True, slots=True)
class _Row:
    cells: Sequence[str]
    style: str | None
    below: Callable[[Sequence[str]], Iterable[str]] | None


@dataclass(slots=True)
class Table:
    """Rows of texts below headers, which rich prints."""

    columns: Sequence[Column]
    title: str = ""
    _rows: list[_Row] = field(default_factory=list)

    @classmethod
    def of(cls, *headers: str, right: Sequence[str] = (), title: str = "") -> Table:
        """Return a table with these headers; columns in `right` have numbers."""
        columns = [
            Column(
                header=header,
                rank=RANKS.get(header, 0),
                is_number=header in right,
                is_text=header not in right and header not in WHOLE,
            )
            for header in headers
        ]
        return cls(columns, title)

    def add_row(
        self,
        *cells: str,
        style: str | None = None,
        below: Callable[[Sequence[str]], Iterable[str]] | None = None,
    ) -> None:
        """Add a row: a text for each column, which may have lines.

        `below` returns the sentences below it, given the headers of the columns that do not fit.
        """
        assert len(cells) == len(self.columns), (self.columns, cells)
        self._rows.append(_Row(cells, style, below))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines, none longer than the terminal is wide."""
        from rich.text import Text  # noqa: PLC0415 - only to draw

        del console
        for line, style in self.lines(options.max_width, options.encoding):
            yield Text(line, style=style or "", no_wrap=True, overflow="ignore")

    def lines(self, width: int, encoding: str = "utf-8") -> Iterator[tuple[str, str | None]]:
        """Yield each line with its style."""
        sizes = self._sizes(width)
        for line in wrapped(self.title, width) if self.title else ():
            yield line, "bold"
        yield "", None
        for line in self._aligned([column.header for column in self.columns], sizes):
            yield line, "bold"
        yield rule(min(_total(sizes.values()), width), encoding), None
        missing = [one.header for place, one in enumerate(self.columns) if place not in sizes]
        for row in self._rows:
            for line in self._aligned(row.cells, sizes):
                yield line, row.style
            for text in row.below(missing) if row.below else ():
                for line in wrapped(text, max(width - len(INDENT), 1)):
                    yield INDENT + line, None
        if missing:
            words = f"not shown at {width} columns: {', '.join(missing)} (-o jsonl has everything)"
            for line in wrapped(words, width):
                yield line, "dim"
        yield "", None

    def _aligned(self, cells: Sequence[str], sizes: Mapping[int, int]) -> Iterator[str]:
        """Yield the lines of one row."""
        parts = [
            [line for part in cells[place].split("\n") for line in wrapped(part, size)]
            for place, size in sizes.items()
        ]
        for line in zip_longest(*parts, fillvalue=""):
            padded = []
            for text, (place, size) in zip(line, sizes.items(), strict=True):
                room = " " * (size - cell_width(text))
                padded.append(room + text if self.columns[place].is_number else text + room)
            yield GAP.join(padded).rstrip()

    def _sizes(self, width: int) -> dict[int, int]:
        """Return the columns that fit, from left to right, with their widths."""
        columns = self.columns
        headers = [cell_width(one.header) for one in columns]
        texts = [
            [part for row in self._rows for part in row.cells[place].split("\n")]
            for place in range(len(columns))
        ]
        own = [max(map(cell_width, listed), default=0) for listed in texts]
        natural = list(map(max, own, headers))
        if _total(natural) <= width:
            return dict(enumerate(natural))
        least = [
            max(max(map(_longest_piece, listed), default=0) if one.is_text else size, header)
            for one, listed, size, header in zip(
                columns, texts, own, (_longest_piece(one.header) for one in columns), strict=True
            )
        ]
        titles = list(map(max, least, headers))
        if _total(titles) <= width:
            least = titles  # headers are broken only where columns would be left out
        needed = [
            size if one.is_name and size * 3 <= width * 2 else min(size, max(low, COMFORTABLE))
            for one, size, low in zip(columns, natural, least, strict=True)
        ]
        shown: list[int] = []
        for place in sorted(range(len(columns)), key=lambda place: (columns[place].rank, place)):
            # A column of rank 0 may make others narrow.
            wanted = needed if columns[place].rank else least
            if not shown or _total([wanted[one] for one in (*shown, place)]) <= width:
                shown.append(place)
        sizes = _shrunk({place: needed[place] for place in sorted(shown)}, least, width)
        for _ in range(width - _total(sizes.values())):
            # The remaining width goes to the column whose texts are broken into most lines.
            tallest = max(shown, key=lambda place: natural[place] / sizes[place])
            if sizes[tallest] < natural[tallest]:
                sizes[tallest] += 1
        return sizes


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


def _shrunk(sizes: dict[int, int], least: Sequence[int], width: int) -> dict[int, int]:
    """Return the widths, smaller where they do not fit: none so small that a word is cut.

    But for the only column there is, where even that is wider than the terminal.
    """
    while _total(sizes.values()) > width:
        loosest = max(sizes, key=lambda place: sizes[place] - least[place])
        if sizes[loosest] <= least[loosest]:
            return {place: min(size, max(width, 1)) for place, size in sizes.items()}
        sizes[loosest] -= 1
    return sizes


def _fitting_pieces(text: str, width: int) -> Iterator[str]:
    """Yield words; of a word that is too long the parts that signs join; of these what fits."""
    for word in re.findall(r"\S+\s*|\s+", text):
        pieces = [word] if cell_width(word.rstrip()) <= width else _PIECES.findall(word)
        for piece in pieces:
            part = ""
            for character in piece if cell_width(piece.rstrip()) > width else ():
                if part and cell_width(part + character) > width:
                    yield part
                    part = ""
                part += character
            yield part or piece


def _longest_piece(text: str) -> int:
    return max((cell_width(piece.rstrip()) for piece in _PIECES.findall(text)), default=0)


def _total(sizes: Iterable[int]) -> int:
    listed = [*sizes]
    return sum(listed) + len(GAP) * max(len(listed) - 1, 0)
