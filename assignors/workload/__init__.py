"""What partitions weigh, from samples of a group's offsets: rate x horizon + lag.

    sample = Sample.of(now_ms, log_end={"orders": [510, 40]}, committed={"orders": [500, 40]})
    workload = after(workload, sample)          # rates, smoothed; lag
    weights = workload.weights(horizon_s=300)   # topic -> a whole number for each partition

Lag alone is what the owner before left; a rate alone says nothing of the backlog after an outage.
The work that waits within the next five minutes has both. No clock is read here: times are
arguments, so that the same samples give the same weights in a client, a simulation and a replay.
"""

from assignors.workload.numbered import NumberedPartitions
from assignors.workload.samples import Sample
from assignors.workload.snapshot import BALANCE, Snapshot, weighting_at
from assignors.workload.work import HORIZON_S, weights_of, work
from assignors.workload.workload import HALF_LIFE_S, Workload, after

__all__ = [
    "BALANCE",
    "HALF_LIFE_S",
    "HORIZON_S",
    "NumberedPartitions",
    "Sample",
    "Snapshot",
    "Workload",
    "after",
    "weighting_at",
    "weights_of",
    "work",
]
