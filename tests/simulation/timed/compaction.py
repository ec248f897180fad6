"""What a log cleaner may make of a log: an oracle that knows keys and batches, and no groups."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from assignors.simulation.timed.offsets_topic import key_and_value
from assignors.simulation.timed.protocols.effects import Record

Batch = Sequence[Record]


def compacted(
    batches: Sequence[Batch], *, clean_until: int, drop_tombstones_until: int
) -> list[Record]:
    """The log after cleaning: of the first batches only the last record of each key is left.

    Both are numbers of batches. Tombstones of those up to `drop_tombstones_until` are gone too.
    """
    last: dict[bytes, int] = {}
    numbered = [(n, record) for n, batch in enumerate(batches) for record in batch]
    written = [(n, record, *key_and_value(record, "g")) for n, record in numbered]
    for place, (batch, _, key, _) in enumerate(written):
        if batch < clean_until:
            last[key] = place
    kept: list[Record] = []
    for place, (batch, record, key, value) in enumerate(written):
        is_superseded = batch < clean_until and last[key] != place
        is_dropped = batch < min(drop_tombstones_until, clean_until) and value is None
        if not is_superseded and not is_dropped:
            kept.append(record)
    return kept


def batches_of(records: Sequence[tuple[int, int, Record]]) -> list[list[Record]]:
    """Records by the append that wrote them."""
    found: dict[Any, list[Record]] = {}
    for at, token, record in records:
        found.setdefault((at, token), []).append(record)
    return list(found.values())


def some_cleanings(random: Random, count: int, batches: int) -> list[tuple[int, int]]:
    """Lawful cleanings: up to which batch, and up to which tombstones are gone."""
    found = []
    for _ in range(count):
        until = random.randint(0, batches)
        found.append((until, random.choice((0, until, random.randint(0, until)))))
    return found
