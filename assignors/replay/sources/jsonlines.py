"""Dumps as JSON lines: one record a line, keys and values in base64.

    {"key": "AAEA...", "value": null, "topic": "__consumer_offsets", "partition": 3,
     "offset": 7, "timestamp": 1795247987397, "timestampType": 0}

Only `key` and `value` must be there; null is no key, and a tombstone. Times are epoch
milliseconds. Files that end in `.gz` are unpacked on the way. A line that is none of this is
a row with its number in `error`.
"""

from __future__ import annotations

import gzip
import json
import zlib
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from assignors.replay.sources.raw import BATCH_ROWS, Raw, SourceError, batched

LINE_MAX = 256 << 20
"""Longest line: a longer one is an error, not a reason to fill the memory."""

_INT32 = 1 << 31
_INT64 = 1 << 63


def read_json_lines(path: str | Path, *, batch_rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """Yield the records of a file of JSON lines; memory: a batch."""
    place = Path(path)
    if not place.is_file():
        raise SourceError(f"{place}: no such file")
    return batched(_file_rows(place), batch_rows=batch_rows)


def parse_lines(lines: Iterable[bytes], *, name: str) -> Iterator[Raw]:
    """Yield a row for each line that is not blank; `name` stands in the errors.

    >>> next(parse_lines([b'{"key": "a2V5", "value": null}'], name="-")).key
    b'key'
    >>> next(parse_lines([b'{"key": "a2V5"}'], name="-")).error
    "-: line 1: no 'value'"
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield _row(json.loads(line))
        except (ValueError, RecursionError) as error:
            yield Raw(error=f"{name}: line {number}: {error}")


def _file_rows(place: Path) -> Iterator[Raw]:
    with place.open("rb") as stream:
        plain = gzip.GzipFile(fileobj=stream) if place.suffix == ".gz" else stream
        try:
            yield from parse_lines(_lines(plain), name=place.name)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            yield Raw(error=f"{place.name}: {error}")


def _lines(stream: BinaryIO | gzip.GzipFile) -> Iterator[bytes]:
    while line := stream.readline(LINE_MAX):
        yield line


def _row(document: object) -> Raw:
    if not isinstance(document, Mapping):
        raise ValueError(f"no record: {type(document).__name__}")
    return Raw(
        key=_bytes(document, "key"),
        value=_bytes(document, "value"),
        topic=_text(document, "topic"),
        partition=_number(document, "partition", _INT32),
        offset=_number(document, "offset", _INT64),
        timestamp_ms=_number(document, "timestamp", _INT64),
        timestamp_type=_number(document, "timestampType", _INT32),
    )


def _bytes(document: Mapping[str, Any], name: str) -> bytes | None:
    if name not in document:
        raise ValueError(f"no {name!r}")
    value = document[name]
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError(f"{name}: {value!r} is no base64")
    try:
        return b64decode(value, validate=True)
    except ValueError as error:
        raise ValueError(f"{name}: no base64: {error}") from error


def _text(document: Mapping[str, Any], name: str) -> str | None:
    value = document.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name}: {value!r} is no text")
    return value


def _number(document: Mapping[str, Any], name: str, limit: int) -> int | None:
    value = document.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not -limit <= value < limit:
        raise ValueError(f"{name}: {value!r} is no number of its kind")
    return value
