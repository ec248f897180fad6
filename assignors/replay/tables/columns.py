"""The columns of the tables: why some are null, how others are estimated, and rows as JSON.

The row classes of `rows` are the schema; Arrow's and Spark's are derived from them (`arrow`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from assignors.replay.tables.rows import Row

NOT_RECORDED: Mapping[tuple[str, str], str] = {
    ("offsets", "is_aborted"): (
        "keys and values do not tell whether a transaction was aborted: read as read_committed"
    ),
    ("groups", "double_owned_ms"): "all that is held twice is so to the end of the records",
    (
        "groups",
        "unassigned_partition_ms",
    ): "all that nobody has stays so to the end",
    ("members", "rack_id"): "only Subscriptions of version 3 and KIP-848 members name a rack",
}
"""(table, column) -> why it is `None`, always or where nothing stands."""

ESTIMATED: Mapping[tuple[str, str], str] = {
    ("offsets", "holder_id"): (
        "the only member that held the partition when the commit was written; members that "
        "assign themselves, and commits of tools, look the same"
    ),
    ("generations", "pause_ms"): (
        "from currentStateTimestamp, when the coordinator had heard from every member, to the "
        "record's own time: the sync of the round alone, as the join before it leaves no trace"
    ),
    ("generations", "downtime_partition_ms"): (
        "pause_ms for each partition that the round stops: every one under an eager assignor; "
        "under a cooperative one those that come to another member, or wait for one to let go. "
        "What they wait until the next round is on record: groups.unassigned_partition_ms"
    ),
    ("groups", "downtime_partition_ms"): "the sum over its generations",
    ("outcomes", "downtime_partition_ms"): (
        "as in generations, each round taking the pause of the generation it replaces"
    ),
    ("outcomes", "actual_downtime_partition_ms"): "as in generations",
}
"""(table, column) -> after which model it is estimated."""


def as_dict(row: Row) -> dict[str, Any]:
    """Return a row in JSON's terms: partitions as [topic, numbers] pairs.

    >>> from assignors.replay.tables.rows import AnomalyRow
    >>> row = AnomalyRow(group="g", life=1, kind="starved", generation=2, at_ms=5, until_ms=None,
    ...     member_id="a", client_id="c", topic=None, partition=None, count=1, evidence="so")
    >>> as_dict(row)["evidence"]
    'so'
    """
    return {column.name: _plain(getattr(row, column.name)) for column in fields(row)}


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return [[topic, list(numbers)] for topic, numbers in value.items()]
    return value
