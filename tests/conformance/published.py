"""The published vectors, read once."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from assignors.conformance.vectors import Vector, read_vectors

FOLDER = Path(__file__).resolve().parent.parent / "vectors"
KAFKA = FOLDER / "kafka-4.4.0.jsonl.gz"
RECORDS = FOLDER / "records-4.4.0.jsonl.gz"
PEERS = FOLDER / "peers.jsonl"
FILES = (KAFKA, RECORDS, PEERS)


@cache
def vectors(*files: Path) -> tuple[Vector, ...]:
    """The vectors of these files, or of all."""
    return tuple(vector for file in files or FILES for vector in read_vectors(file))


@cache
def text_of(file: Path) -> bytes:
    """A file's text."""
    blob = file.read_bytes()
    return gzip.decompress(blob) if file.suffix == ".gz" else blob


@cache
def lines(file: Path) -> tuple[dict[str, Any], ...]:
    """A file's lines, its header first."""
    return tuple(json.loads(line) for line in text_of(file).splitlines())
