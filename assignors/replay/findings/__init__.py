"""What went wrong in a group: findings, each with its evidence.

A finder is a function from the analysis of a life to findings. It uses nothing else, so every
finding can be checked against the tables. What counts as many or as long is in `Thresholds`, and
nowhere else.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping

from assignors.replay.analysis.group_analysis import GroupAnalysis, LifeAnalysis, client_of
from assignors.replay.findings.balance import imbalances, needless_moves, unfair_loads
from assignors.replay.findings.finding import Finding, Thresholds
from assignors.replay.findings.ownership import (
    double_ownership,
    early_handovers,
    foreign_topics,
    unassigned,
)
from assignors.replay.findings.protocol_use import never_claims, odd_bytes, unreadable_members
from assignors.replay.findings.rebalance_frequency import loops, storms
from assignors.replay.history.model import GroupHistory
from assignors.replay.tables.rows import AnomalyKind, AnomalyRow

Finder = Callable[[LifeAnalysis, Thresholds], Iterator[Finding]]

FINDERS: tuple[Finder, ...] = (
    double_ownership,
    early_handovers,
    unassigned,
    foreign_topics,
    loops,
    storms,
    never_claims,
    unfair_loads,
    imbalances,
    needless_moves,
    odd_bytes,
    unreadable_members,
)
"""A new kind of finding is one function here."""


def anomalies(analysis: GroupAnalysis, thresholds: Thresholds = Thresholds()) -> list[AnomalyRow]:  # noqa: B008 - a value
    """Return every finding of a group as a row, by time, then life.

    Cost: linear in the size of the analysis.
    """
    found = []
    for life_analysis in analysis.lives:
        clients = client_of(life_analysis.life)
        for finder in FINDERS:
            found += [
                _row(analysis.history.group, life_analysis.life.number, finding, clients)
                for finding in finder(life_analysis, thresholds)
            ]
    found += _unreadable_records(analysis.history)
    return sorted(found, key=lambda row: (row.at_ms, row.life))


def _row(
    group: str, life: int, finding: Finding, clients: Mapping[str, tuple[str, str]]
) -> AnomalyRow:
    client_id = finding.client_id
    if client_id is None and finding.member_id is not None:
        client_id = clients.get(finding.member_id, (None, None))[0]
    return AnomalyRow(
        group=group,
        life=life,
        kind=finding.kind.value,
        generation=finding.generation,
        at_ms=finding.at_ms,
        until_ms=finding.until_ms,
        member_id=finding.member_id,
        client_id=client_id,
        topic=finding.topic,
        partition=finding.partition,
        count=finding.count,
        evidence=finding.evidence,
    )


def _unreadable_records(history: GroupHistory) -> Iterator[AnomalyRow]:
    """Yield a finding for each record that cannot be read, in the life it falls into."""
    starts = [life.from_ms for life in history.lives]
    for record in history.unreadable:
        begun = bisect_right(starts, record.at_ms)
        where = (
            ""
            if record.offset is None
            else f" at offset {record.offset} of partition {record.partition}"
        )
        yield AnomalyRow(
            group=history.group,
            life=history.lives[begun - 1].number if begun else 1,
            kind=AnomalyKind.UNREADABLE.value,
            generation=None,
            at_ms=record.at_ms,
            until_ms=record.at_ms,
            member_id=None,
            client_id=None,
            topic=None,
            partition=None,
            count=1,
            evidence=f"{record.name or 'record'}{where}: {record.text}",
        )


__all__ = ["Finding", "Thresholds", "anomalies"]
