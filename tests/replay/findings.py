"""What is found in a few records: short words for tests of findings."""

from __future__ import annotations

from typing import Any

from assignors.replay.analysis.group_analysis import analysed_group
from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.findings import Selection, Thresholds, findings
from assignors.replay.history.fold import group_history
from assignors.replay.tables.rows import FindingRow
from tests.replay.histories import Says, in_order

COOPERATIVE = "cooperative-sticky"


def found(
    *entries: LoggedRecord,
    counts: dict[str, int] | None = None,
    thresholds: Thresholds | None = None,
    selection: Selection | None = None,
) -> list[FindingRow]:
    """Every finding in a group with these records."""
    known = analysed_group(group_history("g", in_order(entries)), counts or {"t": 4})
    return findings(known, thresholds or Thresholds(), selection or Selection())


def kinds(rows: list[FindingRow]) -> list[str]:
    """The kinds of findings, in their order."""
    return [row.kind for row in rows]


def lower(**more: Any) -> Says:
    """A member with the first half of the topic."""
    return Says(gets={"t": (0, 1)}, **more)


def upper(**more: Any) -> Says:
    """A member with the second half of the topic."""
    return Says(gets={"t": (2, 3)}, **more)
