"""The replay engine in plain Python: decoded records in, tables out.

It works group by group, and the engine on Spark calls the same functions for each group
(`analysis_and_outcomes`, `tables_of`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeVar

from assignors.assignor import Assignor
from assignors.replay.analysis.group_analysis import GroupAnalysis, analysed_group
from assignors.replay.analysis.redact import Label, numbered, redacted, redacted_outcome
from assignors.replay.analysis.table_rows import (
    assignment_rows,
    generation_rows,
    group_rows,
    member_rows,
)
from assignors.replay.decode.logged_records import LoggedRecord, no_record_words, reason
from assignors.replay.findings import Selection, Thresholds, findings
from assignors.replay.history.fold import histories as histories_of
from assignors.replay.history.fold import learned_names
from assignors.replay.history.log_ends import LogEnds
from assignors.replay.history.model import GroupHistory
from assignors.replay.tables.rows import TABLES, OutcomeRow, Row, Tables

RowT = TypeVar("RowT", bound=Row)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Options of a replay."""

    partition_counts: Mapping[str, int] = field(default_factory=dict)
    """Topic -> partition count, where the cluster is known; the rest is inferred."""
    assignors: Sequence[Assignor] = ()
    """Assignors to try instead: the outcomes table."""
    log_ends: Sequence[LogEnds] = ()
    """Where partitions ended at some moments, for rates and lag."""
    thresholds: Thresholds = field(default_factory=Thresholds)
    selection: Selection = field(default_factory=Selection)
    """Which findings are wanted: all but notes, unless more or less is asked for."""
    label: Label | None = None
    """Replaces names by labels; `None` leaves them."""
    tables: Collection[str] = frozenset(TABLES)
    """The tables whose rows are wanted; others stay empty, but for `findings`."""


GROUPS_NAMED = 5
"""How many groups are named in the message that no group matches."""

DEFAULT = Settings()
"""No known partition counts, no assignors to try, no hidden names."""


def replay(
    entries: Iterable[LoggedRecord],
    settings: Settings = DEFAULT,
    *,
    hide_names: bool = False,
) -> Tables:
    """Return the tables of all groups in `entries`.

    `entries` are decoded records: those of one partition in the order of their offsets. With
    `hide_names` names are replaced by numbered labels (`redact.numbered`). Memory: the records and
    the tables. Cost: see `replayed`, for each group.
    """
    listed = list(entries)
    histories = list(histories_of(listed, topic_names=learned_names(listed)))
    if hide_names:
        settings = replace(settings, label=numbered(histories))
    return joined(replayed(history, settings) for history in histories)


def chosen_histories(
    records: Sequence[LoggedRecord],
    *,
    where: str,
    wanted: re.Pattern[str] | None = None,
    topic_names: Mapping[str, str] = MappingProxyType({}),
) -> list[GroupHistory]:
    """Return the history of each group whose name matches `wanted`, anywhere in it.

    `where` names the source in messages, `topic_names` are names by topic id that the records do
    not have. Raises `ValueError` where there are no records, none is one of `__consumer_offsets`,
    or no group matches. Cost: linear in the records.
    """
    if not records:
        raise ValueError(f"{where}: no records: is it empty?")
    if all(entry.record.error is not None for entry in records):
        first = records[0].record
        raise ValueError(f"{where}: {no_record_words(first.key_bytes, reason(first))}")
    names = {**learned_names(records), **topic_names}
    histories = list(histories_of(records, topic_names=names))
    if wanted is None:
        return histories
    found = [history for history in histories if wanted.search(history.group)]
    if not found:
        groups = [history.group for history in histories if history.group]
        raise ValueError(f"{where}: {no_group_matches(wanted, len(groups), groups)}")
    return found


def no_group_matches(wanted: re.Pattern[str], group_count: int, names: Sequence[str]) -> str:
    """Return in words that no group matches; `names` are some of the groups that there are."""
    listed = ", ".join(names[:GROUPS_NAMED])
    return f"no group matches {wanted.pattern!r}; {group_count} are there: {listed}"


def replayed(history: GroupHistory, settings: Settings = DEFAULT) -> Tables:
    """Return the tables of one group.

    Cost: that of the optimal solver and of the assignors to try, for each generation.
    """
    analysis, outcomes = analysis_and_outcomes(history, settings)
    return tables_of(analysis, outcomes, settings)


def analysis_and_outcomes(
    history: GroupHistory, settings: Settings = DEFAULT
) -> tuple[GroupAnalysis, tuple[OutcomeRow, ...]]:
    """Return the analysis of a group and the outcomes of other assignors, names hidden if set."""
    analysis = analysed_group(history, settings.partition_counts, settings.log_ends)
    outcomes: list[OutcomeRow] = []
    if settings.assignors:
        from assignors.replay.analysis.what_if import what_if  # noqa: PLC0415 - who asks pays

        outcomes = [row for assignor in settings.assignors for row in what_if(analysis, assignor)]
    if settings.label is not None:
        analysis = redacted(analysis, settings.label)
        outcomes = [redacted_outcome(row, analysis.history.group) for row in outcomes]
    return analysis, tuple(outcomes)


def tables_of(
    analysis: GroupAnalysis, outcomes: tuple[OutcomeRow, ...], settings: Settings = DEFAULT
) -> Tables:
    """Return the analysis of a group as rows of the tables that are wanted."""
    found = findings(analysis, settings.thresholds, settings.selection)

    def rows_of(table: str, made: Iterator[RowT]) -> tuple[RowT, ...]:
        return tuple(made) if table in settings.tables else ()

    return Tables(
        groups=rows_of("groups", group_rows(analysis, found)),
        offsets=rows_of("offsets", iter(analysis.history.commits)),
        generations=rows_of("generations", generation_rows(analysis)),
        members=rows_of("members", member_rows(analysis)),
        assignments=rows_of("assignments", assignment_rows(analysis)),
        findings=tuple(found),
        outcomes=outcomes,
    )


def joined(parts: Iterable[Tables]) -> Tables:
    """Return the tables of several groups as one, in the order of the groups."""
    listed = list(parts)
    rows = {name: tuple(row for part in listed for row in getattr(part, name)) for name in TABLES}
    return Tables(**rows)
