"""What the leader knows of the traffic: samples of offsets, and the weights it makes of them.

As in the clients: log ends and committed offsets are read now and then, in the background, and a
round uses what was read last.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assignors.simulation.traffic.rates import Draws, Float64, exponentials
from assignors.simulation.traffic.scenario import LeaderConfig, WeightSource
from assignors.workload import NumberedPartitions, Sample, Workload, after, weights_of, work


class Estimates:
    """Samples of a group's offsets, with an error of their own."""

    def __init__(self, config: LeaderConfig, partitions: NumberedPartitions, *, seed: int) -> None:
        """Begin without a sample."""
        self._config = config
        self._partitions = partitions
        self._draws = Draws(seed, "errors", partitions.partition_count)
        self._log_end = np.zeros(partitions.partition_count)
        self._arrived = np.zeros(partitions.partition_count)
        self._count = 0
        self._known: Workload | None = None

    def add(self, arriving: Float64) -> None:
        """Count records that arrive, float64[P]."""
        self._arrived += arriving

    def sample(self, at_s: int, lag: Float64) -> None:
        """Read offsets; `lag` is float64[P], in records.

        The growth of each log is off by a factor of its own, so are rates.
        """
        error = exponentials(self._config.error * self._draws.normal(self._count))
        self._count += 1
        self._log_end = self._log_end + self._arrived * error
        self._arrived = np.zeros(len(lag))
        # An offset below 0 would not be known: the log begins where the group has read to.
        self._log_end = np.maximum(self._log_end, lag)
        sample = Sample(
            at_ms=at_s * 1000,
            partitions=self._partitions,
            log_end=self._log_end,
            committed=self._log_end - lag,
        )
        self._known = after(self._known, sample, half_life_s=self._config.half_life_s)

    def forget(self) -> None:
        """Forget all samples: another member leads now, which has read no offsets yet."""
        self._known = None

    def weights(self, capacities: Sequence[int] = ()) -> dict[str, tuple[int, ...]]:
        """Return the weight of each partition by topic; none before two samples.

        `capacities` are those of the members that are there. Cost: O(P log P).
        """
        if self._known is None:
            return {}
        rate, lag = self._known.rate, self._known.lag
        if self._config.weights is WeightSource.LAG:
            return weights_of(self._partitions, lag)
        behind = lag if self._config.weights is WeightSource.WORK else None
        horizon_s = self._config.horizon_s
        waiting = work(rate, behind, horizon_s=horizon_s, capacities=capacities)
        return weights_of(self._partitions, waiting)
