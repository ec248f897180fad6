"""Where a replay's records come from and who tells them: plain Python, or a local Spark.

Both give the same tables. Plain Python holds all records and needs no Java; Spark holds those of
one group, reads a live topic, and writes the commits where they are, without a detour through
this process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from secrets import token_bytes
from typing import TYPE_CHECKING, Any

import click

from assignors.cli.output import UNREADABLE
from assignors.cli.progress import worked
from assignors.replay.entries import entries
from assignors.replay.history import Entry, GroupHistory
from assignors.replay.redact import keyed, numbered
from assignors.replay.run import Settings, joined, replayed
from assignors.replay.tables import TABLES, Tables
from assignors.replay.timeline import learned_names, timeline

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

EXTRA = "pip install 'kafka-assignors[{}]'"


class UnreadableError(click.ClickException):
    """A source in which there is nothing to tell, in one line."""

    exit_code = UNREADABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
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


def told_by_python(asked: Asked) -> Tables:
    """Return all tables, and write them where they were asked for."""
    histories = _histories(asked, _read(asked))
    settings = asked.settings
    if asked.redact:
        settings = replace(settings, label=numbered(histories))
    told = (replayed(history, settings) for history in histories)
    tables = joined(worked(told, len(histories), "groups"))
    if asked.out is not None:
        from assignors.replay.arrow_tables import write_tables  # noqa: PLC0415 - needs pyarrow

        write_tables(tables, asked.out)
    return tables


def told_by_spark(asked: Asked) -> Tables:
    """Return all tables but the commits, which are written only; labels differ every time."""
    settings = asked.settings
    if asked.redact:
        settings = replace(settings, label=keyed(token_bytes(32)))
    with _session(asked) as session:
        from assignors.replay import spark_tables  # noqa: PLC0415 - the extra `spark`
        from assignors.replay.arrow_tables import row_of  # noqa: PLC0415 - as above

        frame = _frame(asked, session)
        names = dict(asked.topic_names)
        found = spark_tables.tables(frame, settings, topic_names=names, persist=True)
        if asked.out is not None:
            for name, table in found.items():
                path = str(Path(asked.out) / f"{name}.parquet")
                table.write.mode("overwrite").parquet(path)
        collected = {
            name: tuple(row_of(TABLES[name], row) for row in _rows(found[name]))
            for name in worked(TABLES, len(TABLES), "tables")
            if name != "offsets"
        }
    return Tables(**collected)  # type: ignore[arg-type]


def _read(asked: Asked) -> list[Entry]:
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
            return list(entries(worked(rows(batches), None, "records")))
        with _session(asked) as session:
            batches = _frame(asked, session).toArrow().to_batches()
        return list(entries(rows(batches)))
    except (SourceError, OSError) as error:
        raise UnreadableError(str(error)) from error


def _histories(asked: Asked, read: Sequence[Entry]) -> list[GroupHistory]:
    """Return the history of each group asked for; say so where there is none."""
    if not read:
        raise UnreadableError(f"{asked.where}: no records: is it empty?")
    first = read[0].record.error
    if first is not None and all(entry.record.error is not None for entry in read):
        raise UnreadableError(
            f"{asked.where}: none of {len(read)} records is one of __consumer_offsets: {first}"
        )
    names = {**learned_names(read), **asked.topic_names}
    histories = list(timeline(read, topic_names=names))
    if asked.wanted is None:
        return histories
    wanted = asked.wanted
    found = [history for history in histories if wanted.search(history.group)]
    if not found:
        shown = ", ".join(history.group for history in histories[:5])
        raise UnreadableError(
            f"{asked.where}: no group is called {wanted.pattern!r}; "
            f"{len(histories)} are there: {shown}"
        )
    return found


@contextmanager
def _session(asked: Asked) -> Iterator[Any]:
    """Give a local Spark with what the source needs, and stop it in the end."""
    try:
        from pyspark.errors import PySparkException  # noqa: PLC0415 - the extra `spark`

        from assignors.replay.sources import SourceError  # noqa: PLC0415 - the extra `replay`
        from assignors.replay.sources.live import connector_settings  # noqa: PLC0415 - as above
        from assignors.simulation.spark import local_session  # noqa: PLC0415 - as above
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
        raise UnreadableError(f"{asked.where}: {error}".splitlines()[0]) from error
    finally:
        session.stop()


def _frame(asked: Asked, session: Any) -> DataFrame:  # noqa: ANN401 - a session of any kind
    """Return the raw records of the source, those of the groups asked for."""
    from assignors.replay.sources.live import read_topic, require_rows  # noqa: PLC0415 - as above
    from assignors.replay.spark import segment_records, with_group  # noqa: PLC0415 - as above

    if asked.source is None:
        assert asked.bootstrap is not None, "without a source there is a cluster"
        frame = read_topic(session, asked.bootstrap)
    elif _is_parquet(Path(asked.source)):
        frame = session.read.parquet(asked.source)
    elif Path(asked.source).is_dir():
        frame = segment_records(session, asked.source)
    else:
        raise click.UsageError("--engine spark reads Parquet, folders of segments and live topics")
    if asked.wanted is not None:
        named = with_group(frame)
        frame = named.where(named["group"].rlike(asked.wanted.pattern)).drop("type", "group")
    return require_rows(frame, asked.where)


def _is_parquet(path: Path) -> bool:
    return path.suffix == ".parquet" or (path.is_dir() and any(path.glob("*.parquet")))


def _rows(frame: DataFrame) -> Iterator[Mapping[str, Any]]:
    for row in frame.toLocalIterator():
        yield row.asDict(recursive=True)
