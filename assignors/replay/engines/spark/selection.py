"""Which records of the topic a history needs, and which are those of the groups asked for.

Nearly all records are commits. A history needs one of each key: it names a topic, and shows
how many partitions there are. Findings need the commits around each that is lower than the one
before it, and around each tombstone. For rates it needs a few more, from the time before each
record that is no commit, and from the end of the history: the last one in each slot of
`analysis.rates`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assignors.replay.analysis.rates import SLOT_MS, WINDOW_MS
from assignors.replay.decode.batches import DECODED, decode_batches
from assignors.replay.decode.commit_columns import COMMIT_TYPE, LEGACY_TYPE
from assignors.replay.engines.spark.decoding import with_group
from assignors.replay.history.timeline import NO_GROUP
from assignors.replay.sources.arrow import POSITION, RAW
from assignors.spark import spark_schema
from wire.records import RECORD_TYPES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

COMMIT_TYPES = (LEGACY_TYPE, COMMIT_TYPE)

IS_DAMAGED = "is_damaged"
"""A column of commits, true where one cannot be read."""

GROUP_NAME = "group_name"
"""A column of records: their group, empty where they are of none."""


SLOT = "slot"
"""A column of commits: the number of their slot of `SLOT_MS`; null where it is another record."""

SLOTS_BEFORE = WINDOW_MS // SLOT_MS
"""So many slots before the one of a moment count for it."""


def history_records(frame: DataFrame) -> DataFrame:
    """Return the records that histories are made of, and the column `group`.

    They are all that are no commits, the first commit of each key and topic id, each commit
    that cannot be read, which is a finding, those around a drop (`_around_drops`), and those that
    rates are made of: at most `SLOTS_BEFORE` + 1 of a key for a record that is no commit. Three
    passes over `frame`, of which one decodes the commits; a shuffle of the commits by key, of one
    commit a key, topic id, slot and batch, and of one a key and slot by group.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`
    from pyspark.sql.types import (  # noqa: PLC0415 - as above
        BooleanType,
        LongType,
        StructField,
        StructType,
    )

    raw = raw_columns(frame)
    place = _place(raw.columns)
    commits = raw.where(has_type(COMMIT_TYPES))
    marked = StructType(
        [
            *commits.schema.fields,
            StructField(IS_DAMAGED, BooleanType()),
            StructField(SLOT, LongType()),
        ]
    )
    kept = commits.mapInArrow(_kept, marked)
    alone = f.when(f.col(IS_DAMAGED), f.xxhash64("value", *place)).alias("alone")
    whole = f.struct(*raw.columns)
    first = f.min_by(whole, f.struct(*place))
    last = f.max_by(whole, f.struct("timestamp", *place))
    ending = f.when(f.col(SLOT).isNull(), _ending()).alias("ending")
    chosen = (
        kept.groupBy("key", ending, alone, SLOT)
        .agg(f.when(f.col(SLOT).isNull(), first).otherwise(last).alias("chosen"))
        .select("chosen.*", SLOT)
    )
    no_slot = f.lit(None).cast("bigint")
    others = raw.where(~has_type(COMMIT_TYPES)).withColumn(SLOT, no_slot)
    drops = _around_drops(commits).withColumn(SLOT, no_slot)
    every = others.unionByName(chosen).unionByName(drops)
    return _near_moments(with_group(every)).drop(SLOT)


def _around_drops(commits: DataFrame) -> DataFrame:
    """Return each commit lower than the one before it, each tombstone, and those before them.

    Every drop between two of the commits that remain is one between two that follow on each other
    in the topic, so `findings.commits` finds the same among them. An offset is the eight bytes
    behind the version, in every version of the value. Commits of aborted transactions do not
    count, nor does what cannot be read: a drop is looked for across one such record.
    """
    from pyspark.sql import Window  # noqa: PLC0415 - the extra `spark`
    from pyspark.sql import functions as f  # noqa: PLC0415 - as above

    if "transaction" in commits.columns:
        is_aborted = f.coalesce(f.col("transaction") == "aborted", f.lit(col=False))
        commits = commits.where(~is_aborted)
    place = _place(commits.columns)
    # Only what tells a drop is sorted: few of the commits are near one.
    narrow = commits.select(
        f.xxhash64("key").alias("key"),
        *place,
        f.col("value").isNull().alias("is removed"),
        f.substring("value", 3, 8).alias("offset bytes"),
    )
    of_key = Window.partitionBy("key").orderBy(*place)
    offset = f.col("offset bytes")
    is_lower = [
        f.coalesce(offset < f.lag(offset, n).over(of_key), f.lit(col=False)) for n in (1, 2)
    ]
    is_negative = f.coalesce(offset >= f.lit(b"\x80"), f.lit(col=False))
    is_drop = f.col("is removed") | is_negative | is_lower[0] | is_lower[1]
    marked = narrow.withColumn("is drop", is_drop)
    near = marked.withColumn("is near", f.max("is drop").over(of_key.rowsBetween(0, 3)))
    places = near.where("`is near`").select(*(f.col(name).alias(f"near {name}") for name in place))
    # A record without an offset has null in that column.
    is_there = [commits[name].eqNullSafe(places[f"near {name}"]) for name in place]
    chosen = commits.join(places, on=is_there, how="left_semi")
    return chosen.mapInArrow(_readable, chosen.schema)


def _readable(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the commits that can be read: the others are chosen already."""
    for batch in batches:
        yield batch.filter(pc.is_null(decoded_batch(batch)["error"].combine_chunks()))


def _near_moments(records: DataFrame) -> DataFrame:
    """Return the records without the commits that are in no window of `analysis.rates`.

    A window ends with each record that is no commit, and with the last commit of a group.
    """
    from pyspark.sql import Window  # noqa: PLC0415 - the extra `spark`
    from pyspark.sql import functions as f  # noqa: PLC0415 - as above

    slot = f.coalesce(f.col(SLOT), f.floor(_at_ms() / SLOT_MS))
    is_moment = f.when(~has_type(COMMIT_TYPES), f.lit(1))
    of_group = Window.partitionBy("group")
    window = of_group.orderBy("slot of record").rangeBetween(0, SLOTS_BEFORE)
    near = f.count(is_moment).over(window) > 0
    to_end = f.max(SLOT).over(of_group) - f.col(SLOT) <= SLOTS_BEFORE
    placed = records.withColumn("slot of record", slot)
    kept = placed.withColumn("is kept", f.col(SLOT).isNull() | near | to_end)
    return kept.where("`is kept`").drop("slot of record", "is kept")


def _at_ms() -> Column:
    """Return the time of a record in epoch milliseconds; 0 where it has none."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    return f.coalesce(f.unix_millis("timestamp"), f.lit(0))


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
    """Yield the first commit of each key and topic id in a batch, and all that cannot be read.

    And once more, with its slot, the last commit of each key and slot.
    """
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
        last, slots = _last_of_slots(batch, read, order)
        chosen = np.concatenate([order[firsts.to_numpy()], damaged, last])
        first_count, whole_count = len(firsts), len(firsts) + len(damaged)
        numbers = np.arange(len(chosen))
        marks = (numbers >= first_count) & (numbers < whole_count)
        slot = pa.concat_arrays([pa.nulls(whole_count, pa.int64()), pa.array(slots, pa.int64())])
        columns = [*batch.take(pa.array(chosen)).columns, pa.array(marks), slot]
        yield pa.RecordBatch.from_arrays(columns, [*batch.schema.names, IS_DAMAGED, SLOT])


def _last_of_slots(
    batch: pa.RecordBatch, read: pa.Table, order: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of a batch that are the last commit of their key in a slot, and the slots.

    `order` are the rows as they stand in the topic. As `analysis.rates` chooses: no tombstones, no
    commits of aborted transactions.
    """
    if "timestamp" in batch.schema.names:
        times = batch.column("timestamp").cast(pa.timestamp("us", "UTC")).cast(pa.int64())
        at_ms = pc.fill_null(times, 0).to_numpy(zero_copy_only=False) // 1000
    else:
        at_ms = np.zeros(batch.num_rows, np.int64)
    counts = pc.and_(
        pc.is_null(read["error"]), pc.is_valid(pc.struct_field(read["commit"], "offset"))
    )
    if "transaction" in batch.schema.names:
        is_aborted = pc.fill_null(pc.equal(batch.column("transaction"), "aborted"), False)  # noqa: FBT003 - pyarrow's
        counts = pc.and_not(counts, is_aborted)
    rows = order[counts.to_numpy()[order]]
    rows = rows[np.argsort(at_ms[rows], kind="stable")]
    table = pa.table(
        {
            "key": batch.column("key").take(pa.array(rows)),
            "slot": at_ms[rows] // SLOT_MS,
            "rank": np.arange(len(rows)),
        }
    )
    last = table.group_by(["key", "slot"]).aggregate([("rank", "max")])
    ranks = last["rank_max"].to_numpy()
    return rows[ranks], last["slot"].to_numpy()


def _ending() -> Column:
    """Return the topic id that ends a value of version 4; what else ends one costs a row more."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    return f.when(has_topic_id(), f.substring("value", -16, 16)).alias("ending")


def _place(names: Sequence[str]) -> list[str]:
    """Return the columns that give a record's position in the topic, of those there are."""
    return [name for name in ("partition", "offset", POSITION.name) if name in names]
