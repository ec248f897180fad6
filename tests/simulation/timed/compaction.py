"""What a log cleaner may make of a log: an oracle that knows keys and batches, and no groups."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

from assignors.simulation.timed.offsets_topic import key_and_value
from assignors.simulation.timed.protocols.effects import Record
from assignors.simulation.timed.protocols.kafka.messages import EndTransaction
from assignors.simulation.timed.protocols.kafka.records import is_transactional

Batch = Sequence[Record]
R = TypeVar("R", bound=Record | EndTransaction)


def compacted(
    batches: Sequence[Sequence[R]], *, clean_until: int, drop_tombstones_until: int
) -> list[R]:
    """The log after cleaning (`kept`)."""
    records = [record for batch in batches for record in batch]
    places = kept(batches, clean_until=clean_until, drop_tombstones_until=drop_tombstones_until)
    return [records[place] for place in places]


def kept(
    batches: Sequence[Sequence[Record | EndTransaction]],
    *,
    clean_until: int,
    drop_tombstones_until: int,
) -> list[int]:
    """The places of what is left: of the first batches only the last record of each key.

    Both are numbers of batches. Tombstones of those up to `drop_tombstones_until` are gone too.
    What belongs to transactions stays.
    """
    last: dict[bytes, int] = {}
    numbered = [(n, record) for n, batch in enumerate(batches) for record in batch]
    written = [(n, *_key_and_value(record)) for n, record in numbered]
    for place, (batch, key, _) in enumerate(written):
        if batch < clean_until and key is not None:
            last[key] = place
    places: list[int] = []
    for place, (batch, key, value) in enumerate(written):
        is_superseded = batch < clean_until and key is not None and last[key] != place
        is_tombstone = key is not None and value is None
        is_dropped = batch < min(drop_tombstones_until, clean_until) and is_tombstone
        if not is_superseded and not is_dropped:
            places.append(place)
    return places


def _key_and_value(record: Record | EndTransaction) -> tuple[bytes | None, bytes | None]:
    if isinstance(record, EndTransaction) or is_transactional(record):
        return None, None
    return key_and_value(record, "g")


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
