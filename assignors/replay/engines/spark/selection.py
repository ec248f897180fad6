"""Which records of the topic a history needs, and which are those of the groups asked for.

Nearly all records are commits, and a history needs one of each key: it names a topic, and shows
how many partitions there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assignors.replay.decode.batches import DECODED, decode_batches
from assignors.replay.decode.commit_columns import COMMIT_TYPE, LEGACY_TYPE
from assignors.replay.engines.spark.decoding import with_group
from assignors.replay.history.timeline import NO_GROUP
from assignors.replay.sources import POSITION, RAW
from assignors.spark import spark_schema
from wire.records import RECORD_TYPES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

COMMIT_TYPES = (LEGACY_TYPE, COMMIT_TYPE)

IS_DAMAGED = "is_damaged"
"""A column of commits, true where one cannot be read."""

GROUP_NAME = "group_name"
"""A column of records: their group, empty where they are of none."""


def history_records(frame: DataFrame) -> DataFrame:
    """Return the records that histories are made of, and the column `group`.

    They are all that are no commits, the first commit of each key and topic id, and each commit
    that cannot be read, which is a finding. Two passes over `frame`, of which one decodes the
    commits; a shuffle of one commit a key, topic id and batch.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`
    from pyspark.sql.types import BooleanType, StructField, StructType  # noqa: PLC0415 - as above

    raw = raw_columns(frame)
    place = _place(raw.columns)
    commits = raw.where(has_type(COMMIT_TYPES))
    marked = StructType([*commits.schema.fields, StructField(IS_DAMAGED, BooleanType())])
    kept = commits.mapInArrow(_kept, marked)
    alone = f.when(f.col(IS_DAMAGED), f.xxhash64("value", *place)).alias("alone")
    first = f.min_by(f.struct(*raw.columns), f.struct(*place)).alias("first")
    chosen = kept.groupBy("key", _ending(), alone).agg(first).select("first.*")
    return with_group(raw.where(~has_type(COMMIT_TYPES)).unionByName(chosen))


def commit_records(frame: DataFrame) -> DataFrame:
    """Return the commits, tombstones too."""
    return raw_columns(frame).where(has_type(COMMIT_TYPES))


def records_of_groups(frame: DataFrame, wanted: re.Pattern[str]) -> DataFrame | None:
    """Return the records of groups whose names match the expression anywhere, `None` if none do.

    Python's `re` decides, as it does without Spark: of each name once. What is no group's
    record is that of a group without a name. A pass over `frame`, and a shuffle of the names.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    schema = pa.schema([(GROUP_NAME, pa.string())])

    def search(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            names = [name for name in batch.column(0).to_pylist() if wanted.search(name)]
            yield pa.RecordBatch.from_pydict({GROUP_NAME: names}, schema=schema)

    named = _with_group_name(frame)
    names = named.select(GROUP_NAME).distinct()
    matching = names.mapInArrow(search, spark_schema(schema)).persist()
    if matching.isEmpty():
        return None
    return named.join(f.broadcast(matching), GROUP_NAME, "left_semi").select(*frame.columns)


def group_names(frame: DataFrame) -> DataFrame:
    """Return the name of each group once, as `GROUP_NAME`. A shuffle of the names."""
    from pyspark.sql.functions import col  # noqa: PLC0415 - the extra `spark`

    names = _with_group_name(frame).select(GROUP_NAME).distinct()
    return names.where(col(GROUP_NAME) != NO_GROUP)


def raw_columns(frame: DataFrame) -> DataFrame:
    """Return the columns of a source that are there, and no others."""
    known = (*RAW.names, POSITION.name)
    return frame.select(*(name for name in known if name in frame.columns))


def has_type(types: Iterable[int]) -> Column:
    """Return whether a record's key begins with one of these types; never null."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    starts = [f.lit(number.to_bytes(2, "big")) for number in types]
    return f.coalesce(f.substring("key", 1, 2).isin(*starts), f.lit(col=False))


def has_topic_id() -> Column:
    """Return whether a commit's value has the version in which it may end with a topic id."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    return f.substring("value", 1, 2) == f.lit(b"\x00\x04")


def decoded_batch(batch: pa.RecordBatch) -> pa.Table:
    """Return a batch of raw records, whatever other columns it has, as `DECODED`."""
    raw = batch.select([name for name in RAW.names if name in batch.schema.names])
    return pa.Table.from_batches(decode_batches([raw]), DECODED)


def _with_group_name(frame: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    is_known = f.col("type").isin([known.number for known in RECORD_TYPES])
    name = f.when(is_known & f.col("group").isNotNull(), f.col("group")).otherwise(NO_GROUP)
    return with_group(frame).withColumn(GROUP_NAME, name)


def _kept(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the first commit of each key and topic id in a batch, and all that cannot be read."""
    for batch in batches:
        read = decoded_batch(batch)
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


def _ending() -> Column:
    """Return the topic id that ends a value of version 4; what else ends one costs a row more."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    return f.when(has_topic_id(), f.substring("value", -16, 16)).alias("ending")


def _place(names: Sequence[str]) -> list[str]:
    """Return the columns that give a record's position in the topic, of those there are."""
    return [name for name in ("partition", "offset", POSITION.name) if name in names]
