"""What went wrong in a group: findings, each with its evidence.

A finder is a function from the analysis of a life to findings. It uses nothing else, so every
finding can be checked against the tables. What counts as many or as long is in `Thresholds`, how
bad each kind is and what to do about it in `glossary`, and nowhere else. What repeats for one cause
becomes one row in `causes`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator

from assignors.replay.analysis.group_analysis import GroupAnalysis, LifeAnalysis, client_of
from assignors.replay.findings.balance import imbalances, needless_moves, uneven_loads
from assignors.replay.findings.causes import cause_rows, worst_first
from assignors.replay.findings.commits import commits_back, offsets_removed
from assignors.replay.findings.finding import Finding
from assignors.replay.findings.glossary import GLOSSARY, Severity
from assignors.replay.findings.leaders import leaders_of
from assignors.replay.findings.ownership import (
    double_ownership,
    early_handovers,
    foreign_topics,
    left_out,
    never_assigned,
    unassigned,
)
from assignors.replay.findings.protocol_use import (
    never_claims,
    odd_bytes,
    other_protocols,
    unreadable_members,
)
from assignors.replay.findings.rebalance_frequency import loops, probing_rebalances, storms
from assignors.replay.findings.selection import Selection, is_wanted
from assignors.replay.findings.static_members import fenced_instances
from assignors.replay.findings.thresholds import Thresholds
from assignors.replay.findings.upgrade import classic_only
from assignors.replay.history.model import GroupHistory
from assignors.replay.tables.rows import FindingKind, FindingRow
from wire.records import UNKNOWN

Finder = Callable[[LifeAnalysis, Thresholds], Iterator[Finding]]
GroupFinder = Callable[[GroupAnalysis, Thresholds], Iterator[tuple[int, Finding]]]

FINDERS: tuple[Finder, ...] = (
    double_ownership,
    early_handovers,
    unassigned,
    foreign_topics,
    left_out,
    fenced_instances,
    loops,
    storms,
    never_claims,
    imbalances,
    uneven_loads,
    needless_moves,
    odd_bytes,
    unreadable_members,
    classic_only,
    probing_rebalances,
    other_protocols,
)
"""A new kind of finding is one function here or below, and its row in `GLOSSARY`."""

GROUP_FINDERS: tuple[GroupFinder, ...] = (commits_back, offsets_removed, never_assigned)
"""Those that need more of the group than one life; they yield each finding with its life."""


def findings(
    analysis: GroupAnalysis,
    thresholds: Thresholds = Thresholds(),  # noqa: B008 - a value
    selection: Selection = Selection(),  # noqa: B008 - a value
) -> list[FindingRow]:
    """Return the findings of a group, a row for each cause in each life, worst first.

    Cost: linear in the size of the analysis.
    """
    group, found = analysis.history.group, dict[int, list[Finding]]()
    for life_analysis in analysis.lives:
        found[life_analysis.life.number] = [
            finding for finder in FINDERS for finding in finder(life_analysis, thresholds)
        ]
    of_group = (one for finder in GROUP_FINDERS for one in finder(analysis, thresholds))
    for life, finding in (*_unreadable_records(analysis.history), *of_group):
        found.setdefault(life, []).append(finding)
    clients = {one.life.number: client_of(one.life) for one in analysis.lives}
    leaders = {one.life.number: leaders_of(one) for one in analysis.lives if found[one.life.number]}
    rows = [
        row
        for life, listed in found.items()
        for row in cause_rows(
            group,
            life,
            (finding for finding in listed if is_wanted(finding, selection)),
            clients.get(life, {}),
            leaders.get(life, {}),
        )
    ]
    return sorted(rows, key=worst_first)


def _unreadable_records(history: GroupHistory) -> Iterator[tuple[int, Finding]]:
    """Yield each record that cannot be read, with the number of the life it falls into."""
    starts = [life.from_ms for life in history.lives]
    for record in history.unreadable:
        begun = bisect_right(starts, record.at_ms)
        where = "" if record.offset is None else f" at offset {record.offset}"
        if where and record.partition is not None:
            where += f" of partition {record.partition}"
        # Of a line or a file that is no record there is no name, and no key.
        name = "record" if record.name in {None, UNKNOWN} else record.name
        what = f"{name}{where}" if where or record.is_record else "source"
        yield (
            history.lives[begun - 1].number if begun else 1,
            Finding(
                kind=FindingKind.UNREADABLE,
                cause="record",
                generation=None,
                at_ms=record.at_ms,
                until_ms=record.at_ms,
                evidence=f"{what}: {record.text}",
            ),
        )


__all__ = ["GLOSSARY", "Finding", "Selection", "Severity", "Thresholds", "findings"]
