"""A replay in one call: any source in, every table out as Arrow, pandas or Polars.

`assignors.replay.replay` calls `replay_source`, and so does the command. The executor is that in
plain Python; `engines.spark` has the one for DataFrames.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from assignors.arrow.row_table import RowTable
from assignors.assignor import Assignor
from assignors.clients.librdkafka.settings import ClientSettings, read_settings
from assignors.extras import imported_from
from assignors.model import Cluster
from assignors.names.nearest import suggestion
from assignors.registry import assignor_of
from assignors.replay.analysis.outcome_rows import total
from assignors.replay.decode.logged_records import (
    LoggedRecord,
    logged_record,
    logged_records,
    of_groups,
)
from assignors.replay.engines.by_group import RecordsByGroup
from assignors.replay.engines.python import replay_groups
from assignors.replay.findings import FINDINGS, Selection, Severity
from assignors.replay.findings.causes import worst_first
from assignors.replay.findings.table import RANK
from assignors.replay.findings.thresholds import thresholds_from_document
from assignors.replay.history.log_ends import LogEnds, log_ends_from_document
from assignors.replay.settings import Settings
from assignors.replay.sources import Raw, open_source
from assignors.replay.sources.topic_by_consumer import Chunk, open_topic
from assignors.replay.tables.rows import (
    TABLES,
    AssignmentRow,
    FindingRow,
    GenerationRow,
    GroupRow,
    MemberRow,
    OffsetRow,
    OutcomeRow,
    Row,
    Tables,
)

if TYPE_CHECKING:
    import pyarrow as pa


@runtime_checkable
class ArrowStream(Protocol):
    """A table of another library, see Arrow's PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the table's columns as a stream."""


class Progress(Protocol):
    """Passes on the items of work, and may show how far it is."""

    def __call__(
        self,
        items: Iterable[Any],
        count: int | None,
        unit: str,
        weight: Callable[[Any], int] = ...,
        /,
    ) -> Iterable[Any]:
        """`weight` says how many of `count` an item is: one, unless it is given."""


Source = str | PathLike[str] | ArrowStream | Iterable[Raw] | Iterable[LoggedRecord]
"""The path of a dump; a table in memory; or records, as `sources` and `sample.incident()` give."""

Instant = datetime | int
"""A time: a datetime with a time zone, or epoch milliseconds as the tables have them."""

RowT = TypeVar("RowT", bound=Row)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """The tables of a replay. A row is described in `assignors.replay.tables.rows`."""

    groups: RowTable[GroupRow]
    """A row for each life of a group."""
    offsets: RowTable[OffsetRow]
    """A row for each offset commit, or the tombstone of one."""
    generations: RowTable[GenerationRow]
    """A row for each generation, or group epoch."""
    members: RowTable[MemberRow]
    """A row for each member of each generation."""
    assignments: RowTable[AssignmentRow]
    """A row for each interval in which a member owned a partition."""
    findings: RowTable[FindingRow]
    """A row for each finding, worst first."""
    outcomes: RowTable[OutcomeRow]
    """A row for each generation and assignor of `what_if`; then the sums, without a generation:
    of each life, and of all groups together (`life` is 0)."""
    tables: Tables
    """The rows as the engines have them, without the sums of all groups."""
    title: str

    def write_tables(self, folder: str | PathLike[str]) -> list[Path]:
        """Write each table as `folder/<table>.parquet`, as `--out` does; return the paths."""
        with imported_from("replay"):
            from assignors.replay.tables.arrow import write_tables  # noqa: PLC0415 - needs pyarrow

        return write_tables(self.tables, fspath(folder))

    def write_report(self, path: str | PathLike[str]) -> None:
        """Write the history of all groups as one HTML page. Needs Jinja2 (the extra `replay`)."""
        from assignors.replay.report import page  # noqa: PLC0415 - only who asks pays for it

        Path(path).write_text(page(self.tables, title=self.title), encoding="utf-8")

    def __repr__(self) -> str:
        return f"<replay of {self.title}: {self._counts()}>"

    def _repr_html_(self) -> str:
        """Return how many rows there are, and the first groups and findings, for notebooks."""
        parts = (f"<p>rows: {self._counts()}</p>", self.groups._repr_html_())
        return "".join((*parts, self.findings._repr_html_()))

    def _counts(self) -> str:
        return ", ".join(f"{name} {len(getattr(self, name)):,}" for name in TABLES)


def replay_source(
    source: Source | None,
    settings: Settings,
    *,
    name: str | None,
    cluster: ClientSettings | None,
    group: str | re.Pattern[str] | None,
    redact: bool,
    progress: Progress,
    say: Callable[[str], None],
) -> ReplayResult:
    """Return the tables of a source: `assignors.replay.replay` has the words."""
    counts, names = _counts_and_names(cluster)
    settings = replace(settings, partition_counts={**counts, **settings.partition_counts})
    with RecordsByGroup(pattern_of(group)) as records:
        if source is not None:
            where, entries = entries_of(source, progress, say)
            records.add(entries)
        elif cluster is not None:
            where = _add_live(records, cluster, progress)
        else:
            raise ValueError("name a source, or a cluster: bootstrap")
        records.require_some(name or where)
        tables = replay_groups(
            records,
            settings,
            topic_names=names,
            hide_names=redact,
            counted=lambda items, count: progress(items, count, "groups"),
        )
    return result_of(tables, title="replay" if redact else Path(name or where).name)


def settings_of(
    *,
    what_if: str | Assignor | Iterable[str | Assignor],
    partitions: Mapping[str, int] | None,
    log_ends: Iterable[Mapping[str, object] | LogEnds],
    selection: Selection,
    thresholds: Mapping[str, int] | None,
    tables: Iterable[str] | None,
) -> Settings:
    """Return the settings that were asked for; `ValueError` for what cannot be."""
    Cluster.of(partitions or {})  # refuses what is no count
    wanted = {*TABLES} if tables is None else {*tables}
    for table in wanted - TABLES.keys():
        raise ValueError(f"no table {table!r}{suggestion(table, TABLES)}")
    return Settings(
        partition_counts=partitions or {},
        assignors=_assignors(what_if),
        log_ends=tuple(
            one if isinstance(one, LogEnds) else log_ends_from_document(one) for one in log_ends
        ),
        selection=selection,
        thresholds=thresholds_from_document(thresholds or {}),
        tables=wanted,
    )


def cluster_of(
    bootstrap: str | ClientSettings | None, command_config: str | None
) -> ClientSettings | None:
    """Return the settings of a client for a cluster, `None` where neither names one.

    Raises `ValueError` for a file that has what this client does not have, or names no broker.
    """
    if isinstance(bootstrap, ClientSettings):
        return bootstrap
    if bootstrap is None and command_config is None:
        return None
    settings = ClientSettings() if command_config is None else read_settings(command_config)
    if bootstrap is not None:
        settings = settings.at(bootstrap)
    if not settings.where:
        raise ValueError("name a broker: bootstrap")
    return settings


def _counts_and_names(
    cluster: ClientSettings | None,
) -> tuple[Mapping[str, int], Mapping[str, str]]:
    """Return partition counts by topic, and topics by id; nothing without a cluster.

    Raises `ConnectionError` where the cluster cannot be reached.
    """
    if cluster is None:
        return {}, {}
    with imported_from("dump"):
        from assignors.clients.librdkafka.topics import known_topics  # noqa: PLC0415 - an extra
    known = known_topics(cluster)
    return known.partition_counts, known.names


def _add_live(records: RecordsByGroup, cluster: ClientSettings, progress: Progress) -> str:
    """Add the records that the topic of a cluster has now; return its name for messages."""
    with open_topic(cluster) as topic:
        chunks: Iterable[Chunk] = progress(
            topic.chunks, topic.offset_count, "offsets", lambda chunk: chunk.offset_count
        )
        for chunk in chunks:
            raws: Iterable[Raw] = chunk.raws
            if records.wanted is not None:
                raws = of_groups(raws, records.wanted, records.others)
            records.add(logged_records(raws))
        return topic.where


def pattern_of(group: str | re.Pattern[str] | None) -> re.Pattern[str] | None:
    """Return a regular expression for names of groups; `ValueError` for what is none."""
    try:
        return None if group is None else re.compile(group)
    except re.error as error:
        raise ValueError(f"group: {group!r} is no regular expression: {error}") from None


def selection_of(
    *,
    min_severity: str | None,
    kinds: str | Iterable[str],
    since: Instant | None,
    until: Instant | None,
) -> Selection:
    """Return which findings are wanted; `ValueError` for what names none."""
    wanted = [kinds] if isinstance(kinds, str) else kinds
    listed = tuple(_named(FINDINGS, "kind", each) for each in wanted)
    default = Severity.NOTE if listed else Severity.LOW
    return Selection(
        min_severity=default
        if min_severity is None
        else Severity(_named(RANK, "severity", min_severity)),
        kinds=listed,
        since_ms=epoch_ms("since", since),
        until_ms=epoch_ms("until", until),
    )


def _named(known: Collection[str], what: str, name: str) -> str:
    """Return a value by its name; `ValueError` with the nearest name for what is none."""
    if name not in known:
        raise ValueError(f"no {what} {name!r}{suggestion(name, known)}")
    return name


def epoch_ms(name: str, given: Instant | None) -> int | None:
    """Return a time as epoch milliseconds; a datetime must have its time zone."""
    if given is None or isinstance(given, int):
        return given
    if not isinstance(given, datetime):
        raise ValueError(f"{name}: {given!r} is no datetime and no epoch milliseconds")
    if given.tzinfo is None:
        raise ValueError(f"{name}: {given} has no time zone")
    return int(given.timestamp() * 1000)


def result_of(tables: Tables, *, title: str) -> ReplayResult:
    """Return the rows of an engine as tables that can be converted."""
    outcomes = (*tables.outcomes, *total(tables.outcomes))
    return ReplayResult(
        groups=_table("groups", tables.groups),
        offsets=_table("offsets", tables.offsets),
        generations=_table("generations", tables.generations),
        members=_table("members", tables.members),
        assignments=_table("assignments", tables.assignments),
        findings=_table("findings", sorted(tables.findings, key=worst_first)),
        outcomes=_table("outcomes", outcomes),
        tables=tables,
        title=title,
    )


def _table(name: str, rows: Sequence[RowT]) -> RowTable[RowT]:
    def arrow_of(listed: Sequence[RowT]) -> pa.Table:
        from assignors.replay.tables.arrow import as_arrow  # noqa: PLC0415 - needs pyarrow

        return as_arrow(TABLES[name], listed)

    return RowTable(name, rows, arrow_of)


def entries_of(
    source: Source, progress: Progress, say: Callable[[str], None]
) -> tuple[str, Iterator[LoggedRecord]]:
    """Return the name of a source for messages, and its records."""
    where, raws = "the records", source
    if isinstance(source, str | PathLike):
        where, raws = str(source), open_source(fspath(source), say=say)
    elif isinstance(source, ArrowStream):
        from assignors.replay.sources.arrow.frames import WHERE, read_frame  # noqa: PLC0415 - an extra

        where, raws = WHERE, read_frame(source)
    if not isinstance(raws, Iterable):
        raise ValueError(f"source: {type(source).__name__} is no path, no table and no records")
    return where, _decoded(progress(raws, None, "records"))


def _decoded(listed: Iterable[object]) -> Iterator[LoggedRecord]:
    for one in listed:
        if isinstance(one, Raw):
            yield logged_record(one)
        elif isinstance(one, LoggedRecord):
            yield one
        else:
            raise ValueError(f"source: {type(one).__name__} is no record")


def _assignors(given: str | Assignor | Iterable[str | Assignor]) -> tuple[Assignor, ...]:
    """Return the assignors, by name or not, each once."""
    listed = [given] if isinstance(given, str | Assignor) else given
    found = map(assignor_of, listed)
    return tuple({assignor.full_name: assignor for assignor in found}.values())
