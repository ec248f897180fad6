"""What members process in a step, and what stays behind: lag as a fluid.

A member divides its time among its partitions by what waits in them, as a consumer does that
fetches from all of them at once. A partition that it starts costs it some work first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int32

Float64 = NDArray[np.float64]


@dataclass(slots=True)
class Queues:
    """Records that wait, and work that members still have with partitions they have started."""

    lag: Float64
    """float64[P], records."""
    warm_up: Float64
    """float64[M], records that a member could have processed in the time that its starts take."""

    def start(self, started: NDArray[np.int64], owner: Int32, work: Float64) -> None:
        """Let members start partitions: `started` are numbers, `owner` int32[P], `work` [P]."""
        np.add.at(self.warm_up, owner[started], work[started])

    def serve(self, arriving: Float64, owner: Int32, room: Float64) -> Float64:
        """Let records arrive and members process what they can; return what they did, float64[P].

        `arriving` is float64[P], in records; `owner` is int32[P], -1 for a partition that nobody
        consumes now; `room` is float64[M], how many records each member can process in this step.
        Cost: O(P + M).

        >>> queues = Queues(lag=np.array([30.0, 10.0]), warm_up=np.zeros(1))
        >>> queues.serve(np.zeros(2), np.zeros(2, dtype=np.int32), np.array([20.0]))
        array([15.,  5.])
        >>> queues.lag
        array([15.,  5.])
        """
        self.lag += arriving
        spent = np.minimum(self.warm_up, room)
        self.warm_up -= spent
        is_consumed = owner >= 0
        waiting = np.bincount(
            owner[is_consumed], weights=self.lag[is_consumed], minlength=len(room)
        )
        share = np.minimum(1.0, (room - spent) / np.where(waiting > 0, waiting, 1))
        # One place more, so that an owner of -1 finds 0 there.
        done: Float64 = self.lag * np.append(share, 0.0)[owner]
        self.lag -= done
        return done
