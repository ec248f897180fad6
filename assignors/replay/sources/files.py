"""Files of lines, packed with gzip or not, and what a file is by its name and by how it begins."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import BinaryIO, cast

GZIP_MAGIC = b"\x1f\x8b"

FIRST_BYTES = 1 << 16
"""Bytes at the begin of a file by which it is recognised."""

_ENDINGS = (".jsonl", ".json", ".ndjson")


def is_json_lines(path: Path) -> bool:
    """Return whether a file's name says that it holds JSON lines.

    >>> is_json_lines(Path("dump.jsonl.gz")), is_json_lines(Path("dump.parquet"))
    (True, False)
    """
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix in _ENDINGS


def is_parquet(path: Path) -> bool:
    """Return whether a path is a file of Parquet by its name, or a folder with some."""
    return path.suffix == ".parquet" or (path.is_dir() and any(path.glob("*.parquet")))


def opened(path: Path) -> BinaryIO:
    """Return a file as a stream, unpacked if its name or its first bytes say that it is packed."""
    stream = path.open("rb")
    if path.suffix != ".gz" and stream.peek(len(GZIP_MAGIC))[: len(GZIP_MAGIC)] != GZIP_MAGIC:
        return stream
    stream.close()
    return cast("BinaryIO", gzip.open(path))


def first_bytes(path: Path) -> bytes:
    """Return how a file begins, unpacked; nothing where it cannot be unpacked."""
    with opened(path) as stream:
        try:
            return stream.read(FIRST_BYTES)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            return b""
