"""What went wrong in a group: findings, each with its evidence.

A finder is a pure function from the rows of one group to findings. `table.FINDINGS` has a row for
each kind, with its finder. What counts as many or as long is in `Thresholds`. Findings that repeat
for one cause become one row in `causes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assignors.replay.analysis.group_analysis import GroupAnalysis, client_of
from assignors.replay.findings.causes import cause_rows, worst_first
from assignors.replay.findings.finding import Finding
from assignors.replay.findings.leaders import leaders_of
from assignors.replay.findings.selection import Selection, is_kind_wanted, is_wanted
from assignors.replay.findings.table import FINDINGS, FindingKind, Severity
from assignors.replay.findings.thresholds import Thresholds
from assignors.replay.tables.rows import FindingRow


def found(
    analysis: GroupAnalysis,
    thresholds: Thresholds = Thresholds(),  # noqa: B008 - a value
    selection: Selection = Selection(),  # noqa: B008 - a value
) -> Iterator[Finding]:
    """Yield each occurrence of each kind that is wanted, kinds in the order of the table.

    Cost: linear in the size of the analysis.
    """
    for kind in FINDINGS.values():
        if is_kind_wanted(kind.name, selection):
            for finding in kind.find(analysis, thresholds):
                if is_wanted(finding, selection):
                    yield replace(finding, kind=kind.name)


def findings(
    analysis: GroupAnalysis,
    thresholds: Thresholds = Thresholds(),  # noqa: B008 - a value
    selection: Selection = Selection(),  # noqa: B008 - a value
) -> list[FindingRow]:
    """Return the findings of a group, a row for each cause in each life, worst first.

    Cost: linear in the size of the analysis.
    """
    by_life: dict[int, list[Finding]] = {}
    for finding in found(analysis, thresholds, selection):
        by_life.setdefault(finding.life, []).append(finding)
    lives = {each.life.number: each for each in analysis.lives}
    rows: list[FindingRow] = []
    for number, listed in by_life.items():
        life = lives.get(number)
        clients = {} if life is None else client_of(life.life)
        leaders = {} if life is None else leaders_of(life)
        rows += cause_rows(analysis.history.group, number, listed, clients, leaders)
    return sorted(rows, key=worst_first)


__all__ = [
    "FINDINGS",
    "Finding",
    "FindingKind",
    "Selection",
    "Severity",
    "Thresholds",
    "findings",
    "found",
]
