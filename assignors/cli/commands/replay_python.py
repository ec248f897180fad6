"""Replay in this process: all records in memory, no Java needed."""

from __future__ import annotations

import gc
import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BufferedReader
from itertools import chain
from pathlib import Path
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
from assignors.replay.analysis.redact import numbered
from assignors.replay.decode.logged_records import LoggedRecord, logged_records
from assignors.replay.engines.python import chosen_histories, joined, replayed

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
    """Return all tables, written where they were asked for."""
    records = _records(request)
    try:
        histories = chosen_histories(
            records,
            where=request.where,
            wanted=request.wanted,
            topic_names=request.topic_names,
        )
    except ValueError as error:
        raise UnreadableError(str(error)) from error
    settings = request.settings
    if request.redact:
        settings = replace(settings, label=numbered(histories))
    replays = (replayed(history, settings) for history in histories)
    tables = joined(with_progress(replays, len(histories), "groups"))
    if request.out is not None:
        from assignors.replay.tables.arrow import write_tables  # noqa: PLC0415 - needs pyarrow

        write_tables(tables, request.out)
    offsets = tables.offsets
    return ReplayResult(
        tables=tables,
        commits=lambda limit: offsets[:limit],
        commit_count=lambda: len(offsets),
    )


def _records(request: ReplayRequest) -> list[LoggedRecord]:
    """Return the records of the source; `UnreadableError` if it cannot be read at all."""
    if request.is_sample:
        from assignors.replay.sample import incident  # noqa: PLC0415 - only who asks pays for it

        return incident()
    source = request.source
    if source not in {None, STANDARD_INPUT} and not Path(str(source)).exists():
        raise UnreadableError(f"{source}: no such file or folder")
    from assignors.replay.sources import (  # noqa: PLC0415 - the sample needs none of it
        SourceError,
        open_source,
        read_stream,
    )

    try:
        if request.source is not None:
            is_piped = request.source == STANDARD_INPUT
            with needed_by("replay", "replay"):  # Parquet, and most compressed segments
                raws = (
                    read_stream(_standard_input(), name=request.where, say=say_skipped)
                    if is_piped
                    else open_source(request.source, say=say_skipped)
                )
                return list(logged_records(with_progress(raws, None, "records")))
        assert request.cluster is not None, "without a source there is a cluster"
        with needed_by("a live cluster", "dump"):
            from assignors.cli.inputs.live_topic import live_records  # noqa: PLC0415 - an extra

        chunks = live_records(request.cluster, wanted=request.wanted)
        return list(logged_records(chain.from_iterable(chunks)))
    except (SourceError, OSError) as error:
        raise UnreadableError(str(error)) from error


def _standard_input() -> BinaryIO:
    """Return standard input, unpacked if it is gzipped."""
    stream = standard_input()
    is_packed = isinstance(stream, BufferedReader) and stream.peek(2)[:2] == GZIP_MAGIC
    return cast("BinaryIO", gzip.GzipFile(fileobj=stream)) if is_packed else stream
