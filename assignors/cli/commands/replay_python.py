"""Replay in this process, by `assignors.replay.replay`: no Java needed."""

from __future__ import annotations

import gc
import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from io import BufferedReader
from typing import BinaryIO, cast

from assignors.cli.commands.replay_request import (
    STANDARD_INPUT,
    ReplayRequest,
    ReplayResult,
    UnreadableError,
    say_skipped,
)
from assignors.cli.inputs.extras import needed_by
from assignors.cli.inputs.lines import standard_input
from assignors.cli.outputs.progress import with_progress
from assignors.replay import replay
from assignors.replay.sources import Raw, SourceError, read_stream

GZIP_MAGIC = b"\x1f\x8b"


@contextmanager
def replay_with_python(request: ReplayRequest) -> Iterator[ReplayResult]:
    """Provide all tables, and write them where they were asked for."""
    with _without_collection():
        yield _replayed(request)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Switch Python's search for garbage in cycles off: rows and records have none.

    It takes a tenth of the time to look for some in all of them, again and again.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _replayed(request: ReplayRequest) -> ReplayResult:
    settings, selection = request.settings, request.settings.selection
    try:
        with needed_by("replay", "replay"):  # Parquet, and most compressed segments
            found = replay(
                _source(request),
                name=request.where,
                bootstrap=request.cluster,
                group=request.wanted,
                what_if=settings.assignors,
                partitions=settings.partition_counts,
                log_ends=settings.log_ends,
                min_severity=selection.min_severity,
                kinds=selection.kinds,
                since=selection.since_ms,
                until=selection.until_ms,
                thresholds=asdict(settings.thresholds),
                redact=request.redact,
                tables=settings.tables,
                progress=with_progress,
                say=say_skipped,
            )
    except (SourceError, OSError, ValueError) as error:
        raise UnreadableError(str(error)) from error
    if request.out is not None:
        found.write_tables(request.out)
    offsets = found.tables.offsets
    return ReplayResult(
        tables=found.tables,
        commits=lambda limit: offsets[:limit],
        commit_count=lambda: len(offsets),
    )


def _source(request: ReplayRequest) -> str | Iterator[Raw] | None:
    """Return a path or the lines of standard input; `None` for the topic of a cluster."""
    if request.source != STANDARD_INPUT:
        return request.source
    return read_stream(_standard_input(), name=request.where, say=say_skipped)


def _standard_input() -> BinaryIO:
    """Return standard input, unpacked if it is gzipped."""
    stream = standard_input()
    is_packed = isinstance(stream, BufferedReader) and stream.peek(2)[:2] == GZIP_MAGIC
    return cast("BinaryIO", gzip.GzipFile(fileobj=stream)) if is_packed else stream
