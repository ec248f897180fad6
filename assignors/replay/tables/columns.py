"""Columns of the tables that are null or estimated, with the reasons; and rows as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from assignors.replay.tables.rows import Row, table_of

NOT_RECORDED: Mapping[tuple[str, str], str] = {
    ("offsets", "is_aborted"): ("the source does not say; read as read_committed"),
    ("groups", "double_owned_ms"): (
        "all of it lasts at the end of the records; or partitions were given too early, and no "
        "record says when the previous owner revoked them"
    ),
    ("groups", "unassigned_partition_ms"): ("all of it lasts at the end of the records"),
    ("generations", "lag"): "needs --log-ends",
    ("outcomes", "lag"): "as in generations",
    ("members", "rack_id"): "only Subscriptions of version 3 and KIP-848 members name a rack",
}
"""(table, column) -> why it is `None`."""

ESTIMATED: Mapping[tuple[str, str], str] = {
    ("offsets", "holder_id"): (
        "the only member that owned the partition when the commit was written, so perhaps its "
        "writer; commits of tools look the same"
    ),
    ("generations", "pause_ms"): (
        "from currentStateTimestamp, when every member had joined, to the time of the record: the "
        "sync of the round alone, as the time of the join is not recorded"
    ),
    ("generations", "downtime_partition_ms"): (
        "pause_ms for each partition that the round stops: all under an eager assignor, those "
        "that move or are withheld under a cooperative one"
    ),
    ("groups", "downtime_partition_ms"): (
        "the sum over generations with members; null where most have no pause_ms"
    ),
    ("outcomes", "downtime_partition_ms"): (
        "as in generations; each round takes the pause of the generation it replaces"
    ),
    ("outcomes", "actual_downtime_partition_ms"): "as in generations",
    ("generations", "use_max"): (
        "records a second of the busiest member, by the group's commits in the two minutes before "
        "the generation ended; with --log-ends by the records that were written"
    ),
    ("generations", "use_bound"): ("by the same rates, the smallest use_max of any assignment"),
    ("outcomes", "use_max"): (
        "as in generations, by rates that the assignor did not know; in sums the mean"
    ),
    ("outcomes", "use_bound"): "as in generations",
    ("outcomes", "actual_use_max"): "as in generations",
}
"""(table, column) -> the model of the estimate."""


def as_dict(row: Row) -> dict[str, Any]:
    """Return a row as values for JSON: partitions as [topic, numbers] pairs.

    >>> from assignors.replay.tables.rows import FindingRow
    >>> row = FindingRow(group="g", life=1, kind="imbalance", generation=2, at_ms=5, until_ms=None,
    ...     member_id="a", client_id="c", topic=None, partition=None, count=1, evidence="so")
    >>> as_dict(row)["evidence"]
    'so'
    """
    return {column.name: _plain(getattr(row, column.name)) for column in fields(table_of(row))}


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return [[topic, list(numbers)] for topic, numbers in value.items()]
    return value
