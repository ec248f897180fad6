"""Members at rest that only move to a new epoch: computed, not queued.

When a consumer group has a new target, most members keep what they have. Each moves to the new
epoch with its next heartbeat, and nothing else comes of it. Such a member goes on resting: when its
heartbeat arrives is arithmetic, and its epoch is looked up when somebody asks for it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

IsPast = Callable[[int, int], bool]
"""When a heartbeat arrives now, and whose it is -> whether that is over."""
UNMOVED = -1
FEW = 48
"""So many members are looked at one by one, which costs less."""


class Move(NamedTuple):
    """To what a member has moved while it rested."""

    epoch: int
    previous: int
    at: int
    """When the heartbeat arrived that brought it to the group's last target."""


@dataclass(slots=True, kw_only=True)
class Promotions:
    """The epochs of N members at rest. Members are their numbers, times microseconds.

    Few are looked at one by one, in Python's buffers, and many in arrays that share their memory.
    """

    members: int
    """N."""
    epoch: int = 0
    """To which members move now."""
    _moving: bytearray = field(init=False)
    """Of each whether it rests and moves to `epoch`, or has."""
    _arrives: array[int] = field(init=False)
    """When the heartbeat of each arrives that brings it there."""
    _before: array[int] = field(init=False)
    """The epoch of each before it moves to `epoch`; `UNMOVED`: it has not moved while it rested."""
    _previous: array[int] = field(init=False)
    """The epoch of each before that one."""
    _order: list[int] = field(default_factory=list)
    """The members in the order in which they move."""
    _times: list[int] = field(default_factory=list)
    """When each of these does."""
    _position: int = 0
    """So many of `_order` have arrived."""
    _arrived: int = 0
    """So many of these still rest."""

    def __post_init__(self) -> None:
        """Nobody has moved."""
        self._moving, self._arrives = bytearray(self.members), array("q", [0]) * self.members
        self._before = array("q", [UNMOVED]) * self.members
        self._previous = array("q", [UNMOVED]) * self.members

    def begin(
        self, epoch: int, order: list[int], times: list[int], own: Callable[[int], int]
    ) -> None:
        """Let members move to an epoch; those that have not got to the one before skip it.

        `order` are the members in the order in which their heartbeats arrive, and `times` when
        each does. `own` gives the epoch of a member that has not moved while it rested. Before
        this, `count` has to be asked. Cost: O(members), of many in arrays.
        """
        if self._position < FEW:
            self._end_few(own)
        else:
            self._end_many(own)
        self.epoch, self._order, self._times = epoch, order, times
        self._position = self._arrived = 0
        self._moving[:] = bytes(self.members)
        if len(order) < FEW:
            for number, at in zip(order, times, strict=True):
                self._moving[number], self._arrives[number] = True, at
        else:
            numbers = np.array(order)
            np.frombuffer(self._moving, np.bool_)[numbers] = True
            np.frombuffer(self._arrives, np.int64)[numbers] = times

    def _end_few(self, own: Callable[[int], int]) -> None:
        """Let those who got to `epoch` have moved to it before the next one."""
        for number in self._order[: self._position]:
            if self._moving[number]:
                was = self._before[number]
                self._previous[number] = own(number) if was == UNMOVED else was
                self._before[number] = self.epoch

    def _end_many(self, own: Callable[[int], int]) -> None:
        """Do the same in arrays."""
        before = np.frombuffer(self._before, np.int64)
        got = np.array(self._order[: self._position])
        got = got[np.frombuffer(self._moving, np.bool_)[got]]
        was = before[got]
        fresh = np.flatnonzero(was == UNMOVED)
        was[fresh] = [own(number) for number in got[fresh].tolist()]
        np.frombuffer(self._previous, np.int64)[got] = was
        before[got] = self.epoch

    def before(self, number: int) -> tuple[int, int] | None:
        """Return the epoch to which a member moved before `epoch`, and the one before that.

        `None`: it has not moved while it rested.
        """
        epoch = self._before[number]
        return None if epoch == UNMOVED else (epoch, self._previous[number])

    def count(self, now: int, is_past: IsPast) -> int:
        """Return how many members at rest have got to `epoch`. Cost: O(log members), amortised."""
        times, position = self._times, self._position
        if position < len(times) and times[position] <= now:
            end = bisect_left(times, now, position)
            while end < len(times) and times[end] == now and is_past(now, self._order[end]):
                end += 1
            self._arrived += sum(map(self._moving.__getitem__, self._order[position:end]))
            self._position = end
        return self._arrived

    def last(self) -> int | None:
        """Return the member at rest that gets to `epoch` last, if any has still to get there.

        Before this, `count` has to be asked. Cost: O(members that have got up in between).
        """
        for place in range(len(self._order) - 1, self._position - 1, -1):
            number = self._order[place]
            if self._moving[number]:
                return number
        return None

    def end(self, number: int, now: int, is_past: IsPast) -> int | None:
        """Forget a member that rests no longer; return when it got to `epoch`, if it has."""
        self._before[number] = UNMOVED
        if not self._moving[number]:
            return None
        self.count(now, is_past)
        self._moving[number] = False
        at = self._arrives[number]
        if at > now or (at == now and not is_past(at, number)):
            return None
        self._arrived -= 1
        return at
