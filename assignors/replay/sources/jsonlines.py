"""Dumps as JSON lines: one record a line, keys and values in base64.

    {"key": "AAEA...", "value": null, "topic": "__consumer_offsets", "partition": 3,
     "offset": 7, "timestamp": 1795247987397, "timestampType": 0}

Only `key` and `value` must be there; null is no key, and a tombstone. Times are epoch
milliseconds. Files that end in `.gz`, or begin as such files do, are decompressed. A line that is
no such record is a row with its number in `error`.

A plain file can be read in splits, by as many readers: a line belongs to the split that it
begins in. What is packed is one split, as nobody can start in its middle. The lines before a
split are counted only where one in it cannot be read.
"""

from __future__ import annotations

import gzip
import json
import zlib
from binascii import a2b_base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

from assignors.replay.sources.file_names import is_json_lines
from assignors.replay.sources.json_fields import (
    INT32,
    INT64,
    base64_field,
    number_field,
    text_field,
)
from assignors.replay.sources.printed import (
    FIRST_BYTES,
    begins_as_printed,
    commit_line,
    is_remark,
    printed_record,
    records_of_line,
    refusal,
)
from assignors.replay.sources.raw import Raw, SourceError, printable_name, time_or_none
from wire.constructors import unchecked

_raw = unchecked(Raw)
_document = json.JSONDecoder().decode

_OBJECT = b'{"'
"""How nearly every line begins."""
_DUMPED = {
    (b"{", b"key", b":", b",", b"value", b":", b","),
    (b"{", b"key", b": ", b", ", b"value", b": ", b", "),
}
"""What is around key and value in our own lines, also with the spaces of Python's `json`."""
_OTHERWISE_READ = frozenset({"key", "value", "payload"})
"""Names that stand twice in an object, or that make it a line of kcat."""

LINE_MAX = 512 << 20
"""Longest line in bytes: a longer one is an error row, which bounds the memory."""

SPLIT_BYTES = 64 << 20
"""So much of a plain file is one reader's."""

_PIECE_BYTES = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSplit:
    """The lines of a file that begin from byte `start` on, and before byte `end`."""

    file: Path
    start: int = 0
    end: int | None = None
    """`None`: to the end of the file."""


def holds_lines(path: Path) -> bool:
    """Return whether a file is read line by line: by its name, or else by how it begins.

    A file of any other name can hold what a tool has printed.
    """
    if is_json_lines(path):
        return True
    return path.is_file() and begins_as_printed(first_bytes(path))


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


def read_json_lines(path: str | Path, *, line_max: int = LINE_MAX) -> Iterator[Raw]:
    """Yield the records of a file of JSON lines.

    A line of `line_max` bytes or more is an error. Raises `SourceError` where there is no such
    file. Memory: one line.
    """
    (whole,) = splits(path, size=None)
    return split_rows(whole, line_max)


def read_stream(stream: BinaryIO, *, name: str, line_max: int = LINE_MAX) -> Iterator[Raw]:
    """Yield the records of a stream of lines, plain ones; `name` stands in the errors.

    Memory: one line.
    """
    lines = _lines(stream, FileSplit(file=Path(name)), line_max)
    return parse_lines(lines, name=name, line_max=line_max)


def splits(path: str | Path, *, size: int | None = SPLIT_BYTES) -> list[FileSplit]:
    """Return the parts of a file that can be read apart, of `size` bytes; `None`: all in one.

    Raises `SourceError` where there is no such file.
    """
    place = Path(path)
    if not place.is_file():
        raise SourceError(f"{place}: no such file or folder")
    if size is None or is_packed(place):
        return [FileSplit(file=place)]
    starts = list(range(0, place.stat().st_size, size)) or [0]
    ends = [*starts[1:], None]
    return [
        FileSplit(file=place, start=start, end=end) for start, end in zip(starts, ends, strict=True)
    ]


def parse_lines(
    lines: Iterable[bytes],
    *,
    name: str,
    line_max: int = LINE_MAX,
    count_before: Callable[[], int] = int,
) -> Iterator[Raw]:
    """Yield a row for each line that is not blank; `name` stands in the errors.

    `count_before` returns how many lines came before these.

    >>> next(parse_lines([b'{"key": "a2V5", "value": null}'], name="-")).key
    b'key'
    >>> next(parse_lines([b'{"key": "a2V5"}'], name="-")).error
    "-: line 1: no 'value'"
    """
    before_ms: int | None = None
    for number, line in enumerate(lines, start=1):
        if not line.startswith(_OBJECT) and (not line or line.isspace() or is_remark(line)):
            continue
        for raw in _raws(line, line_max, before_ms):
            before_ms = raw.timestamp_ms or before_ms
            if raw.error is None:
                yield raw
            else:
                yield Raw(error=f"{name}: line {count_before() + number}: {raw.error}")


def split_rows(split: FileSplit, line_max: int = LINE_MAX) -> Iterator[Raw]:
    """Yield the records of the lines that begin in a split. Memory: one line."""
    name = printable_name(split.file)
    count_before = cache(lambda: _count_before(split))
    with split.file.open("rb") as stream:
        plain = gzip.GzipFile(fileobj=stream) if is_packed(split.file) else stream
        try:
            yield from parse_lines(
                _lines(plain, split, line_max),
                name=name,
                line_max=line_max,
                count_before=count_before,
            )
        except EOFError:
            words = "the compressed file is cut short: what came after is missing"
            yield Raw(error=f"{name}: {words}")
        except (zlib.error, gzip.BadGzipFile) as error:
            yield Raw(error=f"{name}: {error}; what comes after is missing")


def _lines(stream: BinaryIO | gzip.GzipFile, split: FileSplit, line_max: int) -> Iterator[bytes]:
    """Yield the lines of a split; of one that is too long its begin."""
    position = split.start
    if position:
        # From the byte before: if that ends a line, the split begins with one.
        stream.seek(position - 1)
        position += _skip_line(stream) - 1
    while split.end is None or position < split.end:
        line = stream.readline(line_max)
        if not line:
            return
        position += len(line)
        if len(line) >= line_max and not line.endswith(b"\n"):
            position += _skip_line(stream)
        yield line


def _skip_line(stream: BinaryIO | gzip.GzipFile) -> int:
    """Read to the end of the line, and return how many bytes that were."""
    count = 0
    while piece := stream.readline(_PIECE_BYTES):
        count += len(piece)
        if piece.endswith(b"\n"):
            break
    return count


def _count_before(split: FileSplit) -> int:
    """Return how many lines begin before a split. Cost: a pass over these bytes."""
    count, left, last = 0, split.start, b"\n"
    with split.file.open("rb") as stream:
        while left and (piece := stream.read(min(left, _PIECE_BYTES))):
            count += piece.count(b"\n")
            left -= len(piece)
            last = piece[-1:]
    return count + (last != b"\n")


def _reason(error: Exception) -> str:
    """Return why a line is no record, with its place in the line where it is no JSON."""
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON, or a line that is cut short: {error.msg}, character {error.pos}"
    return str(error)


def _raws(line: bytes, line_max: int, before_ms: int | None) -> Iterator[Raw]:
    """Yield the records in a line, or why there is none: several are no JSON as one."""
    parts: Sequence[bytes] = ()
    try:
        raw = _record(line, line_max, before_ms)
    except (ValueError, RecursionError) as error:
        raw = Raw(error=_reason(error))
        parts = () if len(line) >= line_max else list(records_of_line(line))
    if len(parts) < 2:
        yield raw
        return
    for part in parts:
        for raw in _raws(part, line_max, before_ms):
            before_ms = raw.timestamp_ms or before_ms
            yield raw


def _record(line: bytes, line_max: int, before_ms: int | None) -> Raw:
    """Return the record in a line of any form; `ValueError` where it is none, or not whole."""
    if len(line) >= line_max:
        raise ValueError(f"{line_max} bytes and no end of it")
    raw = _dumped_record(line)
    if raw is not None:
        return raw
    try:
        document = json.loads(line)
    except UnicodeDecodeError:
        # kcat's own lines hold bytes that are no text.
        document = json.loads(line.decode("utf-8", "surrogateescape"))
    except ValueError:
        raw = commit_line(line, before_ms)
        if raw is not None:
            return raw
        known = refusal(line)
        if known is not None:
            raise ValueError(known) from None
        raise
    if not isinstance(document, dict):
        raise ValueError(f"no record: {type(document).__name__}")
    printed = printed_record(document, line, before_ms)
    if printed is not None:
        return printed
    key, value = base64_field(document, "key"), base64_field(document, "value")
    return _row(document, key, value)


def _dumped_record(line: bytes) -> Raw | None:
    """Return the record of a line that begins as `dump` writes it; `None` of any other line.

    Nearly all of a line are key and value. What is base64 between two quotes is the same as JSON:
    the reader of JSON has only the rest to read.
    """
    parts = line.split(b'"', 9)
    if len(parts) < 10 or (*parts[:3], *parts[4:7], parts[8]) not in _DUMPED:
        return None
    try:
        key = a2b_base64(parts[3], strict_mode=True)
        value = a2b_base64(parts[7], strict_mode=True)
        others = _document('{"' + parts[9].decode())
    except ValueError:
        return None
    return _row(others, key, value) if _OTHERWISE_READ.isdisjoint(others) else None


def _row(document: Mapping[str, object], key: bytes | None, value: bytes | None) -> Raw:
    """Return the record of one of our own lines, or of Spark's."""
    return _raw(
        key=key,
        value=value,
        topic=text_field(document, "topic"),
        partition=number_field(document, "partition", INT32),
        offset=number_field(document, "offset", INT64),
        timestamp_ms=time_or_none(number_field(document, "timestamp", INT64)),
        timestamp_type=number_field(document, "timestampType", INT32),
    )
