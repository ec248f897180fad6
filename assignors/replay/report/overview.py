"""The top of the page: totals, findings by leader and by kind, other assignors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from assignors.replay.analysis.outcome_rows import total
from assignors.replay.findings.leaders import LeaderFindings, findings_by_leader
from assignors.replay.findings.table import FINDINGS, RANK, FindingKind
from assignors.replay.report.comparison import comparison
from assignors.replay.report.formats import known_sum, number, partition_seconds
from assignors.replay.report.table_view import Column, Form, TableView, table_view
from assignors.replay.report.view_model import GroupView
from assignors.replay.tables.rows import FindingRow, GroupRow, Tables

CLIENTS_NAMED = 4
"""Most client ids that are named of one leader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """One figure of all groups together."""

    label: str
    value: str
    note: str = ""
    is_alert: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What the page shows of all groups together; a table is `None` where it would be empty."""

    totals: Sequence[Total]
    findings: TableView | None
    damage: Sequence[str]
    """Sentences about parts of the source that are no record of any group."""
    comparison: TableView | None
    leaders: TableView | None


def overview(groups: Sequence[GroupView], tables: Tables) -> Overview:
    """Return what the page shows of all groups together. Cost: linear in the rows."""
    sums = list(total(tables.outcomes))
    return Overview(
        totals=list(_totals(tables)),
        findings=_findings(groups, tables),
        damage=[_damage(row) for row in tables.findings if not row.group],
        comparison=comparison(sums, caption="All groups together") if sums else None,
        leaders=_leaders(tables),
    )


def _totals(tables: Tables) -> Iterator[Total]:
    groups: Sequence[GroupRow] = tables.groups
    members = {(row.group, row.member_id) for row in tables.members}
    unnecessary = sum(
        max(row.moved - row.moved_minimum, 0)
        for row in tables.generations
        if row.moved_minimum is not None
    )
    yield Total(label="groups", value=number(len({row.group for row in groups})))
    yield Total(label="generations", value=number(sum(row.generation_count for row in groups)))
    yield Total(label="members", value=number(len(members)))
    yield Total(label="commits", value=number(sum(row.commit_count for row in groups)))
    yield Total(
        label="moves",
        value=number(sum(row.moved for row in groups)),
        note=f"{unnecessary:,} unnecessary" if unnecessary else "",
    )
    early = [row for row in tables.findings if row.kind == "given-too-early"]
    too_early = sum(row.occurrences for row in early)
    yield Total(
        label="double-owned",
        value=partition_seconds(_double_owned_ms(groups, is_partial=too_early > 0)),
        note="partition-seconds"
        + (f"; {too_early:,} given too early, for unrecorded times" if too_early else ""),
    )
    yield Total(
        label="unassigned",
        value=partition_seconds(known_sum(row.unassigned_partition_ms for row in groups)),
        note="partition-seconds",
    )
    yield Total(
        label="downtime in rebalances, after the join",
        value=partition_seconds(known_sum(row.downtime_partition_ms for row in groups)),
        note="partition-seconds, estimate",
    )
    found = len(tables.findings)
    worst = min((row.severity for row in tables.findings), key=RANK.__getitem__, default="")
    counted = sum(row.severity == worst for row in tables.findings)
    yield Total(
        label="findings",
        value=number(found),
        note=f"{counted:,} {worst}" if found else "",
        is_alert=found > 0,
    )


def _double_owned_ms(groups: Sequence[GroupRow], *, is_partial: bool) -> int | None:
    """Return how long partitions were double-owned; 0 of a part of them is not known."""
    found = known_sum(row.double_owned_ms for row in groups)
    return None if is_partial and not found else found


def _findings(groups: Sequence[GroupView], tables: Tables) -> TableView | None:
    found = Counter(row.kind for row in tables.findings)
    in_groups = Counter(kind for group in groups for kind in group.finding_kinds)
    columns: list[Column[FindingKind]] = [
        Column("finding", lambda kind: kind.name, Form.FINDING_KIND),
        Column("severity", lambda kind: kind.severity.value),
        Column("findings", lambda kind: number(found[kind.name]), Form.NUMBER),
        Column("groups", lambda kind: number(in_groups[kind.name]), Form.NUMBER),
        Column("meaning", lambda kind: kind.meaning, Form.PROSE),
        Column("what to do", lambda kind: kind.what_to_do, Form.PROSE),
    ]
    rows = [kind for kind in FINDINGS.values() if kind.name in found]
    if not rows:
        return None
    return table_view(
        columns, rows, caption="Findings by kind", is_caption_visible=False, is_stacked=True
    )


def _damage(row: FindingRow) -> str:
    more = f" ({row.occurrences} such records; this is one)" if row.occurrences > 1 else ""
    return f"Could not be read: {row.evidence}{more}"


def _leaders(tables: Tables) -> TableView | None:
    """Return the findings that leaders cause, a row for each client library."""
    rows = findings_by_leader(tables.findings)
    columns: list[Column[LeaderFindings]] = [
        Column("leader's library (guess)", lambda one: one.guess or "not known", Form.NAME),
        *(Column(severity, _severity_count(severity), Form.NUMBER) for severity in RANK),
        Column("groups", lambda one: number(len(one.groups)), Form.NUMBER),
        Column("findings", lambda one: ", ".join(one.kinds), Form.PROSE),
        Column("client ids", _client_ids, Form.PROSE),
    ]
    if not rows:
        return None
    return table_view(
        columns, rows, caption="Findings by leader", is_caption_visible=False, is_stacked=True
    )


def _severity_count(severity: str) -> Callable[[LeaderFindings], str]:
    return lambda one: number(one.severities[severity] or None)


def _client_ids(one: LeaderFindings) -> str:
    missing = len(one.client_ids) - CLIENTS_NAMED
    named = ", ".join(one.client_ids[:CLIENTS_NAMED])
    return f"{named} and {missing:,} more" if missing > 0 else named
