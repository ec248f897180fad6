"""One group on a worker of Spark: its history, and numbers for the names that are hidden in it.

Spark brings the records of a group in any order, so they are sorted here, by where they stand
in the topic. What a name's label is depends on all groups: the third host is the third that
anybody has. So where names are hidden the histories are built twice: once for the names they
have, which are numbered in the order of `redact.numbered`, and once to be told, each group with
the numbers of its own names. Only names are shuffled for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from assignors.replay.analysis.redact import Hidden, Numbered, names_of
from assignors.replay.decode.logged_records import logged_records
from assignors.replay.history.model import GroupHistory
from assignors.replay.history.timeline import timeline
from assignors.replay.sources import POSITION, Raw, rows
from assignors.spark import spark_schema
from wire.text import utf16_key

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NOWHERE = -1

FOUND = pa.schema(
    [
        ("group", pa.string()),
        ("what", pa.string()),
        ("name", pa.binary()),
        ("sort_key", pa.binary()),
        ("place", pa.int64()),
    ]
)
"""A name in a group, and where it stands first: by the group's sort key, then there.

Names are bytes, as not all that Java calls a string is text to Arrow.
"""


def histories_of(
    records: pa.Table, topic_names: Mapping[str, str] | None = None
) -> Iterator[GroupHistory]:
    """Yield the histories in the raw records of one group: its own, and what names no group."""
    placed = zip(_positions(records), rows(records.to_batches()), strict=True)
    found = [raw for _, raw in sorted(placed, key=_place)]
    return timeline(logged_records(found), topic_names=topic_names)


def numbered_names(records: DataFrame) -> DataFrame:
    """Return `group`, `what`, `name` and `number`, of every name that stands in a group.

    `records` are raw ones with the column `group`, commits aside. One shuffle of them, and
    three of the names.
    """
    from pyspark.sql import Window  # noqa: PLC0415 - the extra `spark`
    from pyspark.sql import functions as f  # noqa: PLC0415 - as above

    found = records.groupBy("group").applyInArrow(_names_found, spark_schema(FOUND))
    first = found.groupBy("what", "name").agg(f.min(f.struct("sort_key", "place")).alias("first"))
    order = Window.partitionBy("what").orderBy("first")
    numbers = first.select("what", "name", f.row_number().over(order).alias("number"))
    return found.join(numbers, ["what", "name"]).select("group", "what", "name", "number")


def label_of(numbers: pa.Table) -> Numbered:
    """Return the labels for the names of one group, from its rows of `numbered_names`."""
    columns = [numbers.column(name).to_pylist() for name in ("what", "name", "number")]
    return Numbered(
        {
            (Hidden(what), name.decode("utf-8", "surrogatepass")): number
            for what, name, number in zip(*columns, strict=True)
        }
    )


def _names_found(records: pa.Table) -> pa.Table:
    """Return `FOUND` of one group."""
    group = records.column("group")[0].as_py()
    found: dict[tuple[Hidden, str], dict[str, object]] = {}
    for history in histories_of(records):
        sort_key = utf16_key(history.group)
        for what, name in names_of(history):
            if name and (what, name) not in found:
                found[what, name] = {
                    "group": group,
                    "what": what.value,
                    "name": name.encode("utf-8", "surrogatepass"),
                    "sort_key": sort_key,
                    "place": len(found),
                }
    return pa.Table.from_pylist(list(found.values()), schema=FOUND)


def _positions(records: pa.Table) -> list[int]:
    if POSITION.name not in records.column_names:
        return [0] * records.num_rows
    positions: list[int] = records.column(POSITION.name).to_pylist()
    return positions


def _place(placed: tuple[int, Raw]) -> tuple[int, int, int]:
    """Return where a record stands in the topic, or else in its source."""
    position, raw = placed
    return (
        NOWHERE if raw.partition is None else raw.partition,
        NOWHERE if raw.offset is None else raw.offset,
        position,
    )
