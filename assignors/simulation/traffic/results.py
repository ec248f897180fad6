"""The figures of a run, from its moments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from assignors.checks import summary
from assignors.simulation.traffic.rates import Float64
from assignors.simulation.traffic.run import Moment
from assignors.simulation.traffic.scenario import HOUR_S

LATE_S = 120
"""A partition whose lag is worth more seconds than this is late."""
FINE = 50
"""Steps of the scale of lags for a factor of e: each is 2 % wide."""
SHORTEST_S = 0.01
STEPS = FINE * 25
"""From `SHORTEST_S` on: enough for 20 years."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficResult:
    """What one run cost. A lag in seconds is a partition's lag over its rate at that time."""

    moves: int
    """Partitions that went from a member to another one, while both were there."""
    moves_per_hour: float
    """The same, in an hour."""
    returned_share: float
    """Part of the moves back to a member that had the partition within the last half hour."""
    placed: int
    """Partitions that were given to a member after theirs had left."""
    rebalances_per_hour: float
    """How often the group began to rebalance."""
    rounds_per_hour: float
    """Rounds of these: a cooperative rebalance that moves a partition has two."""
    use_over_bound_mean: float
    """Largest use of a member over what no assignment is better than, mean over time."""
    use_over_bound_p95: float
    """The same, at the 95th percentile."""
    overloaded_share: float
    """Part of the time in which more arrives for a member than it can process."""
    lag_p50_s: float
    """Median lag of a partition, over partitions and time."""
    lag_p99_s: float
    """99th percentile."""
    lag_max_s: float
    """Largest lag."""
    caught_up_after_s: float
    """When a partition was late for the last time: more than 120 seconds behind."""
    paused_s_per_hour: float
    """Seconds in which a partition was not consumed, summed over partitions, in an hour."""
    deferred_max: int
    """Most partitions that the budget put off at once."""
    double: int
    """Partitions that two members consumed at once."""
    violations: int
    """Rules that the answers of somebody's own assignor break, from the start of the run on."""
    first_violation: str | None
    """The first broken rule in words, with the partition and the members."""


SUMMED = ("rounds", "rebalances", "moves", "returns", "placed", "paused", "double")
"""Fields of a moment that are added up."""


def result_of(moments: Iterable[Moment], *, tick_s: int, count_from_s: int = 0) -> TrafficResult:
    """Return the figures of a run. Memory: one moment, and a number a minute."""
    sums, lags = Counter[str](), np.zeros(STEPS + 1)
    uses: list[float] = []
    late_s = deferred_max = violations = 0
    lag_max_s = 0.0
    first_violation: str | None = None
    for moment in moments:
        violations += len(moment.violations)
        first_violation = first_violation or summary(moment.violations)
        if moment.at_s < count_from_s:
            continue
        use_max = float(moment.use.max(initial=0.0))
        sums.update(steps=1, overloaded=use_max > 1)
        sums.update({name: getattr(moment, name) for name in SUMMED})
        if moment.use_bound:
            uses.append(use_max / moment.use_bound)
        behind_s = np.where(moment.lag > 0, moment.lag / np.maximum(moment.rate, 1e-9), 0.0)
        place = np.ceil(np.log(np.maximum(behind_s, SHORTEST_S) / SHORTEST_S) * FINE)
        lags += np.bincount(np.minimum(place, STEPS).astype(np.int64), minlength=STEPS + 1)
        longest_s = float(behind_s.max(initial=0.0))
        lag_max_s = max(lag_max_s, longest_s)
        if longest_s > LATE_S:
            late_s = moment.at_s + tick_s
        deferred_max = max(deferred_max, moment.deferred)
    steps = max(sums["steps"], 1)
    hours = steps * tick_s / HOUR_S
    known_uses = np.array(uses or [0.0])
    return TrafficResult(
        moves=sums["moves"],
        moves_per_hour=sums["moves"] / hours,
        returned_share=sums["returns"] / max(sums["moves"], 1),
        placed=sums["placed"],
        rebalances_per_hour=sums["rebalances"] / hours,
        rounds_per_hour=sums["rounds"] / hours,
        use_over_bound_mean=float(known_uses.mean()),
        use_over_bound_p95=float(np.quantile(known_uses, 0.95)),
        overloaded_share=sums["overloaded"] / steps,
        lag_p50_s=_lag_s(lags, 0.5),
        lag_p99_s=_lag_s(lags, 0.99),
        lag_max_s=lag_max_s,
        caught_up_after_s=float(late_s),
        paused_s_per_hour=sums["paused"] * tick_s / hours,
        deferred_max=deferred_max,
        double=sums["double"],
        violations=violations,
        first_violation=first_violation,
    )


def _lag_s(lags: Float64, part: float) -> float:
    """Return the lag below which this part of all is; exact to 2 %."""
    total = np.cumsum(lags)
    place = int(np.searchsorted(total, part * total[-1]))
    return 0.0 if place == 0 else round(SHORTEST_S * float(np.exp(place / FINE)), 3)
