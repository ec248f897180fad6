"""A coordinator that does not know yet that another broker is the coordinator: a zombie.

It goes on from the state that it had: it answers heartbeats, lets sessions end, completes joins.
But whatever would write a record fails, and leaves it as it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assignors.simulation.timed.protocols.effects import (
    COORDINATOR,
    Append,
    Arrived,
    Cancel,
    Effect,
    Fired,
    NotCoordinator,
    Reply,
    Schedule,
)
from assignors.simulation.timed.protocols.kafka.coordinator import step
from assignors.simulation.timed.protocols.kafka.state import GroupCoordinator
from assignors.simulation.timed.protocols.state_values import cloned
from assignors.simulation.timed.queue import EventQueue

OLD = "old"
"""What the keys of its timers begin with."""


@dataclass(slots=True, kw_only=True)
class OldCoordinator:
    """A coordinator that goes on beside the real one."""

    state: GroupCoordinator

    @classmethod
    def of(cls, coordinator: GroupCoordinator, queue: EventQueue[Any]) -> OldCoordinator:
        """Return the coordinator as it is; its timers run on as those of the old one.

        Cost: O(members and partitions).
        """
        for (_, key), at, (_, fired) in queue.timers_of(COORDINATOR):
            queue.stop((COORDINATOR, key))
            ours = (OLD, *key)
            queue.start((COORDINATOR, ours), at, (COORDINATOR, Fired(ours, fired.data)))
        return cls(state=cloned(coordinator))

    def play(self, at_us: int, event: Arrived | Fired) -> list[Effect]:
        """Return what it does about an event at `at_us`. Cost: O(members and partitions)."""
        trial = cloned(self.state)
        if isinstance(event, Fired):
            event = Fired(event.key[1:], event.data)
        effects = step(trial, at_us, event)
        if any(isinstance(each, Append) for each in effects):
            return [Reply(event.number, NotCoordinator())] if isinstance(event, Arrived) else []
        self.state = trial
        return [_as_old(each) for each in effects]


def _as_old(effect: Effect) -> Effect:
    """Return the effect with the key that the timer has here."""
    if isinstance(effect, Schedule | Cancel):
        return effect._replace(key=(OLD, *effect.key))
    return effect
