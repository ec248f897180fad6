"""What is asked of a replay, whichever executor runs it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from assignors.assignor import Assignor
from assignors.replay.findings import Selection, Thresholds
from assignors.replay.history.log_ends import LogEnds
from assignors.replay.history.redact import Label
from assignors.replay.tables.rows import TABLES


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


DEFAULT = Settings()
"""No known partition counts, no assignors to try, no hidden names."""
