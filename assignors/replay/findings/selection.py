"""Which findings are wanted: from a severity on, of some kinds, of a time.

What is not wanted is not found: it is in no table, on no page, and in no count.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from assignors.replay.findings.finding import Finding
from assignors.replay.findings.table import FINDINGS, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The findings that are wanted. Times are epoch milliseconds; `None` is no bound."""

    min_severity: Severity = Severity.LOW
    """Notes are left out unless they are asked for: in a note nothing is wrong."""
    kinds: Collection[str] = ()
    """Empty: all kinds."""
    since_ms: int | None = None
    """What ended before is not wanted."""
    until_ms: int | None = None
    """What began then or later is not wanted."""


EVERYTHING = Selection(min_severity=Severity.NOTE)


def is_kind_wanted(kind: str, selection: Selection) -> bool:
    """Return whether findings of this kind are wanted at all.

    >>> is_kind_wanted("client-layout", Selection())
    False
    """
    is_listed = not selection.kinds or kind in selection.kinds
    return is_listed and FINDINGS[kind].severity.is_at_least(selection.min_severity)


def is_wanted(finding: Finding, selection: Selection) -> bool:
    """Return whether a finding of a kind that is wanted is of a time that is wanted."""
    if selection.until_ms is not None and finding.at_ms >= selection.until_ms:
        return False
    is_over = finding.until_ms is not None and selection.since_ms is not None
    return not is_over or finding.until_ms >= selection.since_ms  # type: ignore[operator]
