"""Which member gives to which while the loads of a topic's subscribers are balanced.

Subscribers are sorted by load. A range that grows from the left has those that took a partition,
all of one load once each has taken one; a range that grows from the right has those that gave
one. Java moves two pointers through the two ranges of one list, and swaps members with nothing
left to give out of the right range. The loads change while it runs and both ranges share the
list, so this is a copy of its steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

NOT_ANY = -1


@dataclass(slots=True, kw_only=True)
class Balancer:
    """N subscribers by load, ascending, and by place in map order where loads are equal."""

    member: list[int]
    load: list[int]
    has: list[int]
    """How many partitions of the topic each may still give; what it takes meanwhile, it keeps."""
    least_end: int = 0
    least_level: int = field(init=False)
    least_next: int = 0
    most_start: int = field(init=False)
    most_end: int = field(init=False)
    most_level: int = field(init=False)
    most_next: int = field(init=False)

    def __post_init__(self) -> None:
        """Start with two empty ranges, one at either end."""
        self.least_level = self.load[0] - 1
        self.most_start = self.most_end = len(self.load)
        self.most_level = self.load[-1] + 1
        self.most_next = len(self.load) - 1

    def moves(self) -> Iterator[tuple[int, int]]:
        """Yield giver and receiver of each partition that moves. Cost: O(N + moves + levels)."""
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
            yield self.member[giver], self.member[taker]

    def _giver(self) -> int:
        """Return the position of the next most loaded member that has something to give."""
        position = self._most()
        while position != NOT_ANY and not self.has[position]:
            self._exclude(position)
            position = self._most()
        return position

    def _least(self) -> int:
        if self.least_next >= self.least_end:
            self.least_level += 1
            load, end = self.load, self.least_end
            while end < len(load) and load[end] == self.least_level:
                end += 1
            self.least_end = end
            self.least_next = 0
        self.least_next += 1
        return self.least_next - 1

    def _most(self) -> int:
        if self.most_next < self.most_start:
            load, start = self.load, self.most_start
            # Nobody in the range gave anything: loads may lie far below it.
            is_empty = self.most_end <= start and start > 0
            self.most_level = load[start - 1] if is_empty else self.most_level - 1
            while start > 0 and load[start - 1] == self.most_level:
                start -= 1
            self.most_start = start
            self.most_next = self.most_end - 1
        if self.most_next < 0:
            return NOT_ANY
        self.most_next -= 1
        return self.most_next + 1

    def _exclude(self, position: int) -> None:
        """Swap a member to the end of the range and leave it out."""
        self.most_end -= 1
        last = self.most_end
        for column in (self.member, self.load, self.has):
            column[position], column[last] = column[last], column[position]
