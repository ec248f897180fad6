"""What an observer of a run sees: each event that reaches a member or the coordinator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from assignors.simulation.timed.protocols.effects import CoordinatorEvent, Effect, MemberEvent


class Seen(NamedTuple):
    """An event, and what was done about it."""

    number: int
    """Of the event, as in `Violation.event`."""
    at_us: int
    member: str | None
    """Whom it reached: a member's name, `None` for the coordinator."""
    event: CoordinatorEvent | MemberEvent
    effects: Sequence[Effect]


Observer = Callable[[Seen], None]
