"""One machine for all members: what comes to them together is handled one after the other.

Members that are threads of a process, or processes of a small machine, wait for each other: the
answers to a rebalance come to all of them at once, and the last one acts on it when all the others
have. So a round takes longer the more members there are, though no member does more than before.
What waits is what a client has to do: handle an answer, send a heartbeat that is due, and go on
after a callback.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.simulation.timed.heartbeats import HEARTBEAT
from assignors.simulation.timed.protocols.effects import Answered, Fired, TimerKey

REVOKED = ("revoked",)
DUE = frozenset({HEARTBEAT.key, REVOKED, ("assigned",)})
"""Timers whose end a machine has to handle."""


class Handled(NamedTuple):
    """An event at a member: the machine has handled another one."""

    event: Answered | Fired


@dataclass(slots=True, kw_only=True)
class Machine:
    """When the machine is free again, and what waits for it; times are microseconds."""

    handling_us: int
    free_at: int = 0
    due: set[tuple[int, TimerKey]] = field(default_factory=set)
    """Members and the timers that have run out and wait."""

    def turn(
        self, now: int, member: int, what: object, *, calls_twice: bool = False
    ) -> tuple[int, Handled] | None:
        """Return when an event has been handled, and as what it then comes; `None`: it is free.

        A cooperative member `calls_twice` after it has revoked: the callback for what it is
        assigned runs before it joins again, with nothing in it.
        """
        if isinstance(what, Fired):
            if what.key not in DUE:
                return None
            self.due.add((member, what.key))
        elif not isinstance(what, Answered):
            return None
        turns = 2 if calls_twice and isinstance(what, Fired) and what.key == REVOKED else 1
        self.free_at = max(now, self.free_at) + turns * self.handling_us
        return self.free_at, Handled(what)

    def take(self, member: int, handled: Handled) -> Answered | Fired | None:
        """Return what has been handled; `None`: a timer that has been stopped meanwhile."""
        event = handled.event
        if isinstance(event, Fired):
            if (member, event.key) not in self.due:
                return None
            self.due.remove((member, event.key))
        return event
