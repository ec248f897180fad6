"""The clock: events in order of time, and timers that are set again and again.

Two events of one moment come in the order in which they were asked for. Heartbeats, their answers
and the sessions that they renew do not: they come after everything else of that moment, by `Rank`
and then by whom they concern. Their order is so the same whether each of them was queued, or only
computed (`heartbeats`).

A timer that is set anew before it runs out leaves its entry in the queue where it is: only when
that entry comes up is it put back to the new time. So a session timeout that every heartbeat sets
anew costs O(1) each time, and the queue holds one entry for it. So does one that is stopped: if it
is started again before its entry comes up, that entry serves it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from heapq import heapify, heappop, heappush, heapreplace
from typing import Any, Generic, TypeVar

E = TypeVar("E")


class Rank(IntEnum):
    """What comes last of the events of one moment, in this order."""

    HEARTBEAT = 1 << 60
    """A member's heartbeat is due."""
    ARRIVAL = 2 << 60
    """One reaches the coordinator."""
    ANSWER = 3 << 60
    """Its answer reaches the member."""
    SESSION = 4 << 60
    """A session runs out."""


STOPPED = 0
"""In place of the order of a timer: it has been stopped, and its entry is still in the queue."""


@dataclass(slots=True)
class _Timer(Generic[E]):
    """A timer: when it runs out, in what order, and the event that it then is."""

    key: object
    at: int
    order: int
    """`STOPPED`: it does not run."""
    whose: int | str
    event: E
    queued_at: int


@dataclass(slots=True)
class EventQueue(Generic[E]):
    """Events, each with the moment at which it happens, in microseconds since the run began."""

    now: int = 0
    count: int = 0
    """How many events have been taken out."""
    _last: tuple[Any, ...] = (0, 0, 0, 0)
    """The last entry of the present moment: moment, order or rank, whose, number."""
    _order: int = 0
    _heap: list[tuple[Any, ...]] = field(default_factory=list)
    """Moment, order or rank, whose, a number that no two have, event or timer."""
    _timers: dict[object, _Timer[E]] = field(default_factory=dict)
    _spare: list[_Timer[E]] = field(default_factory=list)
    """Timers that have run out: to fill one of them anew costs less than to make another one."""

    def __len__(self) -> int:
        """Return how many entries wait, those of stopped timers among them."""
        return len(self._heap)

    def put(self, at: int, event: E, rank: Rank | None = None, whose: int = 0) -> None:
        """Add an event. Raises `ValueError` for a moment that is over. Cost: O(log n)."""
        if at < self.now:
            raise ValueError(f"{at} is before now, {self.now}")
        self._order = number = self._order + 1
        heappush(self._heap, (at, rank or number, whose, number, event))

    def start(
        self, key: object, at: int, event: E, rank: Rank | None = None, whose: int | str = 0
    ) -> None:
        """Start a timer, in place of the one of this key. Cost: O(log n), O(1) for a later time."""
        if at < self.now:
            raise ValueError(f"{at} is before now, {self.now}")
        self._order = number = self._order + 1
        order = rank or number
        timer = self._timers.get(key)
        if timer is not None and timer.queued_at <= at:
            timer.at, timer.order, timer.whose, timer.event = at, order, whose, event
            return
        if self._spare:
            timer = self._spare.pop()
            timer.key, timer.at, timer.order, timer.whose = key, at, order, whose
            timer.event, timer.queued_at = event, at
        else:
            timer = _Timer(key, at, order, whose, event, at)
        self._timers[key] = timer
        heappush(self._heap, (at, order, whose, number, timer))

    def stop(self, key: object) -> None:
        """Stop the timer of this key, if it runs. Cost: O(1)."""
        timer = self._timers.get(key)
        if timer is not None:
            timer.order = STOPPED

    def timers_of(self, owner: object) -> list[tuple[Any, int, E]]:
        """Return the timers whose key is a tuple that begins with `owner`.

        Key, when each runs out, and the event that it then is. Cost: O(timers).
        """
        return [
            (key, each.at, each.event)
            for key, each in self._timers.items()
            if isinstance(key, tuple) and key[0] == owner and each.order != STOPPED
        ]

    def stop_all(self, owner: object) -> None:
        """Stop every timer whose key is a tuple that begins with `owner`. Cost: O(timers)."""
        for key, *_ in self.timers_of(owner):
            self.stop(key)

    def due(self, key: object) -> int | None:
        """Return when the timer of this key runs out, `None` if it does not run. Cost: O(1)."""
        timer = self._timers.get(key)
        return None if timer is None or timer.order == STOPPED else timer.at

    def drop(self, is_dropped: Callable[[E], bool]) -> None:
        """Take out events that will not happen; timers stay. Cost: O(n)."""
        self._heap = [
            entry for entry in self._heap if type(entry[-1]) is _Timer or not is_dropped(entry[-1])
        ]
        heapify(self._heap)

    def _put_first_back(self, timer: _Timer[E]) -> None:
        """Put the first entry back, that of a timer which runs out later."""
        timer.queued_at = timer.at
        self._order = number = self._order + 1
        heapreplace(self._heap, (timer.at, timer.order, timer.whose, number, timer))

    def _drop_first(self, timer: _Timer[E]) -> None:
        """Take out the first entry, that of a timer which was stopped or has another one."""
        heappop(self._heap)
        if self._timers.get(timer.key) is timer:
            del self._timers[timer.key]
        self._spare.append(timer)

    def is_past(self, at: int, rank: Rank, whose: int) -> bool:
        """Return whether an event of this rank would have been taken out by now. Cost: O(1)."""
        return at < self.now or (at == self.now and (rank, whose) <= self._last[1:3])

    def take(self, until: int) -> E | None:
        """Return the next event up to `until`, and move the clock to it; `None` if there is none.

        Cost: O(log n).
        """
        heap, timers = self._heap, self._timers
        while heap and heap[0][0] <= until:
            entry = heap[0]
            event = entry[4]
            if type(event) is _Timer:
                timer: _Timer[E] = event
                if timer.order == STOPPED or timers.get(timer.key) is not timer:
                    self._drop_first(timer)
                    continue
                if timer.order != entry[1] or timer.at != entry[0]:
                    self._put_first_back(timer)
                    continue
                del timers[timer.key]
                event = timer.event
                self._spare.append(timer)
            heappop(heap)
            if entry > self._last:  # noqa: PLR1730 - a call of `max` for every event
                self._last = entry
            self.now = entry[0]
            self.count += 1
            return event  # type: ignore[no-any-return]  # the heap's tuples have no types of their own
        return None
