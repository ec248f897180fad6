"""Which member gives to which while the loads of a topic's subscribers are balanced.

Subscribers are sorted by load. A range that grows from the left has those that took a partition,
all of one load once each has taken one; a range that grows from the right has those that gave
one. Java moves two pointers through the two ranges of one list, and swaps members with nothing
left to give out of the right range. The loads change while it runs and both ranges share the
list, so this is a copy of its steps.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

NOT_ANY = -1


@dataclass(slots=True, kw_only=True)
class Balancer:
    """N subscribers by load, ascending, and by place in map order where loads are equal."""

    load: list[int]
    has: list[int]
    """How many partitions of the topic each may still give; what it takes meanwhile, it keeps."""
    order: list[int] = field(init=False)
    """Java's list of members, as positions in `load`."""
    least_end: int = field(init=False)
    least_level: int = field(init=False)
    least_next: int = 0
    most_start: int = field(init=False)
    most_end: int = field(init=False)
    most_level: int = field(init=False)
    most_next: int = field(init=False)

    def __post_init__(self) -> None:
        """Start with the least and the most loaded, which are the ranges that Java finds first."""
        load = self.load
        self.order = list(range(len(load)))
        self.least_level, self.most_level = load[0], load[-1]
        self.least_end = bisect_right(load, load[0])
        self.most_start, self.most_end = bisect_left(load, load[-1]), len(load)
        self.most_next = len(load) - 1

    def moves(self) -> Iterator[tuple[int, int]]:
        """Yield giver and receiver of each partition that moves, as positions in `load`.

        Cost: O(N + moves + levels).
        """
        while self.most_level - self.least_level > 1:
            giver = self._giver()
            if giver == NOT_ANY:
                return
            self.has[giver] -= 1
            taker = self._least()
            if self.most_level - self.least_level <= 1:
                return
            self.load[giver] -= 1
            self.load[taker] += 1
            yield giver, taker

    def _giver(self) -> int:
        """Return the position of the next most loaded member that has something to give.

        Those that have nothing are swapped to the end of the range and left out. Java looks further
        down, too, but nobody whose load is so near to the least gives anything.
        """
        order, has = self.order, self.has
        while True:
            if self.most_next < self.most_start:
                self._lower_most_level()
                if self.most_level - self.least_level <= 1:
                    return NOT_ANY
                self._extend_most()
            place = self.most_next
            if place < 0:
                return NOT_ANY
            self.most_next = place - 1
            giver = order[place]
            if has[giver]:
                return giver
            self.most_end = last = self.most_end - 1
            order[place], order[last] = order[last], giver

    def _least(self) -> int:
        if self.least_next >= self.least_end:
            self.least_level += 1
            load, order, end = self.load, self.order, self.least_end
            while end < len(order) and load[order[end]] == self.least_level:
                end += 1
            self.least_end = end
            self.least_next = 0
        self.least_next += 1
        return self.order[self.least_next - 1]

    def _lower_most_level(self) -> None:
        """Go down to the next level; to that of whoever is next, where nobody gave anything."""
        start = self.most_start
        is_empty = self.most_end <= start and start > 0
        self.most_level = self.load[self.order[start - 1]] if is_empty else self.most_level - 1

    def _extend_most(self) -> None:
        """Let the range of the most loaded grow to all of its level, and begin at its end."""
        load, order, start = self.load, self.order, self.most_start
        while start > 0 and load[order[start - 1]] == self.most_level:
            start -= 1
        self.most_start = start
        self.most_next = self.most_end - 1
