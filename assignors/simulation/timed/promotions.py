"""Members at rest that only move to a new epoch: computed, not queued.

When a consumer group has a new target, most members keep what they have. Each moves to the new
epoch with its next heartbeat, and nothing else comes of it. Such a member goes on resting: when its
heartbeat arrives is arithmetic, and its epoch is looked up when somebody asks for it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
IsPast = Callable[[int, int], bool]
"""When a heartbeat arrives now, and whose it is -> whether that is over."""
UNMOVED = -1


class Move(NamedTuple):
    """To what a member has moved while it rested."""

    epoch: int
    previous: int
    at: int
    """When the heartbeat arrived that brought it to the group's last target."""


@dataclass(slots=True, kw_only=True)
class Promotions:
    """The epochs of N members at rest. Members are their numbers, times microseconds."""

    moving: NDArray[np.bool_]
    """bool[N]: who rests and moves to `epoch`, or has."""
    arrives: Int64
    """int64[N]: when the heartbeat arrives that brings it there."""
    epoch: int = 0
    """To which members move now."""
    _before: Int64 = field(init=False)
    """int64[N, 2]: its epoch, and the one before it, before it moves to `epoch`; `UNMOVED`."""
    _order: Int64 = field(init=False)
    """The members in the order in which they move, int64[n]."""
    _times: list[int] = field(default_factory=list)
    """When each of these does."""
    _position: int = 0
    """So many of `_order` have arrived."""
    _arrived: int = 0
    """So many of these still rest."""

    @classmethod
    def of(cls, members: int) -> Promotions:
        """Return what is known of so many members of which none has moved. Cost: O(members)."""
        return cls(
            moving=np.zeros(members, dtype=np.bool_), arrives=np.zeros(members, dtype=np.int64)
        )

    def __post_init__(self) -> None:
        """Nobody has moved."""
        self._before = np.full((len(self.moving), 2), UNMOVED, dtype=np.int64)
        self._order = np.zeros(0, dtype=np.int64)

    def begin(self, epoch: int, numbers: Int64, arrives: Int64, own: Callable[[int], int]) -> None:
        """Let members move to an epoch; those that have not got to the one before skip it.

        `numbers` and `arrives`, int64[n], are the members, and when the heartbeat of each arrives.
        `own` gives the epoch of a member that has not moved while it rested. Before this, `count`
        has to be asked. Cost: O(members log members), in arrays.
        """
        got = self._order[: self._position]
        got = got[self.moving[got]]
        was = self._before[got, 0]
        fresh = np.flatnonzero(was == UNMOVED)
        was[fresh] = [own(number) for number in got[fresh].tolist()]
        self._before[got, 0], self._before[got, 1] = self.epoch, was
        self.epoch = epoch
        self.moving[:] = False
        self.moving[numbers] = True
        self.arrives[numbers] = arrives
        order = np.lexsort((numbers, arrives))
        self._order, self._times = numbers[order], arrives[order].tolist()
        self._position = self._arrived = 0

    def before(self, number: int) -> tuple[int, int] | None:
        """Return the epoch to which a member moved before `epoch`, and the one before that.

        `None`: it has not moved while it rested.
        """
        epoch, previous = self._before[number].tolist()
        return None if epoch == UNMOVED else (epoch, previous)

    def count(self, now: int, is_past: IsPast) -> int:
        """Return how many members at rest have got to `epoch`. Cost: O(log members), amortised."""
        times, position = self._times, self._position
        if position < len(times) and times[position] <= now:
            end = bisect_left(times, now, position)
            while end < len(times) and times[end] == now and is_past(now, int(self._order[end])):
                end += 1
            self._arrived += int(self.moving[self._order[position:end]].sum())
            self._position = end
        return self._arrived

    def last(self) -> int | None:
        """Return the member at rest that gets to `epoch` last, if any has still to get there.

        Before this, `count` has to be asked. Cost: O(members that have got up in between).
        """
        for place in range(len(self._order) - 1, self._position - 1, -1):
            number = int(self._order[place])
            if self.moving[number]:
                return number
        return None

    def end(self, number: int, now: int, is_past: IsPast) -> int | None:
        """Forget a member that rests no longer; return when it got to `epoch`, if it has."""
        self._before[number, 0] = UNMOVED
        if not self.moving[number]:
            return None
        self.count(now, is_past)
        self.moving[number] = False
        at = int(self.arrives[number])
        if at > now or (at == now and not is_past(at, number)):
            return None
        self._arrived -= 1
        return at
