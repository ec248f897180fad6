"""The weights that a round uses: those found last, if they are not too old; else nothing moves.

A round must not wait for offsets, so weights are found before, in the background. Where there
are none yet, or the last ones are too old, members keep what they have (as Kafka Streams does,
KAFKA-6145): partitions without an owner are placed by the last known weights, else by count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from assignors.weighting import Balance, MustHold, Weighting
from assignors.workload.numbered import NumberedPartitions
from assignors.workload.work import weights_of

MAX_AGE_S = 300.0
"""Weights that are older than this move nothing."""

BALANCE = Balance(tolerance=Fraction(7, 100), trigger=Fraction(24, 100))
"""Of a group that is looked at again and again, with weights that are measured. Both limits are
wider than those of a single decision: what is a few percent too much is over before it matters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Weights, and when they were found."""

    at_ms: int
    weights: Mapping[str, tuple[int, ...]]
    """Topic -> the weight of each partition. Empty: none were found."""


def weighting_at(
    snapshot: Snapshot | None,
    now_ms: int,
    *,
    partition_counts: Mapping[str, int],
    capacities: Mapping[str, int] | None = None,
    budget: int | None = None,
    balance: Balance | None = None,
    max_age_s: float = MAX_AGE_S,
) -> Weighting:
    """Return the weighting of a round at a time of the same clock as the snapshot's.

    `partition_counts` are those of the round's topics: partitions that the snapshot does not have
    weigh the median of their topic, else of all. `Weighting.must_hold` says why nothing may move.
    Cost: O(P), and O(P log P) where topics differ.

    >>> snapshot = Snapshot(at_ms=0, weights={"t": (9, 1, 2)})
    >>> found = weighting_at(snapshot, 400_000, partition_counts={"t": 4})
    >>> found.weights, found.must_hold
    ({'t': (9, 1, 2, 2)}, <MustHold.STALE: 'stale'>)
    """
    known = snapshot.weights if snapshot is not None else {}
    must_hold = None
    if snapshot is None or not known:
        must_hold = MustHold.NO_WEIGHTS
    elif now_ms - snapshot.at_ms > max_age_s * 1000:
        must_hold = MustHold.STALE
    return Weighting(
        weights=_fitted(known, partition_counts),
        capacities=capacities or {},
        budget=budget,
        balance=balance or BALANCE,
        must_hold=must_hold,
    )


def _fitted(
    weights: Mapping[str, tuple[int, ...]], partition_counts: Mapping[str, int]
) -> Mapping[str, tuple[int, ...]]:
    """Return weights for exactly these partitions, none where none is known."""
    if {topic: len(each) for topic, each in weights.items()} == dict(partition_counts):
        return weights
    partitions = NumberedPartitions.of(partition_counts)
    return weights_of(partitions, partitions.values(weights))
