"""The offsets that a group has committed, as its coordinator keeps them.

What a transaction commits waits apart until the transaction ends. Then it counts, unless a commit
that was written later is there already.

Source: `OffsetMetadataManager` of Kafka 4.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.simulation.timed.protocols.offsets.messages import NO_PRODUCER, OffsetRecord

Partition = tuple[str, int]


class Committed(NamedTuple):
    """A committed offset, when it was committed, and its place among the records."""

    offset: int
    at_ms: int
    order: int


@dataclass(slots=True)
class OffsetTable:
    """The committed offsets of one group."""

    committed: dict[Partition, Committed] = field(default_factory=dict)
    pending: dict[int, dict[Partition, Committed]] = field(default_factory=dict)
    """Producer id -> what its open transaction commits."""
    records: int = 0
    """How many records have made the table."""

    def apply(self, record: OffsetRecord) -> None:
        """Take over a record, one just written or one of a log. Cost: O(open transactions)."""
        self.records += 1
        partition = (record.topic, record.partition)
        if record.offset is None:
            self.committed.pop(partition, None)
            for waiting in self.pending.values():
                waiting.pop(partition, None)
            return
        value = Committed(record.offset, record.at_ms, self.records)
        if record.producer_id == NO_PRODUCER:
            self.committed[partition] = value
        else:
            self.pending.setdefault(record.producer_id, {})[partition] = value

    def end(self, producer_id: int, *, is_commit: bool) -> None:
        """End a transaction. Cost: O(its partitions)."""
        for partition, value in self.pending.pop(producer_id, {}).items():
            before = self.committed.get(partition)
            if is_commit and (before is None or before.order < value.order):
                self.committed[partition] = value

    def is_pending(self, partition: Partition) -> bool:
        """Return whether an open transaction commits this partition."""
        return any(partition in waiting for waiting in self.pending.values())
