"""The knee of an execution model: the highest rate that it answers about as fast as a low one.

Up to the knee the 99th percentile of the response time is at most a multiple of what it is at a low
rate, and the load is sustained. It is searched by bisection, on simulated runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from assignors.simulation.timed.execution.measures import Measured, measure
from assignors.simulation.timed.execution.policy import POLICIES
from assignors.simulation.timed.sweeps.rows import limit_per_second
from assignors.simulation.timed.sweeps.sweep import Point

FACTOR = 2.0
TOLERANCE = 0.03
LOW_SHARE = 0.02
"""The low rate, as a share of the throughput limit."""
FLOOD = 3
"""The rate at which the throughput is measured, as a multiple of the limit."""
RATE_MAX = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Knee:
    """Where an execution model leaves its low response times. Rates are requests a second."""

    model: str
    """Name of the execution model."""
    knee_per_second: float
    """The highest rate with a 99th percentile within the factor, within 3 %."""
    throughput_per_second: float
    """What it answers when it is asked three times the limit."""
    limit_per_second: float
    """The throughput limit by formula."""
    low_p99_ms: float
    """The 99th percentile at a fiftieth of the limit, in milliseconds."""
    knee_p99_ms: float
    """The 99th percentile at the knee, in milliseconds."""


def knee(point: Point, *, factor: float = FACTOR, tolerance: float = TOLERANCE) -> Knee:
    """Return the knee of the point's model under its load, whatever the rate of that.

    Cost: about ten runs. Raises `ValueError` for a factor that is not above 1.
    """
    if factor <= 1:
        raise ValueError(f"factor {factor}: a knee needs one above 1")
    policy = POLICIES[point.model]

    def at(rate: float) -> Measured:
        load = replace(point.load, per_second=max(round(rate), 1))
        return measure(policy, load, point.settings)

    limit = min(limit_per_second(policy, point.load, point.settings), RATE_MAX)
    low = at(LOW_SHARE * limit)

    def holds(found: Measured) -> bool:
        return found.is_sustained and found.p99_ms <= factor * low.p99_ms

    good, bad, best = LOW_SHARE * limit, FLOOD * limit, low
    flooded = at(bad)
    while bad > (1 + tolerance) * good:
        middle = (good * bad) ** 0.5
        found = at(middle)
        if holds(found):
            good, best = middle, found
        else:
            bad = middle
    return Knee(
        model=point.model,
        knee_per_second=good,
        throughput_per_second=flooded.throughput_per_second,
        limit_per_second=limit,
        low_p99_ms=low.p99_ms,
        knee_p99_ms=best.p99_ms,
    )
