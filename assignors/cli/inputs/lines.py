"""Read lines from files or from standard input."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, BinaryIO

import click

from assignors.documents.values import Document

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

TEXT = re.compile(r"""\s*(?:[{\[<\\]|b['"]|(?:0[xX])?[0-9A-Fa-f]{4,}\s*$|AA[A-Za-z0-9+/]{2})""")
"""How JSON and bytes begin, of which people think that they can be arguments."""


class InputFile(click.Path):
    """A file to read; text in its place gets a hint."""

    def convert(
        self, value: str | PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | PathLike[str]:
        """Return the name. Raises `click.BadParameter` where there is no such file."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            if ctx is None or not TEXT.match(str(value)):
                raise
            name = f"{ctx.info_name} {ctx.params.get('kind', '')}".strip()
            pipe = f"Text is read from standard input: echo '...' | kafka-assignors {name}"
            raise click.BadParameter(f"{error.message} {pipe}", ctx, param) from None


files_argument = click.argument(
    "files",
    nargs=-1,
    metavar="[FILE]...",
    type=InputFile(exists=True, dir_okay=False, readable=True, allow_dash=True),
)
"""The argument FILE: files to read; `-` or none for standard input."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line, or a document over several lines, and where it begins."""

    text: bytes
    number: int
    """Of its first line in its file, from 1."""
    file: str = "-"
    """The file's name as it was given; `-`: standard input."""

    @property
    def width(self) -> int:
        """Return the number of its bytes."""
        return len(self.text)


def placed(error: Document, line: Line | None) -> Document:
    """Return an error with the line that it is in, and the file unless it is standard input.

    An offset into a document over several lines decides which of them it is.
    """
    if line is None or error["error"] is None:
        return error
    at = error.get("error_at", {})
    assert isinstance(at, dict)
    offset = at.get("offset")
    below = line.text.count(b"\n", 0, offset) if isinstance(offset, int) else 0
    where: Document = {} if line.file == "-" else {"file": line.file}
    return {**error, "error_at": {**at, "line": line.number + below, **where}}


def lines(files: Sequence[str]) -> Iterator[Line]:
    """Yield each line as soon as it can be read, without its line feed.

    A carriage return before it stays: it is white space in every format that is read here.
    """
    for name in files or ["-"]:
        if name == "-":
            yield from _lines(standard_input(), name)
        else:
            with Path(name).open("rb") as stream:
                yield from _lines(stream, name)


def standard_input() -> BinaryIO:
    """Return the bytes of standard input; `click.UsageError` where the caller has closed it."""
    if sys.stdin is None:
        raise click.UsageError("standard input is closed: name a file")
    return sys.stdin.buffer


def total_size(files: Sequence[str]) -> int | None:
    """Return the number of bytes to read, `None` if standard input is among them."""
    if not files or "-" in files:
        return None
    return sum(Path(name).stat().st_size for name in files)


def _lines(stream: IO[bytes], name: str) -> Iterator[Line]:
    # `map` keeps no line while the next function works on it: lines may have many megabytes.
    for number, text in enumerate(map(_without_line_feed, stream), 1):
        yield Line(text if number > 1 else text.removeprefix(BYTE_ORDER_MARK), number, name)


def _without_line_feed(line: bytes) -> bytes:
    return line.removesuffix(b"\n")
