"""Requests on their way to the coordinator, of many members at once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
FEW = 8
"""So few members are looked for one by one."""


@dataclass(slots=True, kw_only=True)
class Flight:
    """Requests of one kind, in the order in which they arrive; times are microseconds."""

    numbers: Int64
    """Whose they are, int64[N]."""
    at: Int64
    """When each arrives, int64[N]."""
    sent: Int64
    """When each was sent, int64[N]: of those that arrive together the first sent comes first."""
    service_us: int
    served: int = 0
    """So many have been handled."""
    _times: list[int] = field(init=False)
    """`at`: most often it is asked for the next one."""

    def __post_init__(self) -> None:
        """Read the times."""
        self._times = self.at.tolist()

    @property
    def left(self) -> Int64:
        """When those arrive that have not been handled."""
        return self.at[self.served :]

    @classmethod
    def of(cls, numbers: Int64, at: Int64, sent: Int64, service_us: int) -> Flight:
        """Return these requests in the order of arrival. Cost: O(n log n)."""
        order = np.lexsort((numbers, sent, at))
        return cls(numbers=numbers[order], at=at[order], sent=sent[order], service_us=service_us)

    def serve(self, busy_until: int, now: int, sent: int) -> int:
        """Return until when the coordinator is busy once it has handled what came before `now`.

        What arrives at `now` came before if it was sent before `sent`. Cost: O(those).
        """
        first, times = self.served, self._times
        if first == len(times) or times[first] > now:
            return busy_until
        end = bisect_left(times, now, first)
        while end < len(times) and times[end] == now and self.sent[end] < sent:
            end += 1
        self.served = end
        for at in times[first:end]:
            busy_until = max(at, busy_until) + self.service_us
        return busy_until

    def drop(self, numbers: Sequence[int]) -> None:
        """Forget the requests of members that are still to be handled. Cost: O(n), per few."""
        if len(numbers) <= FEW:
            is_left = np.ones(len(self.numbers), dtype=np.bool_)
            for number in numbers:
                is_left &= self.numbers != number
        else:
            is_left = ~np.isin(self.numbers, numbers)
        is_left[: self.served] = True
        self.numbers = self.numbers[is_left]
        self.at, self.sent = self.at[is_left], self.sent[is_left]
        self._times = self.at.tolist()
