"""Replay in this process: all records in memory, no Java needed unless the topic is live."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec

import click

from assignors.cli.commands.replay_request import (
    EXTRA,
    ReplayRequest,
    ReplayResult,
    UnreadableError,
)
from assignors.cli.outputs.progress import with_progress
from assignors.replay.analysis.redact import numbered
from assignors.replay.decode.logged_records import LoggedRecord, logged_records
from assignors.replay.engines.python import chosen_histories, joined, replayed
from assignors.replay.sample import incident


@contextmanager
def replay_with_python(request: ReplayRequest) -> Iterator[ReplayResult]:
    """Provide all tables, and write them where they were asked for."""
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
    yield ReplayResult(
        tables=tables,
        commits=lambda limit: offsets[:limit],
        commit_count=lambda: len(offsets),
    )


def _records(request: ReplayRequest) -> list[LoggedRecord]:
    """Return the records of the source; `UnreadableError` if it cannot be read at all."""
    if request.is_sample:
        return incident()
    if find_spec("pyarrow") is None:
        raise click.UsageError(f"replay needs pyarrow: {EXTRA.format('replay')}")
    from assignors.replay.sources import (  # noqa: PLC0415 - the extra `replay`
        SourceError,
        open_source,
        rows,
    )

    try:
        if request.source is not None:
            raws = open_source(request.source)
            return list(logged_records(with_progress(raws, None, "records")))
        from assignors.cli.commands.replay_spark import live_batches  # noqa: PLC0415 - needs Spark

        return list(logged_records(rows(live_batches(request))))
    except (SourceError, OSError) as error:
        raise UnreadableError(str(error)) from error
