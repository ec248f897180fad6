"""What a broker keeps for a group, in bytes: its records as compaction leaves them.

The coordinator has the group in `__consumer_offsets`, one record a key: members with their
subscriptions, assignments, committed offsets. Counted are keys and values as a broker writes them,
not the frames of records and batches around them, and not the group's id, which is in every key.

Groups of the push protocol have no such records, but for offsets. There every broker has to
remember who may read which partition, as the discussion of 2014 objected: a token for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assignors.ownership.changes import Change
from assignors.simulation.timed.offsets_topic import log_entries
from assignors.simulation.timed.protocols.effects import MILLISECOND, Record
from wire.records import RECORD_TYPES

TOKEN_BYTES = 16 + 4 + 16 + 8
"""A token of the push protocol: topic id, partition, member id as a UUID, number of the grant."""
OFFSET_KEYS = frozenset(
    each.number.to_bytes(2, "big") for each in RECORD_TYPES if each.name.endswith("OFFSET_COMMIT")
)
"""How keys of committed offsets begin: with the number of their type, in two bytes."""

Sizes = Iterator[tuple[int, int]]
"""Milliseconds since the run began, and bytes that are kept from then on."""


def state_figures(
    records: Iterable[tuple[int, Record]], changes: Iterable[Change], *, count_from_ms: int
) -> dict[str, int]:
    """Return what a result says of it: its columns.

    `records` and `changes` are those of the run in order, their times microseconds; `changes` of a
    group that has tokens, else none. Cost: O(bytes).

    >>> from assignors.simulation.timed.protocols.kafka.records import OffsetRecord
    >>> commits = [(0, OffsetRecord("t", 0, 5)), (1000, OffsetRecord("t", 0, 6))]
    >>> state_figures(commits, [], count_from_ms=0)
    {'state_bytes': 53, 'state_bytes_max': 53, 'offsets_bytes': 53, 'written_bytes': 106}
    """
    kept: dict[bytes, int] = {}
    written = 0

    def of_records() -> Sizes:
        nonlocal written
        total = 0
        for batch in log_entries(records, group=""):
            for entry in batch:
                assert entry.key is not None, "a broker writes a key always"
                size = len(entry.key) + len(entry.value or b"")
                written += size
                total -= kept.pop(entry.key, 0)
                if entry.value is not None:
                    kept[entry.key] = size
                    total += size
            yield batch[0].timestamp_ms, total

    of_log, tokens = list(of_records()), list(_tokens(changes))
    offsets = sum(size for key, size in kept.items() if key[:2] in OFFSET_KEYS)
    return {
        "state_bytes": _last(of_log) + _last(tokens),
        "state_bytes_max": _most(of_log, count_from_ms) + _most(tokens, count_from_ms),
        "offsets_bytes": offsets,
        "written_bytes": written,
    }


def _tokens(changes: Iterable[Change]) -> Sizes:
    """Yield the size of all tokens after each change of what members may read."""
    counts: dict[str, int] = {}
    total = 0
    for change in changes:
        count = sum(map(len, change.owned.values()))
        total += count - counts.get(change.member_id, 0)
        counts[change.member_id] = count
        yield change.at // MILLISECOND, total * TOKEN_BYTES


def _last(sizes: list[tuple[int, int]]) -> int:
    return sizes[-1][1] if sizes else 0


def _most(sizes: list[tuple[int, int]], count_from_ms: int) -> int:
    """Return the most that is kept at a time since costs are counted, and just before."""
    before = _last([size for size in sizes if size[0] < count_from_ms])
    return max([before, *(size for at_ms, size in sizes if at_ms >= count_from_ms)])
