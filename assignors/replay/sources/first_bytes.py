"""How a file begins, by which it is recognised."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

GZIP_MAGIC = b"\x1f\x8b"

FIRST_BYTES = 1 << 16
"""So much of a file says what it is."""


def is_packed(path: Path) -> bool:
    """Return whether a file is compressed: by its name, or by how it begins."""
    if path.suffix == ".gz":
        return True
    with path.open("rb") as stream:
        return stream.read(len(GZIP_MAGIC)) == GZIP_MAGIC


def first_bytes(path: Path) -> bytes:
    """Return how a file begins, decompressed; nothing where it cannot be decompressed."""
    with path.open("rb") as stream:
        plain = gzip.GzipFile(fileobj=stream) if is_packed(path) else stream
        try:
            return plain.read(FIRST_BYTES)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            return b""
