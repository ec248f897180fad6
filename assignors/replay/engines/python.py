"""The executor in plain Python: records of a source in any order, tables out.

It works group by group, as the one on Spark does, which calls the same function for each group:
`replayed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from assignors.replay.analysis.group_analysis import GroupAnalysis, analysed_group
from assignors.replay.analysis.table_rows import (
    assignment_rows,
    generation_rows,
    group_rows,
    member_rows,
)
from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.engines.by_group import RecordsByGroup
from assignors.replay.findings import findings
from assignors.replay.history.fold import group_history
from assignors.replay.history.model import GroupHistory
from assignors.replay.history.redact import (
    names_of,
    numbered,
    redacted,
    redacted_outcome,
)
from assignors.replay.settings import DEFAULT, Settings
from assignors.replay.tables.rows import TABLES, OutcomeRow, Row, Tables
from wire.text import utf16_key

RowT = TypeVar("RowT", bound=Row)
T = TypeVar("T")

Counted = Callable[[Iterator[T], int], Iterable[T]]
"""Passes on the items of work, of which so many will come."""


def replay_records(
    entries: Iterable[LoggedRecord],
    settings: Settings = DEFAULT,
    *,
    hide_names: bool = False,
) -> Tables:
    """Return the tables of all groups in `entries`.

    `entries` are decoded records: those of one partition in the order of their offsets. With
    `hide_names` names are replaced by numbered labels. Memory: the tables, and the records of
    one group in 64. Cost: see `replayed`, for each group.
    """
    with RecordsByGroup() as records:
        records.add(entries)
        return replay_groups(records, settings, hide_names=hide_names)


def replay_groups(
    records: RecordsByGroup,
    settings: Settings = DEFAULT,
    *,
    topic_names: Mapping[str, str] = MappingProxyType({}),
    hide_names: bool = False,
    counted: Counted[GroupHistory] = lambda items, _: items,
) -> Tables:
    """Return the tables of groups, in the UTF-16 order of their names.

    Ahead of all groups only two things are looked for: the names of topics, to which `topic_names`
    adds, and the numbers that replace hidden names.
    """
    names = {**records.topic_names, **topic_names}

    def histories() -> Iterator[GroupHistory]:
        for group, entries in records.by_group():
            yield group_history(group, entries, topic_names=names)

    if hide_names:
        found = {one.group: [*names_of(one)] for one in histories()}
        ordered = sorted(found, key=utf16_key)
        label = numbered(name for group in ordered for name in found[group])
        settings = replace(settings, label=label)
    count = len(records.groups)
    parts = {one.group: replayed(one, settings) for one in counted(histories(), count)}
    return joined(parts[group] for group in sorted(parts, key=utf16_key))


def replayed(history: GroupHistory, settings: Settings = DEFAULT) -> Tables:
    """Return the tables of one group; names are hidden where the settings have labels.

    Cost: that of the optimal solver and of the assignors to try, for each generation.
    """

    def analysed() -> GroupAnalysis:
        return analysed_group(history, settings.partition_counts, settings.log_ends)

    def rows_of(table: str, made: Iterable[RowT]) -> tuple[RowT, ...]:
        return tuple(made) if table in settings.tables else ()

    analysis: GroupAnalysis | None = None
    outcomes: list[OutcomeRow] = []
    if settings.assignors:
        from assignors.replay.analysis.what_if import what_if  # noqa: PLC0415 - who asks pays

        analysis = analysed()
        outcomes = [row for assignor in settings.assignors for row in what_if(analysis, assignor)]
    if settings.label is not None:
        analysis, history = None, redacted(history, settings.label)
        outcomes = [redacted_outcome(row, history.group) for row in outcomes]
    analysis = analysis or analysed()
    found = findings(analysis, settings.thresholds, settings.selection)
    return Tables(
        groups=rows_of("groups", group_rows(analysis, found)),
        offsets=rows_of("offsets", history.commits),
        generations=rows_of("generations", generation_rows(analysis)),
        members=rows_of("members", member_rows(analysis)),
        assignments=rows_of("assignments", assignment_rows(analysis)),
        findings=tuple(found),
        outcomes=tuple(outcomes),
    )


def joined(parts: Iterable[Tables]) -> Tables:
    """Return the tables of several groups as one, in the order of the groups."""
    listed = list(parts)
    rows = {name: tuple(row for part in listed for row in getattr(part, name)) for name in TABLES}
    return Tables(**rows)
