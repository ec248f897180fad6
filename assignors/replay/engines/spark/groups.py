"""The records of one group on a worker of Spark: put into order, and made a history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from assignors.replay.decode.logged_records import logged_records
from assignors.replay.history.model import GroupHistory
from assignors.replay.history.timeline import timeline
from assignors.replay.sources import Raw
from assignors.replay.sources.arrow import POSITION, rows

NOWHERE = -1
"""The partition or offset of a record that has none: it comes before all others."""


def histories_of(
    records: pa.Table, topic_names: Mapping[str, str] | None = None
) -> Iterator[GroupHistory]:
    """Yield the histories in the raw records of one group: its own, and what names no group.

    Spark brings records in any order, so they are sorted by their position in the topic.
    """
    placed = zip(_positions(records), rows(records.to_batches()), strict=True)
    found = [raw for _, raw in sorted(placed, key=_place)]
    return timeline(logged_records(found), topic_names=topic_names)


def _positions(records: pa.Table) -> list[int]:
    if POSITION.name not in records.column_names:
        return [0] * records.num_rows
    positions: list[int] = records.column(POSITION.name).to_pylist()
    return positions


def _place(placed: tuple[int, Raw]) -> tuple[int, int, int]:
    """Return the position of a record in the topic, or else in its source."""
    position, raw = placed
    return (
        NOWHERE if raw.partition is None else raw.partition,
        NOWHERE if raw.offset is None else raw.offset,
        position,
    )
