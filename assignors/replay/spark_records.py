"""Which records of the topic tell what, chosen by Spark itself: nothing here is decoded twice.

Nearly all records are commits, and a history needs one of each key at most: it names a topic,
and shows how many partitions there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from assignors.replay.entries import entries
from assignors.replay.sources import POSITION, RAW, rows
from assignors.replay.spark import GROUP_BYTES, number, spark_schema, with_group
from assignors.replay.timeline import by_majority, told_names
from wire.records import RECORD_TYPES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

COMMIT_TYPES = (0, 1)
LONGEST = 2**15 - 1
"""Bytes of a string."""

TOPIC_TYPES = (4, 15)
"""Types of records that list topics with id and name: of share groups, once of KIP-848 groups."""

NAMES = pa.schema([("topic_id", pa.string()), ("topic", pa.string()), ("count", pa.int64())])
GROUPS = pa.schema([("named", pa.string())])


def history_records(frame: DataFrame) -> DataFrame:
    """Return what histories are made of: all but commits, and of those the first of a kind.

    And commits that do not look like one: they are what cannot be read, or odd at least.
    """
    raw = with_group(_raw(frame))
    is_plain = _is_of(COMMIT_TYPES) & _is_plain()
    return raw.where(~is_plain).unionByName(_first(raw.where(is_plain)))


def commit_records(frame: DataFrame) -> DataFrame:
    """Return the commits, tombstones too."""
    return with_group(_raw(frame)).where(_is_of(COMMIT_TYPES))


def topic_names(frame: DataFrame) -> dict[str, str]:
    """Return topic id -> name, as the records of all groups tell; for `tables` to know them.

    A group that has not committed has ids of topics on record, and no names. One pass over
    `frame`, and a shuffle of one commit a topic and task; collects a row a topic.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    raw = with_group(_raw(frame))
    commits = raw.where(_is_of(COMMIT_TYPES) & _has_id() & _is_plain())
    # What is between the group's name and the partition.
    topic = f.expr(f"substring(key, 5 + {GROUP_BYTES}, length(key) - {GROUP_BYTES} - 8)")
    one = f.any_value(f.struct(*raw.columns)).alias("one")
    told = commits.groupBy(topic, _ending()).agg(one, f.count("*").alias("count"))
    listed = raw.where(_is_of(TOPIC_TYPES) & f.col("value").isNotNull())
    telling = told.select("one.*", "count").unionByName(listed.withColumn("count", f.lit(1)))
    names = telling.drop("type", "group").mapInArrow(_names, spark_schema(NAMES))
    found = names.groupBy("topic_id", "topic").agg(f.sum("count").alias("count")).collect()
    return by_majority({(row["topic_id"], row["topic"]): row["count"] for row in found})


def records_of(frame: DataFrame, wanted: re.Pattern[str]) -> DataFrame | None:
    """Return the records of groups in whose names the expression is found, `None` if of none.

    Python's `re` decides, as it does without Spark: of each name once. What is no group's
    record is that of a group without a name. A pass over `frame`, and a shuffle of the names.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    def search(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            names = [name for name in batch.column(0).to_pylist() if wanted.search(name)]
            yield pa.RecordBatch.from_pydict({"named": names}, schema=GROUPS)

    named = with_named(frame)
    found = named.select("named").distinct().mapInArrow(search, spark_schema(GROUPS)).persist()
    if found.isEmpty():
        return None
    return named.join(f.broadcast(found), "named", "left_semi").select(*frame.columns)


def with_named(frame: DataFrame) -> DataFrame:
    """Return raw records with the column `named`: their group, empty where they are of none."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    is_known = f.col("type").isin([known.number for known in RECORD_TYPES])
    named = f.when(is_known & f.col("group").isNotNull(), f.col("group")).otherwise("")
    return with_group(frame).withColumn("named", named)


def _names(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        counts = batch.column("count").to_pylist()
        told = [
            (*pair, count)
            for entry, count in zip(entries(rows([batch])), counts, strict=True)
            for pair in told_names([entry])
        ]
        columns = dict(zip(NAMES.names, zip(*told, strict=True), strict=True)) if told else {}
        yield pa.RecordBatch.from_pydict(columns or {name: [] for name in NAMES.names}, NAMES)


def _first(commits: DataFrame) -> DataFrame:
    """Return the first commit of each key and topic id."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    place = [name for name in ("partition", "offset", POSITION.name) if name in commits.columns]
    first = f.min_by(f.struct(*commits.columns), f.struct(*place)).alias("first")
    return commits.groupBy("key", _ending()).agg(first).select("first.*")


def _is_plain() -> Column:
    """Return whether a commit is as long as the lengths in it say: then it can be read.

    That is all of what Kafka 4.4 writes, but for metadata of 16 kB and more.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - as above

    topic = number("key", f"5 + {GROUP_BYTES}")
    key = f"{GROUP_BYTES} <= {LONGEST} AND {topic} <= {LONGEST}"
    key += f" AND length(key) = 10 + {GROUP_BYTES} + {topic}"
    early, late = number("value", 11), number("value", 15)
    # Version 4 has a number of one or two bytes there: one more than the metadata's bytes.
    first, second = number("value", 15, 1), number("value", 16, 1)
    size = f"CASE WHEN {first} < 128 THEN {first} ELSE {first} - 127 + 128 * {second} END"
    is_short = f"({first} < 128 AND {first} > 0 OR {first} >= 128 AND {second} < 128)"
    rest = f"length(value) - 22 - ({size})"
    value = f"""
        CASE {number("value", 1)}
        WHEN 0 THEN {early} <= {LONGEST} AND length(value) = 20 + {early}
        WHEN 1 THEN type = 1 AND {early} <= {LONGEST} AND length(value) = 28 + {early}
        WHEN 2 THEN type = 1 AND {early} <= {LONGEST} AND length(value) = 20 + {early}
        WHEN 3 THEN type = 1 AND {late} <= {LONGEST} AND length(value) = 24 + {late}
        WHEN 4 THEN type = 1 AND {is_short} AND (
            {rest} = 1 AND substring(value, -1, 1) = X'00'
            OR {rest} = 19 AND substring(value, -19, 3) = X'010010')
        END"""
    return f.expr(f"coalesce({key} AND (value IS NULL OR {value}), false)")


def _ending() -> Column:
    """Return the topic id that ends a value of version 4; what else ends one costs a row more."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - as above

    return f.when(_has_id(), f.substring("value", -16, 16)).alias("ending")


def _has_id() -> Column:
    from pyspark.sql import functions as f  # noqa: PLC0415 - as above

    return f.substring("value", 1, 2) == f.lit(b"\x00\x04")


def _is_of(types: tuple[int, ...]) -> Column:
    from pyspark.sql import functions as f  # noqa: PLC0415 - as above

    return f.coalesce(f.col("type").isin(*types), f.lit(col=False))


def _raw(frame: DataFrame) -> DataFrame:
    """Return the columns of a source that are there, and no others."""
    known = (*RAW.names, POSITION.name)
    return frame.select(*(name for name in known if name in frame.columns))
