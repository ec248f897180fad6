"""When the next heartbeats of members at rest arrive: of few one by one, of many in arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assignors.simulation.timed.network import NEVER, Network
from assignors.simulation.timed.plain_heartbeats import LatestResting, Rest, Resting
from assignors.simulation.timed.queue import EventQueue, Rank

Int64 = NDArray[np.int64]
FEW = 48
"""The next heartbeats of fewer members at rest are computed one by one, which costs less."""
ARRIVAL = Rank.ARRIVAL


@dataclass(slots=True, kw_only=True)
class NextHeartbeats:
    """The next heartbeats of the members at rest; times are microseconds."""

    queue: EventQueue[Any]
    network: Network
    resting: Mapping[int, Rest]
    """By member number."""
    _latest: LatestResting = field(default_factory=LatestResting)

    @property
    def changed(self) -> set[int]:
        """Who came to rest since all were looked at, or was woken: to be kept up to date."""
        return self._latest.changed

    def first(self, begin: int) -> int:
        """Return whose next heartbeat is the first to arrive, from `begin` on. Cost: O(members)."""
        if len(self.resting) >= FEW:
            numbers, times = self._all(begin)
            return int(numbers[np.lexsort((numbers, times))[0]])
        least, at_the_latest = self.network.delays.least_us, begin - self.network.longest_us
        earliest = (NEVER, -1)
        for sent, number in sorted(
            [
                (due + (at_the_latest - due) // every * every if due < at_the_latest else due, each)
                for each, (due, every, *_) in self.resting.items()
            ]
        ):
            if sent + least > earliest[0]:
                break  # this one and those sent later come later
            earliest = min(earliest, (self.one(number, begin), number))
        return earliest[1]

    def in_order(self, begin: int) -> tuple[list[int], list[int]]:
        """Return the members in the order in which their next heartbeats arrive, and when these do.

        Cost: O(members log members).
        """
        if len(self.resting) < FEW:
            arrivals = sorted([(self.one(each, begin), each) for each in self.resting])
            return [number for _, number in arrivals], [at for at, _ in arrivals]
        numbers, arrives = self._all(begin)
        order = np.lexsort((numbers, arrives))
        return numbers[order].tolist(), arrives[order].tolist()

    def one(self, number: int, begin: int) -> int:
        """Return when the next heartbeat of a member arrives, from `begin` on. Cost: O(1)."""
        network, (due, every, *_) = self.network, self.resting[number]
        sent = due + max((begin - network.longest_us - due) // every, 0) * every
        arrives, now = network.arrives(number, sent), self.queue.now
        while arrives < begin or (arrives == now and self._is_past(arrives, number)):
            sent += every
            arrives = network.arrives(number, sent)
        return arrives

    def of(self, resting: Resting, begin: int) -> tuple[Int64, Int64]:
        """Return when the next heartbeats are due, and when they arrive, from `begin` on."""
        queue, numbers, every = self.queue, resting.numbers, resting.every
        delays = self.network.delays
        due = resting.due.copy()
        # What was sent so long ago has arrived.
        due += np.maximum(-((due - (begin - self.network.longest_us)) // every), 0) * every
        arrives = np.maximum(delays.arrive(numbers, due), resting.arrived)
        while True:
            is_early = arrives < begin
            for place in np.flatnonzero(arrives == queue.now).tolist():
                is_early[place] |= self._is_past(int(arrives[place]), int(numbers[place]))
            if not is_early.any():
                return due, arrives
            due[is_early] += every[is_early]
            later = delays.arrive(numbers[is_early], due[is_early])
            arrives[is_early] = np.maximum(later, resting.arrived[is_early])

    def _all(self, begin: int) -> tuple[Int64, Int64]:
        """Return the members, and when the next heartbeat of each arrives, in any order."""
        resting = self._latest.read(self.resting, self.network.last_messages)
        return resting.numbers, self.of(resting, begin)[1]

    def _is_past(self, arrives: int, number: int) -> bool:
        return self.queue.is_past(arrives, ARRIVAL, number)
