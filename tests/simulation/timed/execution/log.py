"""The log of one offsets partition: local appends, the high watermark, what a failover leaves.

Offsets count entries. What lies below the high watermark is replicated and stays; what lies above
is lost with the broker that has it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from assignors.simulation.timed.execution.port import Entry
from assignors.simulation.timed.execution.state import Partition


@dataclass(slots=True)
class Log:
    """The log as its leader has it."""

    entries: list[Entry] = field(default_factory=list)
    high_watermark: int = 0
    """Entries below this offset are replicated."""

    @property
    def end(self) -> int:
        """The offset of the next entry."""
        return len(self.entries)

    def append(self, entries: Iterable[Entry]) -> int:
        """Append locally; return the offset behind the last entry. Cost: O(entries)."""
        self.entries.extend(entries)
        return self.end

    def replicate(self, until: int) -> None:
        """Let the high watermark rise. Raises `ValueError` for one beyond the end, or back."""
        if not self.high_watermark <= until <= self.end:
            raise ValueError(
                f"no high watermark {until}: it is {self.high_watermark} of {self.end}"
            )
        self.high_watermark = until

    def truncate(self) -> int:
        """Lose what is not replicated, as a failover does; return how many entries that is."""
        lost = self.end - self.high_watermark
        del self.entries[self.high_watermark :]
        return lost

    def compacted(self, clean_until: int, drop_tombstones_until: int = 0) -> Iterator[Entry]:
        """Yield what a cleaner leaves: up to an offset only the last entry of each key.

        Tombstones below `drop_tombstones_until` go too. Cost: O(entries).
        """
        last = {entry.key: at for at, entry in enumerate(self.entries[:clean_until])}
        for at, entry in enumerate(self.entries):
            is_old = at < clean_until and last[entry.key] != at
            is_gone = at < min(clean_until, drop_tombstones_until) and entry.value is None
            if not is_old and not is_gone:
                yield entry


def known(partition: Partition) -> tuple[int, dict[Hashable, Any]]:
    """Return an offset at or below the high watermark, and the state that the log had there.

    Cost: O(state).
    """
    offset = min(partition.high_watermark, partition.ahead)
    before = {key: value for _, key, value in reversed(partition.undo)}
    state = {**partition.state, **before}
    return offset, {key: value for key, value in state.items() if value is not None}
