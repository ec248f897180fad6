"""How fast partitions are consumed, and how far the group is behind, at any moment of a history.

A commit says where the group was in a partition, so two of them give a rate: records consumed, in
the long run as many as are produced. Log ends, where they are given, have the rate of production
itself, and the lag. Only what was written before the moment counts, and no more than `WINDOW_MS`
before it: what a member of the group could have known.

Of each partition only the last commit of every `SLOT_MS` is looked at. That is as good for a rate
over two minutes, and few enough for one worker of Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int64
from assignors.replay.history.log_ends import LogEnds
from assignors.replay.tables.rows import OffsetRow
from assignors.workload import NumberedPartitions, weights_of, work
from assignors.workload.numbered import Float64

WINDOW_MS = 120_000
"""So far back from a moment commits and log ends count."""

SLOT_MS = 10_000
"""Of all commits of a partition in such a time the last one counts."""

MILLI = 1000
"""Uses are whole numbers of thousandths of a record a second."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observed:
    """The commits and log ends of a group, in order of time. N commits, E log ends."""

    partitions: NumberedPartitions
    at_ms: Int64
    """int64[N], from the oldest on."""
    partition: Int64
    """int64[N]: the number of the partition."""
    offset: Float64
    """float64[N]."""
    known_since: Float64
    """float64[P]: the time of the first commit in the log, infinite where there is none."""
    ends_ms: Int64
    """int64[E], from the oldest on."""
    ends: Float64
    """float64[E, P], NaN where not known."""

    @property
    def until_ms(self) -> int:
        """The moment after the last commit."""
        return int(self.at_ms[-1]) + 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Known:
    """What is known of P partitions at one moment, NaN where nothing is."""

    partitions: NumberedPartitions
    rate: Float64
    """float64[P]: records a second."""
    lag: Float64
    """float64[P]: records that the group has not read."""

    def work(self, member_count: int) -> dict[str, tuple[int, ...]]:
        """Topic -> weights: the records that wait within `workload.HORIZON_S`."""
        waiting = work(self.rate, self.lag, capacities=(1,) * member_count)
        return weights_of(self.partitions, waiting)

    @property
    def rates(self) -> dict[str, tuple[int, ...]]:
        """Topic -> records in `MILLI` seconds; what is not known counts as its topic's median."""
        return weights_of(self.partitions, self.rate * MILLI)

    @property
    def lag_sum(self) -> int | None:
        """How many records the group has not read, `None` where no lag is known."""
        known = self.lag[np.isfinite(self.lag)]
        return int(known.sum()) if len(known) else None


def observed(
    commits: Iterable[OffsetRow],
    partition_counts: Mapping[str, int],
    log_ends: Sequence[LogEnds] = (),
) -> Observed | None:
    """Return what the commits of a group show, `None` where there are none.

    Those of aborted transactions do not count, nor do tombstones. Cost: O(C log C).
    """
    partitions = NumberedPartitions.of(partition_counts)
    begin = dict(zip(partitions.topics, partitions.first, strict=False))
    placed = [
        (begin[commit.topic] + commit.partition, commit)
        for commit in commits
        if 0 <= commit.partition < partition_counts.get(commit.topic, 0)
    ]
    since = np.full(partitions.partition_count, np.inf)
    for number, commit in reversed(placed):
        since[number] = commit.at_ms
    found = [
        (commit.at_ms, number, commit.offset)
        for number, commit in placed
        if commit.offset is not None and not commit.is_aborted
    ]
    if not found:
        return None
    table = np.array(found, dtype=np.int64)
    table = table[np.argsort(table[:, 0], kind="stable")]
    table = table[_last_of_slots(table)]
    ends = sorted(log_ends, key=lambda one: one.at_ms)
    rows = [partitions.values(one.log_ends) for one in ends]
    return Observed(
        partitions=partitions,
        at_ms=table[:, 0],
        partition=table[:, 1],
        offset=table[:, 2].astype(np.float64),
        known_since=since,
        ends_ms=np.array([one.at_ms for one in ends], dtype=np.int64),
        ends=np.array(rows).reshape(len(rows), partitions.partition_count),
    )


def _last_of_slots(table: Int64) -> NDArray[np.intp]:
    """Return the rows (time, partition, offset) that are the last of their partition and slot."""
    places = np.stack([table[::-1, 1], table[::-1, 0] // SLOT_MS], axis=1)
    _, last = np.unique(places, axis=0, return_index=True)
    rows: NDArray[np.intp] = np.sort(len(table) - 1 - last)
    return rows


def known_at(seen: Observed, moment_ms: int) -> Known | None:
    """Return what was known before a moment, `None` where nothing was. Cost: O(P + N in time)."""
    low, high = np.searchsorted(seen.at_ms, [moment_ms - WINDOW_MS, moment_ms])
    first_end, last_end = np.searchsorted(seen.ends_ms, [moment_ms - WINDOW_MS, moment_ms])
    if low == high and first_end == last_end:
        return None
    rate = _consumed(seen, slice(low, high), moment_ms)
    lag = np.full_like(rate, np.nan)
    if first_end < last_end:
        produced = _produced(seen, slice(first_end, last_end))
        rate = np.where(np.isnan(produced), rate, produced)
        when = int(seen.ends_ms[last_end - 1])
        committed = _committed(seen, slice(low, int(np.searchsorted(seen.at_ms, when, "right"))))
        lag = np.maximum(seen.ends[last_end - 1] - committed, 0.0)
    return Known(partitions=seen.partitions, rate=rate, lag=lag)


def _consumed(seen: Observed, window: slice, moment_ms: int) -> Float64:
    """Return records a second by the commits of a window, float64[P].

    A time without commits that is longer than usual counts as one without records.
    """
    numbers, at, offset = seen.partition[window], seen.at_ms[window], seen.offset[window]
    rate = np.full(seen.partitions.partition_count, np.nan)
    if not len(numbers):
        return rate
    # The group commits: what it used to commit and does not any more has no records.
    rate[seen.known_since < moment_ms - WINDOW_MS] = 0.0
    present, begin, count = np.unique(numbers, return_index=True, return_counts=True)
    _, from_end = np.unique(numbers[::-1], return_index=True)
    end = len(numbers) - 1 - from_end
    rate[present[count == 1]] = np.nan
    several = count > 1
    present, begin, end, count = present[several], begin[several], end[several], count[several]
    took = (at[end] - at[begin]).astype(np.float64)
    elapsed = moment_ms - at[begin] - took / (count - 1)
    grown = np.maximum(offset[end] - offset[begin], 0.0)
    rate[present] = grown / np.maximum(np.maximum(took, elapsed), 1.0) * 1000
    return rate


def _produced(seen: Observed, window: slice) -> Float64:
    """Return records a second by the first and last known log ends of a window, float64[P]."""
    ends, at = seen.ends[window], seen.ends_ms[window].astype(np.float64)
    is_known = np.isfinite(ends)
    first, last = is_known.argmax(axis=0), len(at) - 1 - is_known[::-1].argmax(axis=0)
    each = np.arange(ends.shape[1])
    grown, took = ends[last, each] - ends[first, each], at[last] - at[first]
    found: Float64 = np.full(len(each), np.nan)
    sound = np.isfinite(grown) & (grown >= 0) & (took > 0)
    found[sound] = grown[sound] / took[sound] * 1000
    return found


def _committed(seen: Observed, window: slice) -> Float64:
    """Return the last offset of each partition in a window, float64[P], NaN where none is."""
    found = np.full(seen.partitions.partition_count, np.nan)
    found[seen.partition[window]] = seen.offset[window]
    return found
