"""One machine for all members: what comes to them together is handled one after the other.

Members that are threads of a process, or processes of a small machine, wait for each other: the
answers to a rebalance come to all of them at once, and the last one acts on it when all the others
have. So a round takes longer the more members there are, though no member does more than before.
What waits is what a client has to do: handle an answer, send a heartbeat that is due, and go on
after a callback. Who came first is handled first, but a thread finishes what it has begun:

* With Java's client of the classic protocol and with kafka-python the thread that has read an
  answer runs the callback that follows from it, before another member has its turn.
* librdkafka has a thread for the network, which looks from time to time (`Timing.wake_ms`),
  and another one of the application, which runs callbacks. Nothing waits for the end of the one for
  what is assigned; after the one for what is revoked the first thread joins again, and needs a turn
  for that. That a heartbeat is due costs nothing: the look that sends it needs the turn, but for
  the look that follows from an assignment at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.simulation.timed.heartbeats import HEARTBEAT
from assignors.simulation.timed.protocols.effects import Answered, Fired, Schedule, TimerKey
from assignors.simulation.timed.protocols.kafka.classic_member import LOOKS, ClassicMember

REVOKED = ("revoked",)
CALLBACKS = frozenset({REVOKED, ("assigned",)})
DUE = CALLBACKS | {HEARTBEAT.key}
"""Timers whose end a machine has to handle, of most clients."""


class Handled(NamedTuple):
    """An event at a member: the machine has handled another one."""

    event: Answered | Fired


@dataclass(slots=True, kw_only=True)
class Machine:
    """What it handles and what waits for it; times are microseconds."""

    handling_us: int
    put: Callable[[int, tuple[int, Handled]], None]
    """(moment, member and event) -> nothing: lets the event happen at that moment."""
    is_busy: bool = False
    waiting: deque[tuple[int, int, Handled]] = field(default_factory=deque)
    """For how many turns, which member, what: the next one first."""
    due: set[tuple[int, TimerKey]] = field(default_factory=set)
    """Members and the timers that have run out and wait."""

    def turn(self, now: int, number: int, member: object, what: object) -> bool:
        """Let an event wait for its turn, to come back as `Handled`; `False`: it needs none."""
        if isinstance(what, Fired):
            if not _needs_turn(member, what.key):
                return False
            self.due.add((number, what.key))
        elif not isinstance(what, Answered):
            return False
        self.waiting.append((_turns(member, what), number, Handled(what)))
        if not self.is_busy:
            self.start_next(now)
        return True

    def goes_on(self, number: int, member: object, timer: Schedule) -> bool:
        """Return whether a member ends this callback in the turn that it has, or the next one."""
        if timer.after_us or timer.key not in CALLBACKS or not self.is_busy:
            return False
        if not isinstance(member, ClassicMember) or member.times.wake_ms:
            return False
        what = Fired(timer.key, timer.data)
        self.due.add((number, timer.key))
        self.waiting.appendleft((_turns(member, what), number, Handled(what)))
        return True

    def start_next(self, now: int) -> None:
        """Handle what waits: the machine is free."""
        self.is_busy = bool(self.waiting)
        if self.waiting:
            turns, number, handled = self.waiting.popleft()
            self.put(now + turns * self.handling_us, (number, handled))

    def take(self, number: int, handled: Handled) -> Answered | Fired | None:
        """Return what has been handled; `None`: a timer that has been stopped meanwhile."""
        event = handled.event
        if isinstance(event, Fired):
            if (number, event.key) not in self.due:
                return None
            self.due.remove((number, event.key))
        return event


def _needs_turn(member: object, key: TimerKey) -> bool:
    """Return whether a member's machine has to handle the end of a timer."""
    if not isinstance(member, ClassicMember) or not member.times.wake_ms:
        return key in DUE
    return key == REVOKED or (key in LOOKS and (member.is_beat_due or member.is_join_due))


def _turns(member: object, what: Answered | Fired) -> int:
    """Return how many turns an event takes.

    A cooperative member that has revoked takes two: the callback for what it is assigned runs
    before it joins again, with nothing in it.
    """
    is_revoked = isinstance(what, Fired) and what.key == REVOKED
    return 2 if is_revoked and isinstance(member, ClassicMember) and member.is_cooperative else 1
