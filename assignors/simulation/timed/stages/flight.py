"""Requests on their way to the coordinator, of many members at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]


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
        first, at = self.served, self.at
        end = int(np.searchsorted(at, now))
        while end < len(at) and at[end] == now and self.sent[end] < sent:
            end += 1
        count = end - first
        if count <= 0:
            return busy_until
        self.served = end
        ready = at[first:end] + self.service_us * np.arange(count, 0, -1)
        return max(busy_until + count * self.service_us, int(ready.max()))

    def drop(self, numbers: Sequence[int]) -> None:
        """Forget the requests of members that are still to be handled. Cost: O(n)."""
        is_left = ~np.isin(self.numbers, numbers)
        is_left[: self.served] = True
        self.numbers = self.numbers[is_left]
        self.at, self.sent = self.at[is_left], self.sent[is_left]
