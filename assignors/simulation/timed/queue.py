"""The clock: events in order of time, and timers that are set again and again.

Two events of one moment come in the order in which they were asked for. A timer that is set anew
before it runs out leaves its entry in the queue where it is: only when that entry comes up is it
put back to the new time. So a session timeout that every heartbeat sets anew costs O(1) each time,
and the queue holds one entry for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Generic, TypeVar

E = TypeVar("E")


@dataclass(slots=True)
class _Timer(Generic[E]):
    """A timer that runs: when it runs out, and the event that it then is."""

    at: int
    order: int
    event: E
    queued_at: int


@dataclass(slots=True)
class EventQueue(Generic[E]):
    """Events, each with the moment at which it happens, in microseconds since the run began."""

    now: int = 0
    count: int = 0
    """How many events have been taken out."""
    _order: int = 0
    _heap: list[tuple[int, int, E | None, object]] = field(default_factory=list)
    _timers: dict[object, _Timer[E]] = field(default_factory=dict)

    def put(self, at: int, event: E) -> None:
        """Add an event. Raises `ValueError` for a moment that is over. Cost: O(log n)."""
        if at < self.now:
            raise ValueError(f"{at} is before now, {self.now}")
        self._order += 1
        heappush(self._heap, (at, self._order, event, None))

    def start(self, key: object, at: int, event: E) -> None:
        """Start a timer, in place of the one of this key. Cost: O(log n), O(1) for a later time."""
        if at < self.now:
            raise ValueError(f"{at} is before now, {self.now}")
        self._order += 1
        timer = self._timers.get(key)
        if timer is not None and timer.queued_at <= at:
            timer.at, timer.order, timer.event = at, self._order, event
            return
        self._timers[key] = _Timer(at, self._order, event, at)
        heappush(self._heap, (at, self._order, None, key))

    def stop(self, key: object) -> None:
        """Stop the timer of this key, if it runs. Cost: O(1)."""
        self._timers.pop(key, None)

    def take(self, until: int) -> E | None:
        """Return the next event up to `until`, and move the clock to it; `None` if there is none.

        Cost: O(log n).
        """
        heap = self._heap
        while heap and heap[0][0] <= until:
            at, order, event, key = heappop(heap)
            if event is None:
                timer = self._timers.get(key)
                if timer is None or timer.queued_at != at:
                    continue
                if timer.order != order:
                    timer.queued_at = timer.at
                    heappush(heap, (timer.at, timer.order, None, key))
                    continue
                del self._timers[key]
                event = timer.event
            self.now = at
            self.count += 1
            return event
        return None
