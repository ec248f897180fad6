"""Which records of the topic tell what.

Nearly all records are commits, and a history needs one of each key: it names a topic, and shows
how many partitions there are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assignors.replay.decode.batches import DECODED, decode_batches
from assignors.replay.decode.logged_records import logged_records
from assignors.replay.decode.offset_columns import COMMIT_TYPE, LEGACY_TYPE
from assignors.replay.engines.spark_decoding import with_group
from assignors.replay.history.timeline import TOPIC_LISTS, by_majority, recorded_names
from assignors.replay.sources import POSITION, RAW, rows
from assignors.spark import spark_schema
from wire.records import RECORD_TYPES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

COMMIT_TYPES = (LEGACY_TYPE, COMMIT_TYPE)
TOPIC_TYPES = tuple(known.number for known in RECORD_TYPES if known.name in TOPIC_LISTS)

IS_DAMAGED = "is_damaged"

NAMES = pa.schema([("topic_id", pa.string()), ("topic", pa.string()), ("count", pa.int64())])
GROUPS = pa.schema([("named", pa.string())])


def history_records(frame: DataFrame) -> DataFrame:
    """Return what histories are made of: all but commits, and of those the first of a kind.

    And all commits that cannot be read, each of which is a finding. Two passes over `frame`,
    of which one decodes the commits; a shuffle of one commit a key, topic id and batch.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`
    from pyspark.sql.types import BooleanType, StructField, StructType  # noqa: PLC0415 - as above

    raw = with_group(_raw(frame))
    place = _place(raw.columns)
    commits = raw.where(_is_of(COMMIT_TYPES))
    marked = StructType([*commits.schema.fields, StructField(IS_DAMAGED, BooleanType())])
    kept = commits.mapInArrow(_kept, marked)
    alone = f.when(f.col(IS_DAMAGED), f.xxhash64("value", *place)).alias("alone")
    first = f.min_by(f.struct(*raw.columns), f.struct(*place)).alias("first")
    chosen = kept.groupBy("key", _ending(), alone).agg(first).select("first.*")
    return raw.where(~_is_of(COMMIT_TYPES)).unionByName(chosen)


def commit_records(frame: DataFrame) -> DataFrame:
    """Return the commits, tombstones too."""
    return with_group(_raw(frame)).where(_is_of(COMMIT_TYPES))


def topic_names(frame: DataFrame) -> dict[str, str]:
    """Return topic id -> name, as the records of all groups tell; for `tables` to know them.

    A group that has not committed has ids of topics on record, and no names. One pass over
    `frame`, which decodes the commits that have ids; collects a row a topic.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    raw = with_group(_raw(frame))
    is_telling = _is_of(COMMIT_TYPES) & _has_id() | _is_of(TOPIC_TYPES)
    names = raw.where(is_telling).mapInArrow(_names, spark_schema(NAMES))
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


def _kept(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the first commit of each key and topic id in a batch, and all that cannot be read."""
    for batch in batches:
        read = _decoded(batch)
        places = [batch.column(name).fill_null(-1) for name in _place(batch.schema.names)]
        order = np.lexsort([place.to_numpy() for place in reversed(places)])
        rank = np.empty(batch.num_rows, np.int64)
        rank[order] = np.arange(batch.num_rows)
        is_damaged = pc.is_valid(read["error"])
        known = pa.table(
            {
                "key": batch.column("key"),
                "topic_id": pc.struct_field(read["commit"], "topic_id"),
                "rank": rank,
            }
        ).filter(pc.invert(is_damaged))
        firsts = known.group_by(["key", "topic_id"]).aggregate([("rank", "min")])["rank_min"]
        damaged = np.flatnonzero(is_damaged.to_numpy())
        chosen = np.concatenate([order[firsts.to_numpy()], damaged])
        marks = np.arange(len(chosen)) >= len(firsts)
        columns = [*batch.take(pa.array(chosen)).columns, pa.array(marks)]
        yield pa.RecordBatch.from_arrays(columns, [*batch.schema.names, IS_DAMAGED])


def _names(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield which topics records tell of, and how many of a batch do."""
    pair = ["topic_id", "topic"]
    for batch in batches:
        is_commit = pc.is_in(batch.column("type"), value_set=pa.array(COMMIT_TYPES, pa.int32()))
        commits = _decoded(batch.filter(is_commit))["commit"].combine_chunks()
        pairs = pa.table([commits.field(name) for name in pair], pair).drop_null()
        told = Counter(recorded_names(logged_records(rows([batch.filter(pc.invert(is_commit))]))))
        for row in pairs.group_by(pair).aggregate([([], "count_all")]).to_pylist():
            told[row["topic_id"], row["topic"]] += row["count_all"]
        columns = {
            "topic_id": [topic_id for topic_id, _ in told],
            "topic": [topic for _, topic in told],
            "count": list(told.values()),
        }
        yield pa.RecordBatch.from_pydict(columns, NAMES)


def _decoded(batch: pa.RecordBatch) -> pa.Table:
    raw = batch.select([name for name in RAW.names if name in batch.schema.names])
    return pa.Table.from_batches(decode_batches([raw]), DECODED)


def _ending() -> Column:
    """Return the topic id that ends a value of version 4; what else ends one costs a row more."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - as above

    return f.when(_has_id(), f.substring("value", -16, 16)).alias("ending")


def _has_id() -> Column:
    from pyspark.sql import functions as f  # noqa: PLC0415 - as above

    return f.substring("value", 1, 2) == f.lit(b"\x00\x04")


def _place(names: Sequence[str]) -> list[str]:
    """Return the columns that tell where a record stands, of those there are."""
    return [name for name in ("partition", "offset", POSITION.name) if name in names]


def _is_of(types: tuple[int, ...]) -> Column:
    from pyspark.sql import functions as f  # noqa: PLC0415 - as above

    return f.coalesce(f.col("type").isin(*types), f.lit(col=False))


def _raw(frame: DataFrame) -> DataFrame:
    """Return the columns of a source that are there, and no others."""
    known = (*RAW.names, POSITION.name)
    return frame.select(*(name for name in known if name in frame.columns))
