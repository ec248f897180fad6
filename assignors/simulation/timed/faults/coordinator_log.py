"""The log of a group's partition, as far as another coordinator needs it: its records, in order.

A batch counts as written once it is replicated. What is not replicated when a broker crashes is
lost; a broker that hands over in order lets it be replicated first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from assignors.simulation.timed.protocols.effects import Record
from assignors.simulation.timed.protocols.offsets.messages import EndTransaction

Entry = Record | EndTransaction


@dataclass(slots=True, kw_only=True)
class CoordinatorLog:
    """The records of a group, batch by batch."""

    batches: list[tuple[Entry, ...]] = field(default_factory=list)
    tail: dict[int, int] = field(default_factory=dict)
    """Token of an append that is not replicated yet -> the position of its batch."""

    def append(self, records: tuple[Entry, ...], token: int) -> None:
        """Write a batch, which is to be replicated. Cost: O(1)."""
        self.tail[token] = len(self.batches)
        self.batches.append(records)

    def note_end(self, request: object) -> None:
        """Write the marker of a transaction, if it is one that this request ends. Cost: O(1)."""
        if isinstance(request, EndTransaction):
            self.batches.append((request,))

    def replicate(self, token: int) -> bool:
        """Take a batch for replicated; return False if its broker has lost it. Cost: O(1)."""
        return self.tail.pop(token, None) is not None

    def replicate_until(self, last: int) -> None:
        """Take all batches up to a token for replicated, where tokens rise. Cost: O(batches)."""
        for token in [each for each in self.tail if each <= last]:
            del self.tail[token]

    def lose_tail(self) -> int:
        """Drop what is not replicated; return how many records that are. Cost: O(batches)."""
        gone = set(self.tail.values())
        count = sum(len(self.batches[position]) for position in gone)
        self.batches = [each for at, each in enumerate(self.batches) if at not in gone]
        self.tail.clear()
        return count

    def keep_tail(self) -> None:
        """Take everything for replicated; nobody waits for it any more."""
        self.tail.clear()

    def entries(self) -> Iterator[Entry]:
        """Yield every record, in the order of the log."""
        for batch in self.batches:
            yield from batch

    def records(self) -> Iterator[Record]:
        """Yield every record, without the ends of transactions."""
        for each in self.entries():
            if not isinstance(each, EndTransaction):
                yield each

    def __len__(self) -> int:
        """Return how many records it has. Cost: O(batches)."""
        return sum(map(len, self.batches))
