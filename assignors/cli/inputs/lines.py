"""Read lines from files or from standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import click

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

files_argument = click.argument(
    "files",
    nargs=-1,
    metavar="[FILE]...",
    type=click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True),
)
"""The argument FILE: files to read; `-` or none for standard input."""


def lines(files: Sequence[str]) -> Iterator[bytes]:
    """Yield each line as soon as it can be read, without its line feed.

    A carriage return before it stays: it is white space in every format that is read here.
    """
    for name in files or ["-"]:
        if name == "-":
            yield from _lines(sys.stdin.buffer)
        else:
            with Path(name).open("rb") as stream:
                yield from _lines(stream)


def total_size(files: Sequence[str]) -> int | None:
    """Return the number of bytes to read, `None` if standard input is among them."""
    if not files or "-" in files:
        return None
    return sum(Path(name).stat().st_size for name in files)


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    # `map` keeps no line while the next function works on it: lines may have many megabytes.
    for position, text in enumerate(map(_without_line_feed, stream)):
        yield text if position else text.removeprefix(BYTE_ORDER_MARK)


def _without_line_feed(line: bytes) -> bytes:
    return line.removesuffix(b"\n")
