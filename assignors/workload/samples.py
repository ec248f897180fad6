"""The offsets of a group at one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from assignors.workload.numbered import Float64, NumberedPartitions

Offsets = Mapping[str, Sequence[float | None]]
"""Topic -> the offset of each partition; `None` or a negative number where it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """Log ends and committed offsets at one time, P partitions."""

    at_ms: int
    """The time, of any clock that never goes back."""
    partitions: NumberedPartitions
    log_end: Float64
    """float64[P]: the offset of the next record that is produced, NaN where not known."""
    committed: Float64
    """float64[P]: the offset of the next record that the group reads, NaN where not known."""

    @classmethod
    def of(cls, at_ms: int, *, log_end: Offsets, committed: Offsets) -> Sample:
        """Return a sample of offsets by topic. Never raises for what the offsets are.

        Topics of either mapping count, with as many partitions as the longer list has.

        >>> Sample.of(0, log_end={"t": [7, None]}, committed={"t": [5]}).log_end
        array([ 7., nan])
        """
        counts: dict[str, int] = {}
        for topic, listed in chain(log_end.items(), committed.items()):
            counts[topic] = max(counts.get(topic, 0), len(listed))
        partitions = NumberedPartitions.of(counts)
        return cls(
            at_ms=at_ms,
            partitions=partitions,
            log_end=partitions.values(log_end),
            committed=partitions.values(committed),
        )
