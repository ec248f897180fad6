"""Members that start together, under any protocol, and what both kinds of start need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from assignors.simulation.timed.costs.meter import Meter
from assignors.simulation.timed.heartbeats import Heartbeats
from assignors.simulation.timed.monitors.watch import Watch
from assignors.simulation.timed.stages.flight import Int64

Bools = NDArray[np.bool_]
M = TypeVar("M")
C = TypeVar("C")


class NotTogether(Exception):  # noqa: N818 - a way out, not an error of ours
    """The members do not come to rest without anything that is left to events."""


@dataclass(slots=True, kw_only=True)
class Start(Generic[M, C]):
    """Members that start together, under any protocol; rows are theirs, as in the scenario."""

    numbers: list[int]
    members: Sequence[M]
    """All of the scenario."""
    coordinator: C
    heartbeats: Heartbeats
    meter: Meter
    watch: Watch | None
    at: int
    """When the first of them starts, in microseconds."""
    before: int
    """When something else happens, in microseconds; all must be over by then."""

    @property
    def starting(self) -> list[M]:
        """The members that start."""
        return [self.members[number] for number in self.numbers]


def served(at: Int64, busy_until: int, service_us: int) -> Int64:
    """Return when requests are handled that arrive then, one after the other. Cost: O(n).

    >>> served(np.array([10, 11, 40]), busy_until=0, service_us=5).tolist()
    [15, 20, 45]
    """
    turns = np.arange(len(at), dtype=np.int64) * service_us
    begun: Int64 = np.maximum(np.maximum.accumulate(at - turns), busy_until)
    return begun + turns + service_us


def require(holds: Bools) -> None:
    """Raise `NotTogether` unless this holds for all."""
    if not holds.all():
        raise NotTogether
