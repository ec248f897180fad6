"""The result of every transaction of one partition: committed, aborted, open or lost.

A batch does not say how its transaction will end: a marker further on does. The broker keeps
an index of aborted transactions beside each segment; a copy of the log may lack it, so the
markers are collected in a pass of their own. What is kept is one interval an aborted
transaction and one offset an open one, not the records.

The first offset of the oldest open transaction is the last stable offset: `read_committed`
stops there, as what follows is not decided yet. A transaction that is still open after
damaged bytes may have had its marker in them: it counts as lost, and stops nothing else.

Source: KIP-98, "Reading Committed Messages"; `ProducerStateManager`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from operator import itemgetter

from wire.errors import WireError
from wire.log.batch import Batch, MarkerKind, marker_of
from wire.log.segment import Flaw


class TransactionResult(StrEnum):
    """How the transaction of a record ended."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    OPEN = "open"
    """No marker follows: not decided yet."""
    LOST = "lost"
    """No marker follows, and bytes that could not be read do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Transactions:
    """How every transaction of one partition ended."""

    aborted_until: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """Producer id -> first offset and marker's offset of its aborted transactions, in order."""
    open_from: dict[int, int] = field(default_factory=dict)
    """Producer id -> first offset of the transaction that has not ended."""
    lost_from: dict[int, int] = field(default_factory=dict)
    """The same for those whose marker may be in damaged bytes."""

    @property
    def last_stable_offset(self) -> int | None:
        """Offset at which `read_committed` stops; `None` if it reads to the end."""
        return min(self.open_from.values(), default=None)

    def result_of(self, batch: Batch) -> TransactionResult | None:
        """Return how the transaction of a batch ended; `None` outside transactions.

        Cost: O(log aborted transactions of its producer).
        """
        if not batch.is_transactional:
            return None
        for unended, result in (
            (self.open_from, TransactionResult.OPEN),
            (self.lost_from, TransactionResult.LOST),
        ):
            if batch.base_offset >= unended.get(batch.producer_id, batch.base_offset + 1):
                return result
        intervals = self.aborted_until.get(batch.producer_id, [])
        before = bisect_right(intervals, batch.base_offset, key=itemgetter(0)) - 1
        if before >= 0 and batch.base_offset < intervals[before][1]:
            return TransactionResult.ABORTED
        return TransactionResult.COMMITTED


def transactions_of(
    log: Iterable[Batch | Flaw], *, marker_kind: Callable[[Batch], MarkerKind | None] = marker_of
) -> Transactions:
    """Return how the transactions of a partition's log, read from its start, ended.

    `marker_kind` returns how a control batch ends its transaction. A marker that cannot be read is
    damage like any other.
    """
    open_from: dict[int, int] = {}
    doubtful: set[int] = set()
    aborted: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for found in log:
        if isinstance(found, Flaw):
            doubtful.update(open_from)
        elif not found.is_transactional:
            continue
        elif not found.is_control:
            open_from.setdefault(found.producer_id, found.base_offset)
        elif (kind := _kind(found, marker_kind)) is None:
            doubtful.update(open_from)
        else:
            doubtful.discard(found.producer_id)
            first = open_from.pop(found.producer_id, None)
            if kind is MarkerKind.ABORT and first is not None:
                aborted[found.producer_id].append((first, found.base_offset))
    return Transactions(
        aborted_until=dict(aborted),
        open_from={p: first for p, first in open_from.items() if p not in doubtful},
        lost_from={p: first for p, first in open_from.items() if p in doubtful},
    )


def _kind(batch: Batch, marker_kind: Callable[[Batch], MarkerKind | None]) -> MarkerKind | None:
    try:
        return marker_kind(batch)
    except WireError:
        return None
