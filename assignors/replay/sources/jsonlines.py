"""Dumps as JSON lines: one record a line, keys and values in base64.

    {"key": "AAEA...", "value": null, "topic": "__consumer_offsets", "partition": 3,
     "offset": 7, "timestamp": 1795247987397, "timestampType": 0}

Only `key` and `value` must be there; null is no key, and a tombstone. Times are epoch
milliseconds. Files that end in `.gz`, or begin as such files do, are decompressed. A line that is
no such record is a row with its number in `error`.

What `kafka-dump-log` prints is recognised too, and read by `dump_log`.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from assignors.documents.terminal import DUMP_LOG, is_around, skipped_text
from assignors.replay.sources.dump_log import dump_log_records
from assignors.replay.sources.files import FIRST_BYTES, first_bytes, is_json_lines, opened
from assignors.replay.sources.json_fields import (
    INT32,
    INT64,
    base64_field,
    number_field,
    text_field,
)
from assignors.replay.sources.printed import (
    HOW,
    commit_line,
    is_remark,
    is_text,
    lines_before,
    printed_record,
    records_of_line,
    refusal,
)
from assignors.replay.sources.raw import (
    Raw,
    SourceError,
    printable_name,
    printable_path,
    time_or_none,
)

LINE_MAX = 512 << 20
"""Longest line in bytes: a longer one is an error row, which bounds the memory."""

_PIECE_BYTES = 1 << 20


def holds_lines(path: Path, *, say: Callable[[str], None] = lambda _: None) -> bool:
    """Return whether a file is read line by line: by its name, or else by how it begins.

    A file of any other name can hold what a tool has printed. `say` gets a sentence about lines
    before the first record. Raises `SourceError` for text that has a name of JSON lines and no
    record.
    """
    first = first_bytes(path) if path.is_file() else b""
    found = lines_before(first)
    if found is not None:
        _say_skipped(found[0], printable_path(path), say)
        return True
    if is_json_lines(path):
        _require_records(first, printable_path(path))
        return True
    return False


def _say_skipped(before: Sequence[str], name: str, say: Callable[[str], None]) -> None:
    """Say which lines before the first record are skipped; others are errors on their line."""
    skipped = [line for line in before if is_around(line)]
    if skipped:
        say(f"{name}: {skipped_text(skipped, 'the first record')}")


def _require_records(first: bytes, name: str) -> None:
    """Raise `SourceError`, once for a whole file, for text in which no line is a record."""
    known = refusal(first)
    if known is None and len(first) < FIRST_BYTES and is_text(first):
        known = f"text, and no line of it is a record: {HOW}"
    if known is not None:
        raise SourceError(f"{name}: {known}")


def read_json_lines(path: str | Path, *, line_max: int = LINE_MAX) -> Iterator[Raw]:
    """Yield the records of a file of JSON lines.

    A line of `line_max` bytes or more is an error. Raises `SourceError` where there is no such
    file. Memory: one line.
    """
    place = Path(path)
    if not place.is_file():
        raise SourceError(f"{place}: no such file or folder")

    def lines() -> Iterator[bytes]:
        with opened(place) as stream:
            yield from _lines(stream, line_max)

    name = printable_name(place)
    if _is_dump_log(first_bytes(place)):
        return _to_damage(dump_log_records(lines, name=name, line_max=line_max), name)
    return _to_damage(parse_lines(lines(), name=name, line_max=line_max), name)


def read_stream(
    stream: BinaryIO,
    *,
    name: str,
    line_max: int = LINE_MAX,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[Raw]:
    """Yield the records of a stream of lines, plain ones; `name` is in the errors.

    `say` gets a sentence about lines before the first record. Raises `SourceError` for text
    without records. Memory: one line; all lines of what kafka-dump-log prints, which is read twice.
    """
    lines = _lines(stream, line_max)
    begin, size = [], 0
    for line in lines:
        begin.append(line)
        size += len(line)
        if size >= FIRST_BYTES or lines_before(line) is not None:
            break
    first = b"".join(begin)
    found = lines_before(first)
    if found is None:
        _require_records(first, name)
    else:
        _say_skipped(found[0], name, say)
    whole = chain(begin, lines)
    if not _is_dump_log(first):
        return parse_lines(whole, name=name, line_max=line_max)
    kept = list(whole)
    return dump_log_records(lambda: kept, name=name, line_max=line_max)


def _is_dump_log(first: bytes) -> bool:
    found = lines_before(first)
    return found is not None and found[1].startswith(DUMP_LOG)


def parse_lines(lines: Iterable[bytes], *, name: str, line_max: int = LINE_MAX) -> Iterator[Raw]:
    """Yield a row for each line that is not blank; `name` is in the errors.

    >>> next(parse_lines([b'{"key": "a2V5", "value": null}'], name="-")).key
    b'key'
    >>> next(parse_lines([b'{"key": "a2V5"}'], name="-")).error
    "-: line 1: no 'value'"
    """
    before_ms: int | None = None
    for number, line in enumerate(lines, start=1):
        if not line.startswith(b'{"') and (not line or line.isspace() or is_remark(line)):
            continue
        for raw in _raws(line, line_max, before_ms):
            before_ms = raw.timestamp_ms or before_ms
            if raw.error is None:
                yield raw
            else:
                yield Raw(error=f"{name}: line {number}: {raw.error}")


def _to_damage(raws: Iterator[Raw], name: str) -> Iterator[Raw]:
    """Yield the records of a file up to where it cannot be unpacked, and then an error."""
    try:
        yield from raws
    except EOFError:
        yield Raw(error=f"{name}: the compressed file is cut short: what came after is missing")
    except (zlib.error, gzip.BadGzipFile) as error:
        yield Raw(error=f"{name}: {error}; what comes after is missing")


def _lines(stream: BinaryIO, line_max: int) -> Iterator[bytes]:
    """Yield the lines of a stream; of one that is too long its begin."""
    while line := stream.readline(line_max):
        end = line
        while len(line) >= line_max and end and not end.endswith(b"\n"):
            end = stream.readline(_PIECE_BYTES)
        yield line


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
    return _row(document)


def _row(document: Mapping[str, object]) -> Raw:
    """Return the record of one of our own lines, or of Spark's."""
    return Raw(
        key=base64_field(document, "key"),
        value=base64_field(document, "value"),
        topic=text_field(document, "topic"),
        partition=number_field(document, "partition", INT32),
        offset=number_field(document, "offset", INT64),
        timestamp_ms=time_or_none(number_field(document, "timestamp", INT64)),
        timestamp_type=number_field(document, "timestampType", INT32),
    )
