"""Which life of its group a commit belongs to: the same intervals for both engines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assignors.ownership.intervals import FOREVER
from assignors.replay.history.model import Life


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The time of one life, as commits are counted to it."""

    life: int
    from_ms: int
    to_ms: int
    """The first moment after it; `FOREVER` for the last life."""


def spans(lives: Iterable[Life]) -> list[Span]:
    """Return the time of each life: from its start to the next one's.

    What happened before the first belongs to the first, and there is no time between two.
    """
    listed = list(lives)
    starts = [life.from_ms for life in listed]
    ends = [*starts[1:], FOREVER][: len(listed)]
    return [
        Span(life=life.number, from_ms=start if position else -FOREVER, to_ms=end)
        for position, (life, start, end) in enumerate(zip(listed, starts, ends, strict=True))
    ]
