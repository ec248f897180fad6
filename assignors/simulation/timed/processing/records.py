"""Which records are processed, and which more than once.

Of every partition the ranges of offsets that were processed are kept, joined where they meet: what
a new range has in common with them was processed again. While two members process one partition,
what the slower one does counts as duplicate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from assignors.simulation.timed.protocols.kafka.offsets_client import Flow, Start, position

Partition = tuple[str, int]


@dataclass(slots=True, kw_only=True)
class RecordLedger:
    """Processing as it is. Times are microseconds since the run began."""

    flow: Callable[[str], Flow]
    """Topic -> its rates."""
    count_from: int = 0
    """From when on costs are counted."""
    active: dict[Partition, dict[str, Start]] = field(default_factory=dict)
    """Partition -> member name -> where it began."""
    ranges: dict[Partition, list[tuple[int, int]]] = field(default_factory=dict)
    """Partition -> what was processed, [first, last), sorted and apart."""
    since: dict[Partition, int] = field(default_factory=dict)
    """Partition -> since when two members or more process it."""
    processed: int = 0
    """Records, each as often as it was processed."""
    reprocessed: int = 0
    """Records that were processed before."""
    duplicates: int = 0
    """Records that a second member processed while another was at work on the partition."""

    def begin(self, at: int, member: str, partition: Partition, offset: int) -> None:
        """Let a member process a partition from `offset` on. Cost: O(members at work on it)."""
        active = self.active.setdefault(partition, {})
        self._count_duplicates(at, partition)
        active[member] = Start(offset, at)
        if len(active) > 1:
            self.since[partition] = at

    def finish(self, at: int, member: str, partition: Partition, offset: int) -> None:
        """End that, at `offset`. Cost: O(ranges of the partition)."""
        self._count_duplicates(at, partition)
        active = self.active[partition]
        start = active.pop(member)
        if len(active) > 1:
            self.since[partition] = at
        again = self._cover(partition, start.offset, offset)
        self.processed += offset - start.offset
        self.reprocessed += again if at >= self.count_from else 0

    def close(self, at: int) -> None:
        """Count what goes on at the end of the run; it goes on after it. Cost: O(partitions)."""
        for partition, active in self.active.items():
            flow = self.flow(partition[0])
            going_on = list(active.items())
            ends = [position(flow, start, at) for _, start in going_on]
            for (member, _), offset in zip(going_on, ends, strict=True):
                self.finish(at, member, partition, offset)
            for (member, _), offset in zip(going_on, ends, strict=True):
                self.begin(at, member, partition, offset)

    def _count_duplicates(self, at: int, partition: Partition) -> None:
        since = self.since.pop(partition, None)
        if since is None:
            return
        flow, begin = self.flow(partition[0]), max(since, self.count_from)
        done = [
            position(flow, start, at) - position(flow, start, begin)
            for start in self.active[partition].values()
        ]
        self.duplicates += max(sum(done) - max(done), 0)

    def _cover(self, partition: Partition, first: int, last: int) -> int:
        """Add a range; return how much of it was there before."""
        before = self.ranges.get(partition, [])
        touching = [(a, b) for a, b in before if a <= last and first <= b]
        again = sum(max(min(b, last) - max(a, first), 0) for a, b in touching)
        apart = [each for each in before if each not in touching]
        if first < last or touching:
            whole = (
                min([first, *(a for a, _ in touching)]),
                max([last, *(b for _, b in touching)]),
            )
            self.ranges[partition] = sorted([*apart, whole])
        return again
