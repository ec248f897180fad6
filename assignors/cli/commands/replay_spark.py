"""Replay dumps and live topics on a local Spark, with the records of one group in memory.

The tables are those of plain Python, rows in the same order. Commits stay in Spark: they are
written there, and come into this process only to be printed, some at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assignors.cli.commands.replay_request import (
    ReplayRequest,
    ReplayResult,
    UnreadableError,
    say_skipped,
)
from assignors.cli.inputs.extras import needed_by
from assignors.cli.outputs.progress import with_progress
from assignors.replay.decode.logged_records import no_record_words
from assignors.replay.engines.by_group import GROUPS_NAMED, no_group_matches
from assignors.replay.findings.causes import worst_first
from assignors.replay.tables.rows import (
    TABLES,
    FindingRow,
    GroupRow,
    OffsetRow,
    Row,
    Tables,
)
from wire.text import utf16_key

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

COMMITS_PER_BATCH = 200_000
"""About how many commits come from Spark at a time."""


@contextmanager
def replay_with_spark(request: ReplayRequest) -> Iterator[ReplayResult]:
    """Provide all tables; commits can be read until this context ends, which stops Spark."""
    with _session(request) as session:
        from assignors.replay.engines import spark  # noqa: PLC0415 - the extra `spark`
        from assignors.replay.tables.arrow import row_of  # noqa: PLC0415 - as above

        frame = _frame(request, session)
        learned = spark.topic_names(frame)
        wanted = request.wanted
        found = spark.tables(
            frame if wanted is None else spark.records_of_groups(frame, wanted),
            request.settings,
            topic_names={**learned, **request.topic_names},
            hide_names=request.redact,
            persist=True,
        )
        collected = {
            name: _in_order((row_of(TABLES[name], row) for row in _rows(found[name])), request)
            for name in with_progress(TABLES, len(TABLES), "tables")
            if name != "offsets"
        }
        tables = Tables(**collected)  # type: ignore[arg-type]
        if not tables.groups:
            _refuse_unanswered(request, frame)
        if request.out is not None:
            for name, table in found.items():
                path = str(Path(request.out) / f"{name}.parquet")
                table.write.mode("overwrite").parquet(path)
                found[name] = session.read.parquet(path)
        offsets = found["offsets"]
        yield ReplayResult(
            tables=tables,
            commits=lambda limit: _commits(offsets, limit, request),
            commit_count=offsets.count,
        )


@contextmanager
def _session(request: ReplayRequest) -> Iterator[Any]:
    """Provide a local Spark session with what the source needs; stop it afterwards."""
    with needed_by("--engine spark", "spark"):
        from pyspark.errors import PySparkException  # noqa: PLC0415 - the extra `spark`

        from assignors.replay.sources import SourceError  # noqa: PLC0415 - the extra `replay`
        from assignors.spark import local_session  # noqa: PLC0415 - as above
    try:
        session = local_session("local[*]")
    except PySparkException as error:
        raise click.UsageError(f"Spark does not start; it needs Java 17 ({error})") from None
    try:
        yield session
    except (PySparkException, SourceError) as error:
        text = str(error) if request.where in str(error) else f"{request.where}: {error}"
        raise UnreadableError(text.splitlines()[0]) from error
    finally:
        session.stop()


def _frame(request: ReplayRequest, session: Any) -> DataFrame:  # noqa: ANN401 - a session of any kind
    """Return the raw records of the source."""
    assert request.source is not None, "Spark reads files"
    frame = _file_frame(Path(request.source), session)
    if frame.isEmpty():
        raise UnreadableError(f"{request.where}: no records: is it empty?")
    return frame


def _file_frame(path: Path, session: Any) -> DataFrame:  # noqa: ANN401 - as above
    """Return the raw records at a path; its name decides how it is read, as in `open_source`."""
    from assignors.replay.engines.spark import (  # noqa: PLC0415 - the extra `spark`
        json_line_records,
        segment_records,
    )
    from assignors.replay.sources import (  # noqa: PLC0415 - the extra `replay`
        holds_lines,
        is_parquet,
        open_source,
    )

    if holds_lines(path, say=say_skipped):
        return json_line_records(session, path)
    if is_parquet(path):
        frame: DataFrame = session.read.parquet(str(path))
        return frame
    if path.suffix == ".log" or path.is_dir():
        return segment_records(session, path)
    open_source(path)
    raise AssertionError("a source that only plain Python can open")


def _refuse_unanswered(request: ReplayRequest, frame: DataFrame) -> None:
    """Raise `UnreadableError` if no record of the source can be read, or no group is wanted."""
    from pyspark.sql.functions import encode  # noqa: PLC0415 - the extra `spark`

    from assignors.replay.engines.spark import decode_records, group_names  # noqa: PLC0415 - as above

    errors = decode_records(frame).select("error")
    first, raw = errors.first(), frame.select("key").first()
    if first is not None and errors.where(errors["error"].isNull()).isEmpty():
        words = no_record_words(None if raw is None else raw["key"], first["error"])
        raise UnreadableError(f"{request.where}: {words}")
    if request.wanted is not None:
        groups = group_names(frame)
        some = groups.orderBy(encode("group", "UTF-16BE")).limit(GROUPS_NAMED).collect()
        names = [row["group"] for row in some]
        words = no_group_matches(request.wanted, groups.count(), names)
        raise UnreadableError(f"{request.where}: {words}")


def _in_order(rows: Iterable[Row], request: ReplayRequest) -> tuple[Row, ...]:
    """Return rows in the order of plain Python: groups by name, rows of a group as they came.

    A redacted group has its number in this order for a name. One worker has all rows of a group,
    so they come together and in order; the table of groups has rows of several workers.
    """

    def place(row: Row) -> tuple[int | bytes, ...]:
        group = int(row.group.rpartition("-")[2] or 0) if request.redact else utf16_key(row.group)
        if isinstance(row, GroupRow):
            return group, row.life
        return (group, *worst_first(row)) if isinstance(row, FindingRow) else (group,)

    return tuple(sorted(rows, key=place))


def _commits(offsets: DataFrame, limit: int | None, request: ReplayRequest) -> Iterator[OffsetRow]:
    """Yield commits in the order of plain Python; memory: `COMMITS_PER_BATCH`, or the limit."""
    from assignors.replay.tables.arrow import row_of  # noqa: PLC0415 - the extra `replay`

    order: list[Column] = [
        _group_order(request),
        offsets["record_partition"],
        offsets["record_offset"],
    ]
    if limit is None:
        part_count = offsets.count() // COMMITS_PER_BATCH + 1
        sorted_ = offsets.repartitionByRange(part_count, *order).sortWithinPartitions(*order)
    else:
        sorted_ = offsets.orderBy(*order).limit(limit)
    for row in _rows(sorted_):
        yield row_of(OffsetRow, row)  # type: ignore[misc]


def _group_order(request: ReplayRequest) -> Column:
    from pyspark.sql.functions import col, encode, substring_index  # noqa: PLC0415 - as above

    if request.redact:
        return substring_index("group", "-", -1).cast("bigint")
    return encode(col("group"), "UTF-16BE")


def _rows(frame: DataFrame) -> Iterator[Mapping[str, Any]]:
    for row in frame.toLocalIterator():
        yield row.asDict(recursive=True)
