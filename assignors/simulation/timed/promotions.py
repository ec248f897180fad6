"""Members at rest that only move to a new epoch: computed, not queued.

When a consumer group has a new target, most members keep what they have. Each moves to the new
epoch with its next heartbeat, and nothing else comes of it. Such a member goes on resting: when its
heartbeat arrives is arithmetic, and its epoch is looked up when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

IsPast = Callable[[int, int], bool]
"""When a heartbeat arrives, and whose it is -> whether that is over."""


@dataclass(slots=True)
class Promotions:
    """The epochs of the members at rest. Members are their numbers, times microseconds."""

    epoch: int = 0
    """To which members move now."""
    arrives: dict[int, int] = field(default_factory=dict)
    """Member -> when the heartbeat arrives that brings it to `epoch`."""
    _before: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Member -> its epoch, and the one before it, before it moves to `epoch`."""
    _order: list[tuple[int, int]] = field(default_factory=list)
    _position: int = 0
    """So many of `_order` have arrived."""
    _arrived: int = 0
    """So many of these still rest."""

    def begin(self, epoch: int, arrives: dict[int, int], own: Callable[[int], int]) -> None:
        """Let members move to an epoch; those that have not got to the one before skip it.

        `own` gives the epoch of a member that has not moved while it rested. Before this, `count`
        has to be asked. Cost: O(members log members).
        """
        for _, number in self._order[: self._position]:
            if number in self.arrives:
                epoch_before, _ = self.before(number) or (own(number), -1)
                self._before[number] = (self.epoch, epoch_before)
        self.epoch, self.arrives = epoch, arrives
        self._order = sorted((at, number) for number, at in arrives.items())
        self._position = self._arrived = 0

    def before(self, number: int) -> tuple[int, int] | None:
        """Return the epoch to which a member moved before `epoch`, and the one before that.

        `None`: it has not moved while it rested.
        """
        return self._before.get(number)

    def count(self, is_past: IsPast) -> int:
        """Return how many members at rest have got to `epoch`. Cost: O(1), amortised."""
        order, position = self._order, self._position
        while position < len(order) and is_past(*order[position]):
            self._arrived += order[position][1] in self.arrives
            position += 1
        self._position = position
        return self._arrived

    def last(self) -> int | None:
        """Return the member at rest that gets to `epoch` last, if any has still to get there.

        Before this, `count` has to be asked. Cost: O(members that have got up in between).
        """
        for _, number in reversed(self._order[self._position :]):
            if number in self.arrives:
                return number
        return None

    def end(self, number: int, is_past: IsPast) -> int | None:
        """Forget a member that rests no longer; return when it got to `epoch`, if it has."""
        self._before.pop(number, None)
        at = self.arrives.get(number)
        if at is None:
            return None
        self.count(is_past)
        del self.arrives[number]
        if not is_past(at, number):
            return None
        self._arrived -= 1
        return at
