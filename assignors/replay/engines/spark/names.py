"""Names that need all groups: those of topics, and the numbers that stand for hidden names.

A group that never commits has ids of topics on record, and no names: other groups have them. And
what a hidden name is called depends on all groups, as the third host is the third that occurs
anywhere. Both are counted by the functions of plain Python; Spark brings the names together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from assignors.replay.analysis.redact import Hidden, Numbered, names_of, numbers_of
from assignors.replay.decode.key_columns import key_columns
from assignors.replay.decode.logged_records import logged_records
from assignors.replay.engines.spark.groups import histories_of
from assignors.replay.engines.spark.selection import (
    COMMIT_TYPES,
    decoded_batch,
    has_topic_id,
    has_type,
    raw_columns,
)
from assignors.replay.history.timeline import TOPIC_LISTS, by_majority, recorded_names
from assignors.replay.sources.arrow import rows
from assignors.spark import spark_schema
from wire.records import RECORD_TYPES
from wire.text import utf16_key

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LISTING_TYPES = tuple(known.number for known in RECORD_TYPES if known.name in TOPIC_LISTS)
"""Types of the records that list topics."""

TOPICS = pa.schema([("topic_id", pa.string()), ("topic", pa.string()), ("count", pa.int64())])
"""How often a batch of records gives an id this name."""

FOUND = pa.schema(
    [
        ("group", pa.string()),
        ("what", pa.string()),
        ("name", pa.binary()),
        ("sort_key", pa.binary()),
        ("place", pa.int64()),
    ]
)
"""A name in a group, and where it occurs first: by the group's sort key, then there.

Names are bytes, as not all that Java calls a string is text to Arrow.
"""

NUMBERED = pa.schema(
    [("group", pa.string()), ("what", pa.string()), ("name", pa.binary()), ("number", pa.int64())]
)
"""A name in a group, and its number among all names of its kind."""


def topic_names(frame: DataFrame) -> dict[str, str]:
    """Return topic id -> name, from the records of all groups; `tables` takes it.

    One pass over `frame`, which decodes the commits that have ids; collects a row a topic.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    is_naming = has_type(COMMIT_TYPES) & has_topic_id() | has_type(LISTING_TYPES)
    topics = raw_columns(frame).where(is_naming).mapInArrow(_topics, spark_schema(TOPICS))
    found = topics.groupBy("topic_id", "topic").agg(f.sum("count").alias("count")).collect()
    return by_majority({(row["topic_id"], row["topic"]): row["count"] for row in found})


def numbered_names(records: DataFrame) -> DataFrame:
    """Return `NUMBERED`: every name of every group, with the number that stands for it.

    `records` are raw ones with the column `group`, commits aside. One shuffle of them and one
    of the names. A worker holds all names of one kind.
    """
    found = records.groupBy("group").applyInArrow(names_found, spark_schema(FOUND))
    return found.groupBy("what").applyInArrow(numbers_of_kind, spark_schema(NUMBERED))


def label_of(numbers: pa.Table) -> Numbered:
    """Return the labels for the names of one group, from its rows of `NUMBERED`."""
    return Numbered(dict(zip(_names(numbers), numbers["number"].to_pylist(), strict=True)))


def _topics(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield `TOPICS` of each batch.

    Commits, of which there are so many, are decoded in columns: 2.1 us a record. By
    `recorded_names`, whose rule for commits stands here a second time for that, it would be 6.9.
    """
    pair = ["topic_id", "topic"]
    for batch in batches:
        types = pc.struct_field(key_columns(batch.column("key")), "type")
        is_commit = pc.is_in(types, value_set=pa.array(COMMIT_TYPES, pa.int32()))
        commits = decoded_batch(batch.filter(is_commit))["commit"].combine_chunks()
        pairs = pa.table([commits.field(name) for name in pair], pair).drop_null()
        listed = logged_records(rows([batch.filter(pc.invert(is_commit))]))
        counts = Counter(recorded_names(listed))
        for row in pairs.group_by(pair).aggregate([([], "count_all")]).to_pylist():
            counts[row["topic_id"], row["topic"]] += row["count_all"]
        columns = {
            "topic_id": [topic_id for topic_id, _ in counts],
            "topic": [topic for _, topic in counts],
            "count": list(counts.values()),
        }
        yield pa.RecordBatch.from_pydict(columns, TOPICS)


def names_found(records: pa.Table) -> pa.Table:
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


def numbers_of_kind(found: pa.Table) -> pa.Table:
    """Return `NUMBERED` of the names of one kind, counted in the order of plain Python."""
    ordered = found.sort_by([("sort_key", "ascending"), ("place", "ascending")])
    names = _names(ordered)
    numbers = numbers_of(names)
    number = pa.array([numbers[name] for name in names], pa.int64())
    return ordered.select(["group", "what", "name"]).append_column("number", number)


def _names(table: pa.Table) -> list[tuple[Hidden, str]]:
    columns = [table[name].to_pylist() for name in ("what", "name")]
    return [
        (Hidden(what), name.decode("utf-8", "surrogatepass"))
        for what, name in zip(*columns, strict=True)
    ]
