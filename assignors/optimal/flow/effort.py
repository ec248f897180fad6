"""How much searching an answer has taken, and how much it may take.

Counted in steps, never in time, so that the same group gets the same answer on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """Steps taken so far. A step looks at one row of the table: about a microsecond.

    >>> effort = Effort(limit=2)
    >>> effort.add(1), effort.is_spent, effort.add(1), effort.is_spent
    (None, False, None, True)
    """

    limit: int | None = None
    """Stop after so many steps; `None`: when the best answer is found."""
    steps: list[int] = field(default_factory=lambda: [0])
    """One number."""
    ways: list[int] = field(default_factory=lambda: [0])
    """One number: along how many ways (augmenting paths) something was sent."""
    phases: list[int] = field(default_factory=lambda: [0])
    """One number: how often layers were computed and something sent."""

    def add(self, steps: int) -> None:
        """Count steps that were taken."""
        self.steps[0] += steps

    @property
    def left(self) -> float:
        """How many steps may still be taken."""
        return inf if self.limit is None else self.limit - self.steps[0]

    @property
    def is_spent(self) -> bool:
        """Whether the limit is reached."""
        return self.limit is not None and self.steps[0] >= self.limit
