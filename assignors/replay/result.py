"""A replay in one call: any source in, every table out as Arrow, pandas or Polars.

`assignors.replay.replay` calls `replayed_source`, which reads, decodes and analyses as the command
`kafka-assignors replay` does, with its Python engine. Sources that do not fit into memory are for
`engines.spark`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TypeVar

from assignors.extras import imported_from

with imported_from("replay"):
    import pyarrow as pa  # noqa: F401 - what all of this needs

from assignors.arrow.row_table import RowTable
from assignors.assignor import Assignor
from assignors.clients.librdkafka.settings import ClientSettings
from assignors.model import Cluster
from assignors.names.nearest import suggestion
from assignors.registry import assignor_of
from assignors.replay.analysis.outcome_rows import total
from assignors.replay.analysis.redact import numbered
from assignors.replay.decode.logged_records import LoggedRecord, logged_records
from assignors.replay.engines.python import Settings, chosen_histories, joined, replayed
from assignors.replay.findings import Selection, Severity
from assignors.replay.findings.causes import worst_first
from assignors.replay.findings.thresholds import thresholds_from_document
from assignors.replay.from_cluster import counts_and_names, live_records
from assignors.replay.history.log_ends import log_ends_from_document
from assignors.replay.sources import open_source
from assignors.replay.sources.arrow.frames import WHERE, ArrowStream, read_frame
from assignors.replay.tables.arrow import as_arrow, write_tables
from assignors.replay.tables.rows import (
    TABLES,
    AssignmentRow,
    FindingKind,
    FindingRow,
    GenerationRow,
    GroupRow,
    MemberRow,
    OffsetRow,
    OutcomeRow,
    Row,
    Tables,
)

Source = str | PathLike[str] | ArrowStream | Iterable[LoggedRecord]
"""The path of a dump; a table in memory; or decoded records, as `sample.incident()` gives."""

Instant = datetime | int
"""A time: a datetime with a time zone, or epoch milliseconds as the tables have them."""

Choice = TypeVar("Choice", Severity, FindingKind)
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


def replayed_source(
    source: Source | None,
    *,
    cluster: ClientSettings | None,
    group: str | re.Pattern[str] | None,
    what_if: str | Assignor | Iterable[str | Assignor],
    partitions: Mapping[str, int] | None,
    log_ends: Iterable[Mapping[str, object]],
    selection: Selection,
    thresholds: Mapping[str, int] | None,
    redact: bool,
) -> ReplayResult:
    """Return the tables of a source: `assignors.replay.replay` has the words."""
    wanted = _pattern(group)
    counts, names = counts_and_names(cluster)
    if source is not None:
        where, records = _records(source)
    elif cluster is not None:
        where, records = live_records(cluster, wanted)
    else:
        raise ValueError("name a source, or a cluster: bootstrap")
    histories = chosen_histories(records, where=where, wanted=wanted, topic_names=names)
    Cluster.of(partitions or {})  # refuses what is no count
    settings = Settings(
        partition_counts={**counts, **(partitions or {})},
        assignors=_assignors(what_if),
        log_ends=tuple(log_ends_from_document(one) for one in log_ends),
        selection=selection,
        thresholds=thresholds_from_document(thresholds or {}),
    )
    if redact:
        settings = replace(settings, label=numbered(histories))
    tables = joined(replayed(history, settings) for history in histories)
    return result_of(tables, title="replay" if redact else Path(where).name)


def _pattern(group: str | re.Pattern[str] | None) -> re.Pattern[str] | None:
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
    listed = tuple(_named(FindingKind, "kind", each) for each in wanted)
    default = Severity.NOTE if listed else Severity.LOW
    return Selection(
        min_severity=default
        if min_severity is None
        else _named(Severity, "severity", min_severity),
        kinds=listed,
        since_ms=_epoch_ms("since", since),
        until_ms=_epoch_ms("until", until),
    )


def _named(known: type[Choice], what: str, name: str) -> Choice:
    """Return a value by its name; `ValueError` with the nearest name for what is none."""
    if name not in list(known):
        raise ValueError(f"no {what} {name!r}{suggestion(name, known)}")
    return known(name)


def _epoch_ms(name: str, given: Instant | None) -> int | None:
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
    return RowTable(name, rows, partial(as_arrow, TABLES[name]))


def _records(source: Source) -> tuple[str, list[LoggedRecord]]:
    """Return the name of a source for messages, and its records."""
    if isinstance(source, str | PathLike):
        path = Path(source)
        return str(path), list(logged_records(open_source(path)))
    if isinstance(source, ArrowStream):
        return WHERE, list(logged_records(read_frame(source)))
    records = list(source) if isinstance(source, Iterable) else [source]
    if all(isinstance(record, LoggedRecord) for record in records):
        return "the records", records
    raise ValueError(f"source: {type(source).__name__} is no path, no table and no records")


def _assignors(given: str | Assignor | Iterable[str | Assignor]) -> tuple[Assignor, ...]:
    """Return the assignors, by name or not, each once."""
    listed = [given] if isinstance(given, str | Assignor) else given
    found = map(assignor_of, listed)
    return tuple({assignor.full_name: assignor for assignor in found}.values())
