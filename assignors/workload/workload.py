"""What is known of each partition after some samples: its rate, smoothed, and its lag.

The rate is that at which records are produced: how much the log end has grown. Where log ends are
not known it is the rate at which the group commits, which is the same in the long run. What one
sample does not have stays as it was; so does the rate of a partition whose offsets have gone
back, as after its topic was made anew.

Rates are smoothed, but by no fixed part. New rates that are now above the smoothed one, now below
it, are noise, and change it slowly. New rates that are all above it, or all below, are a change
that lasts: the newest one counts then, up to alone. So a burst is seen in a sample or two, and the
errors of measuring move no partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assignors.workload.numbered import Float64, NumberedPartitions
from assignors.workload.samples import Sample
from assignors.workload.work import HORIZON_S, weights_of, work

HALF_LIFE_S = 90.0
"""A rate measured so long ago counts half of one measured now, or less where rates have changed."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Workload:
    """Rates and lags of P partitions."""

    partitions: NumberedPartitions
    at_ms: int
    """The time of the newest sample."""
    rate: Float64
    """float64[P]: records a second, NaN before the second sample of a partition."""
    error: Float64
    """float64[P]: by how much new rates were above the smoothed one, smoothed as that is,"""
    error_size: Float64
    """float64[P]: and the same regardless of above or below."""
    lag: Float64
    """float64[P]: records that the group has not read, NaN where not known."""
    log_end: Float64
    """float64[P]: the newest known,"""
    log_end_ms: Float64
    """float64[P]: and when it was read."""
    committed: Float64
    """float64[P]: the newest known,"""
    committed_ms: Float64
    """float64[P]: and when it was read."""

    def weights(
        self, *, horizon_s: float = HORIZON_S, capacities: Sequence[int] = ()
    ) -> dict[str, tuple[int, ...]]:
        """Return the weight of each partition by topic; none before two samples.

        `capacities` are those of the members, as for `work`.
        """
        waiting = work(self.rate, self.lag, horizon_s=horizon_s, capacities=capacities)
        return weights_of(self.partitions, waiting)


def after(
    workload: Workload | None, sample: Sample, *, half_life_s: float = HALF_LIFE_S
) -> Workload:
    """Return what is known after one more sample; it says which topics exist.

    A sample that is not newer than the one before changes nothing. Raises `ValueError` for a
    half-life that is not above 0. Cost: O(P), and O(T) more where topics have changed.

    >>> first = Sample.of(0, log_end={"t": [100]}, committed={"t": [100]})
    >>> then = Sample.of(10_000, log_end={"t": [150]}, committed={"t": [120]})
    >>> known = after(after(None, first), then)
    >>> known.rate, known.lag, known.weights()
    (array([5.]), array([30.]), {'t': (1530,)})
    """
    if not half_life_s > 0:
        raise ValueError(f"half_life_s: {half_life_s} is not above 0")
    if workload is None:
        unknown = np.full(sample.partitions.partition_count, np.nan)
        workload = Workload(
            partitions=sample.partitions,
            at_ms=sample.at_ms - 1,
            rate=unknown,
            error=np.zeros_like(unknown),
            error_size=np.zeros_like(unknown),
            lag=unknown,
            log_end=unknown,
            log_end_ms=unknown,
            committed=unknown,
            committed_ms=unknown,
        )
    if sample.at_ms <= workload.at_ms:
        return workload
    before = _realigned(workload, sample.partitions)
    produced, produced_s = _growth(before.log_end, before.log_end_ms, sample.log_end, sample.at_ms)
    read, read_s = _growth(before.committed, before.committed_ms, sample.committed, sample.at_ms)
    grown = np.where(np.isnan(produced), read, produced)
    elapsed_s = np.where(np.isnan(produced), read_s, produced_s)
    rate, error, error_size = _smoothed(before, grown / elapsed_s, elapsed_s, half_life_s)
    return Workload(
        partitions=sample.partitions,
        at_ms=sample.at_ms,
        rate=rate,
        error=error,
        error_size=error_size,
        lag=_newer(before.lag, np.maximum(sample.log_end - sample.committed, 0.0)),
        log_end=_newer(before.log_end, sample.log_end),
        log_end_ms=_time(before.log_end_ms, sample.log_end, sample.at_ms),
        committed=_newer(before.committed, sample.committed),
        committed_ms=_time(before.committed_ms, sample.committed, sample.at_ms),
    )


def _realigned(workload: Workload, to: NumberedPartitions) -> Workload:
    """Return the same workload in the numbering of the newest sample."""
    if workload.partitions == to:
        return workload
    realigned = workload.partitions.realigned
    return Workload(
        partitions=to,
        at_ms=workload.at_ms,
        rate=realigned(workload.rate, to),
        error=np.nan_to_num(realigned(workload.error, to)),
        error_size=np.nan_to_num(realigned(workload.error_size, to)),
        lag=realigned(workload.lag, to),
        log_end=realigned(workload.log_end, to),
        log_end_ms=realigned(workload.log_end_ms, to),
        committed=realigned(workload.committed, to),
        committed_ms=realigned(workload.committed_ms, to),
    )


def _growth(
    before: Float64, before_ms: Float64, now: Float64, at_ms: int
) -> tuple[Float64, Float64]:
    """Return by how much offsets have grown, NaN where not known, and in how many seconds."""
    grown = now - before
    with np.errstate(invalid="ignore"):
        return np.where(grown >= 0, grown, np.nan), (at_ms - before_ms) / 1000


def _smoothed(
    before: Workload, measured: Float64, elapsed_s: Float64, half_life_s: float
) -> tuple[Float64, Float64, Float64]:
    """Return rates and their two errors after one more measurement; those without one stay.

    Source: D. W. Trigg and A. G. Leach, Exponential smoothing with an adaptive response rate,
    Operational Research Quarterly 18 (1967): errors that cancel out count little, others much.
    """
    part = 1 - 0.5 ** (elapsed_s / half_life_s)
    found = measured - before.rate
    error = _newer(before.error, before.error + part * (found - before.error))
    size = _newer(before.error_size, before.error_size + part * (np.abs(found) - before.error_size))
    tracked = np.abs(error) / np.where(size > 0, size, 1.0)
    smoothed = before.rate + np.minimum(np.maximum(part, tracked), 1.0) * found
    rate = _newer(before.rate, np.where(np.isnan(before.rate), measured, smoothed))
    return rate, error, size


def _newer(before: Float64, now: Float64) -> Float64:
    """Return what is known now, else what was known before."""
    found: Float64 = np.where(np.isnan(now), before, now)
    return found


def _time(before_ms: Float64, now: Float64, at_ms: int) -> Float64:
    """Return when each offset was read last."""
    found: Float64 = np.where(np.isnan(now), before_ms, float(at_ms))
    return found
