"""Records as a flow: how many stand in a partition at a time, and how far a member has come.

Nothing is simulated record by record. Records are written to a partition at an even rate from the
beginning of the run on; a member processes them at an even rate too, until it has caught up. Every
offset is an integer, rounded down, and follows from the moment alone.
"""

from __future__ import annotations

from typing import NamedTuple

SECOND = 1_000_000
"""In microseconds."""


class Flow(NamedTuple):
    """The rates of one topic, in records a second and partition."""

    written: int
    processed: int


class Start(NamedTuple):
    """Where a member began to process a partition, and when."""

    offset: int
    at_us: int


def end_offset(flow: Flow, at_us: int) -> int:
    """Return how many records have been written to a partition.

    >>> end_offset(Flow(written=10, processed=20), 1_500_000)
    15
    """
    return at_us * flow.written // SECOND


def position(flow: Flow, start: Start, at_us: int) -> int:
    """Return the offset of the next record to process, for a member that began at `start`.

    Never less than where it began, never beyond the end. Cost: O(1).

    >>> [position(Flow(10, 20), Start(0, 1_000_000), at) for at in (0, 1_200_000, 9_000_000)]
    [0, 4, 90]
    """
    came = start.offset + (at_us - start.at_us) * flow.processed // SECOND
    return max(start.offset, min(came, end_offset(flow, at_us)))
