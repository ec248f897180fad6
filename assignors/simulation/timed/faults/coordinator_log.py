"""The log of a group's partition, as far as another coordinator needs it: its records, in order.

A batch counts as written once it is replicated. What is not replicated when a broker crashes is
lost; a broker that hands over in order lets it be replicated first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from assignors.simulation.timed.protocols.effects import Append, Record
from assignors.simulation.timed.protocols.kafka.messages import EndTransaction

Entry = Record | EndTransaction


@dataclass(slots=True, kw_only=True)
class CoordinatorLog:
    """The records of a group, batch by batch."""

    batches: list[tuple[Entry, ...]] = field(default_factory=list)
    tail: dict[int, int] = field(default_factory=dict)
    """Token of an append that is not replicated yet -> the position of its batch."""

    def append(self, effect: Append) -> None:
        """Write a batch, which is to be replicated. Cost: O(1)."""
        self.tail[effect.token] = len(self.batches)
        self.batches.append(effect.records)

    def mark(self, end: EndTransaction) -> None:
        """Write the marker of a transaction that ends. Cost: O(1)."""
        self.batches.append((end,))

    def replicate(self, token: int) -> bool:
        """Take a batch for replicated; return False if its broker has lost it. Cost: O(1)."""
        return self.tail.pop(token, None) is not None

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
