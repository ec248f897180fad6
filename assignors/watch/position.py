"""How far a watch is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """How far a watch is. Times are epoch milliseconds."""

    where: str
    """What it reads."""
    group_count: int
    record_count: int
    at_ms: int | None
    """The time of the topic: of the latest record or tick."""
    delay_ms: int | None
    """How much older that is than now; `None` where the source is a recording."""
