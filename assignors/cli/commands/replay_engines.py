"""Where a replay's records come from and who tells them: plain Python, or a local Spark.

Both give the same tables, their rows in the same order. Plain Python holds all records and needs
no Java; Spark holds those of one group, reads a live topic, and keeps the commits where they
are: they are written there, and pass through this process only to be printed, some at a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assignors.cli.outputs.output import UNREADABLE
from assignors.cli.outputs.progress import worked
from assignors.replay.analysis.redact import numbered
from assignors.replay.decode.logged_records import LoggedRecord, logged_records
from assignors.replay.engines.python import Settings, joined, replayed
from assignors.replay.history.model import GroupHistory
from assignors.replay.history.timeline import learned_names, timeline
from assignors.replay.tables.rows import (
    TABLES,
    AnomalyKind,
    AnomalyRow,
    GroupRow,
    OffsetRow,
    Row,
    Tables,
)
from wire.text import utf16_key

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EXTRA = "pip install 'kafka-assignors[{}]'"

GROUPS_NAMED = 5
"""So many groups are named where none has the name asked for."""

COMMITS_TOGETHER = 200_000
"""So many commits, about, come from Spark at a time."""


class UnreadableError(click.ClickException):
    """A source in which there is nothing to tell, in one line."""

    exit_code = UNREADABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRequest:
    """What the user asked of a replay."""

    source: str | None
    """`None`: the live topic at `bootstrap`."""
    bootstrap: str | None = None
    jars: str | None = None
    """A folder with Spark's Kafka connector."""
    wanted: re.Pattern[str] | None = None
    settings: Settings = field(default_factory=Settings)
    topic_names: Mapping[str, str] = field(default_factory=dict)
    redact: bool = False
    out: str | None = None

    @property
    def where(self) -> str:
        """The source's name, for messages."""
        return self.source or f"__consumer_offsets at {self.bootstrap}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """The tables of a replay; the commits apart, as there may be more than fit into memory."""

    tables: Tables
    commits: Callable[[int | None], Iterable[OffsetRow]]
    """The first so many in the order of the groups, `None`: all."""
    commit_count: Callable[[], int]


@contextmanager
def replay_with_python(asked: ReplayRequest) -> Iterator[ReplayResult]:
    """Give all tables, and write them where they were asked for."""
    histories = _histories(asked, _read(asked))
    settings = asked.settings
    if asked.redact:
        settings = replace(settings, label=numbered(histories))
    told = (replayed(history, settings) for history in histories)
    tables = joined(worked(told, len(histories), "groups"))
    if asked.out is not None:
        from assignors.replay.tables.arrow import write_tables  # noqa: PLC0415 - needs pyarrow

        write_tables(tables, asked.out)
    offsets = tables.offsets
    yield ReplayResult(
        tables=tables,
        commits=lambda limit: offsets[:limit],
        commit_count=lambda: len(offsets),
    )


@contextmanager
def replay_with_spark(asked: ReplayRequest) -> Iterator[ReplayResult]:
    """Give all tables but the commits, which Spark has as long as this lasts."""
    with _session(asked) as session:
        from assignors.replay.engines import spark_tables  # noqa: PLC0415 - the extra `spark`
        from assignors.replay.engines.spark_records import topic_names  # noqa: PLC0415 - as above
        from assignors.replay.tables.arrow import row_of  # noqa: PLC0415 - as above

        frame = _frame(asked, session)
        # A cluster has told the names already, and its topic is not read once more for them.
        learned = {} if asked.source is None else topic_names(frame)
        found = spark_tables.tables(
            _wanted(asked, frame),
            asked.settings,
            topic_names={**learned, **asked.topic_names},
            hide_names=asked.redact,
            persist=True,
        )
        collected = {
            name: _in_order((row_of(TABLES[name], row) for row in _rows(found[name])), asked)
            for name in worked(TABLES, len(TABLES), "tables")
            if name != "offsets"
        }
        tables = Tables(**collected)  # type: ignore[arg-type]
        _refuse_foreign(asked, tables)
        if asked.out is not None:
            for name, table in found.items():
                path = str(Path(asked.out) / f"{name}.parquet")
                table.write.mode("overwrite").parquet(path)
                found[name] = session.read.parquet(path)
        offsets = found["offsets"]
        yield ReplayResult(
            tables=tables,
            commits=lambda limit: _commits(offsets, limit, asked),
            commit_count=offsets.count,
        )


def _read(asked: ReplayRequest) -> list[LoggedRecord]:
    """Return the records of a source; what cannot be read at all is a sentence."""
    if find_spec("pyarrow") is None:
        raise click.UsageError(f"replay needs pyarrow: {EXTRA.format('replay')}")
    from assignors.replay.sources import (  # noqa: PLC0415 - the extra `replay`
        SourceError,
        open_source,
        rows,
    )

    try:
        if asked.source is not None:
            batches: Any = open_source(asked.source)
            return list(logged_records(worked(rows(batches), None, "records")))
        with _session(asked) as session:
            batches = _wanted(asked, _frame(asked, session)).toArrow().to_batches()
        return list(logged_records(rows(batches)))
    except (SourceError, OSError) as error:
        raise UnreadableError(str(error)) from error


def _histories(asked: ReplayRequest, read: Sequence[LoggedRecord]) -> list[GroupHistory]:
    """Return the history of each group asked for; say so where there is none."""
    if not read:
        raise UnreadableError(f"{asked.where}: no records: is it empty?")
    first = read[0].record.error
    if first is not None and all(entry.record.error is not None for entry in read):
        raise UnreadableError(f"{asked.where}: no record is one of __consumer_offsets: {first}")
    names = {**learned_names(read), **asked.topic_names}
    histories = list(timeline(read, topic_names=names))
    if asked.wanted is None:
        return histories
    wanted = asked.wanted
    found = [history for history in histories if wanted.search(history.group)]
    if not found:
        groups = [history.group for history in histories if history.group]
        raise _nobody(asked, len(groups), groups[:GROUPS_NAMED])
    return found


def _nobody(asked: ReplayRequest, group_count: int, names: Sequence[str]) -> UnreadableError:
    assert asked.wanted is not None
    return UnreadableError(
        f"{asked.where}: no group is called {asked.wanted.pattern!r}; "
        f"{group_count} are there: {', '.join(names)}"
    )


@contextmanager
def _session(asked: ReplayRequest) -> Iterator[Any]:
    """Give a local Spark with what the source needs, and stop it in the end."""
    try:
        from pyspark.errors import PySparkException  # noqa: PLC0415 - the extra `spark`

        from assignors.replay.sources import SourceError  # noqa: PLC0415 - the extra `replay`
        from assignors.replay.sources.live import connector_settings  # noqa: PLC0415 - as above
        from assignors.spark import local_session  # noqa: PLC0415 - as above
    except ModuleNotFoundError as error:
        raise click.UsageError(f"{error.name} is missing: {EXTRA.format('spark')}") from None
    is_live = asked.source is None
    if is_live and asked.jars is None:
        raise click.UsageError(
            "a live topic is read through Spark's Kafka connector: name a folder with --jars"
        )
    try:
        settings = connector_settings(asked.jars) if is_live and asked.jars else {}
        session = local_session("local[*]", **settings)
    except SourceError as error:
        raise UnreadableError(str(error)) from error
    except PySparkException as error:
        raise click.UsageError(f"Spark does not start; it needs Java 17 ({error})") from None
    try:
        yield session
    except (PySparkException, SourceError) as error:
        text = str(error) if asked.where in str(error) else f"{asked.where}: {error}"
        raise UnreadableError(text.splitlines()[0]) from error
    finally:
        session.stop()


def _frame(asked: ReplayRequest, session: Any) -> DataFrame:  # noqa: ANN401 - a session of any kind
    """Return the raw records of the source."""
    from assignors.replay.sources.live import read_topic, require_rows  # noqa: PLC0415 - as above

    if asked.source is None:
        assert asked.bootstrap is not None, "without a source there is a cluster"
        return require_rows(read_topic(session, asked.bootstrap), asked.where)
    frame = _file_frame(Path(asked.source), session)
    if frame.isEmpty():
        raise UnreadableError(f"{asked.where}: no records: is it empty?")
    return frame


def _file_frame(path: Path, session: Any) -> DataFrame:  # noqa: ANN401 - as above
    """Return the raw records at a path, whose name tells what it is, as to `open_source`."""
    from assignors.replay.engines.spark_decoding import (  # noqa: PLC0415 - the extra `spark`
        json_line_records,
        segment_records,
    )
    from assignors.replay.sources import (  # noqa: PLC0415 - the extra `replay`
        is_json_lines,
        is_parquet,
        open_source,
    )

    if is_json_lines(path):
        return json_line_records(session, path)
    if is_parquet(path):
        frame: DataFrame = session.read.parquet(str(path))
        return frame
    if path.suffix == ".log" or path.is_dir():
        return segment_records(session, path)
    open_source(path)
    raise AssertionError("a source that only plain Python can open")


def _wanted(asked: ReplayRequest, frame: DataFrame) -> DataFrame:
    """Return the records of the groups asked for; say so where there is none."""
    from pyspark.sql.functions import encode  # noqa: PLC0415 - as above

    from assignors.replay.engines.spark_records import records_of, with_named  # noqa: PLC0415 - as above

    if asked.wanted is None:
        return frame
    found = records_of(frame, asked.wanted)
    if found is not None:
        return found
    groups = with_named(frame).where("named != ''").select("named").distinct()
    first = groups.orderBy(encode("named", "UTF-16BE")).limit(GROUPS_NAMED)
    raise _nobody(asked, groups.count(), [row["named"] for row in first.collect()])


def _refuse_foreign(asked: ReplayRequest, tables: Tables) -> None:
    """Say that a source is no offsets topic, if nothing in it could be read."""
    unreadable = [row for row in tables.anomalies if row.kind == AnomalyKind.UNREADABLE]
    if unreadable and not tables.groups:
        raise UnreadableError(
            f"{asked.where}: no record is one of __consumer_offsets: {unreadable[0].evidence}"
        )


def _in_order(rows: Iterable[Row], asked: ReplayRequest) -> tuple[Row, ...]:
    """Return rows as plain Python has them: groups by name, those of a group as they came.

    What hides a group is its number in this order. The rows of a group, of which one worker has
    all, come together and in order; not so those of the table of groups.
    """

    def place(row: Row) -> tuple[int | bytes, int, int]:
        group = int(row.group.rpartition("-")[2] or 0) if asked.redact else utf16_key(row.group)
        if isinstance(row, GroupRow):
            return group, row.life, 0
        # What names no group comes from several workers.
        return (group, row.at_ms, row.life) if isinstance(row, AnomalyRow) else (group, 0, 0)

    return tuple(sorted(rows, key=place))


def _commits(offsets: DataFrame, limit: int | None, asked: ReplayRequest) -> Iterator[OffsetRow]:
    """Yield commits in the order of plain Python; memory: `COMMITS_TOGETHER`, or the limit."""
    from assignors.replay.tables.arrow import row_of  # noqa: PLC0415 - the extra `replay`

    order: list[Column] = [
        _group_order(asked),
        offsets["record_partition"],
        offsets["record_offset"],
    ]
    if limit is None:
        part_count = offsets.count() // COMMITS_TOGETHER + 1
        sorted_ = offsets.repartitionByRange(part_count, *order).sortWithinPartitions(*order)
    else:
        sorted_ = offsets.orderBy(*order).limit(limit)
    for row in _rows(sorted_):
        yield row_of(OffsetRow, row)  # type: ignore[misc]


def _group_order(asked: ReplayRequest) -> Column:
    from pyspark.sql.functions import col, encode, substring_index  # noqa: PLC0415 - as above

    if asked.redact:
        return substring_index("group", "-", -1).cast("bigint")
    return encode(col("group"), "UTF-16BE")


def _rows(frame: DataFrame) -> Iterator[Mapping[str, Any]]:
    for row in frame.toLocalIterator():
        yield row.asDict(recursive=True)
