"""The commits on Spark: decoded where they are, joined with their life and their partition's owner.

Plain Python looks both up commit by commit, which needs all commits of a group in one process.
Here neither is held by a worker: the intervals of lives and of sole ownership, few beside the
commits, are joined with them. What commits count for in the table of groups follows from the
join, and is counted behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from assignors.arrow.schemas import schema_of
from assignors.replay.analysis.redact import METADATA_HIDDEN
from assignors.replay.engines.spark.decoding import decode_records
from assignors.replay.engines.spark.selection import commit_records
from assignors.replay.history.timeline import NO_TOPIC_ID
from assignors.replay.tables.rows import OffsetRow

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SOLE_OWNERS = pa.struct(
    [
        ("key", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("member_id", pa.string()),
        ("from_ms", pa.int64()),
        ("to_ms", pa.int64()),
    ]
)
"""When one member alone held a partition, from `from_ms` to before `to_ms`.

`key` is the group's true name, which a redacted table does not have.
"""

LIVES = pa.struct(
    [
        ("key", pa.string()),
        ("group", pa.string()),
        ("life", pa.int64()),
        ("from_ms", pa.int64()),
        ("to_ms", pa.int64()),
    ]
)
"""When a life lasted, as commits are counted to it; `group` is its name in the tables."""


def offsets(
    frame: DataFrame, owners: DataFrame, lives: DataFrame, *, hide_metadata: bool = False
) -> DataFrame:
    """Return every commit of `frame` with its partition's sole owner, and the life it falls in.

    The columns of the offsets table, and `life`. `owners` has the columns of `SOLE_OWNERS`,
    `lives` those of `LIVES`. Decoding is no shuffle; how to join is Spark's to plan.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    commits = _commits(frame, hide_metadata=hide_metadata)
    with_life = commits.alias("c").join(
        lives.alias("l"), (f.col("c.key") == f.col("l.key")) & _is_within("l"), "left"
    )
    with_owner = with_life.join(
        owners.alias("o"),
        (f.col("c.key") == f.col("o.key"))
        & (f.col("c.topic") == f.col("o.topic"))
        & (f.col("c.partition") == f.col("o.partition"))
        & f.col("c.offset").isNotNull()
        & _is_within("o"),
        "left",
    )
    joined = {"group": f.col("l.group"), "holder_id": f.col("o.member_id")}
    columns = [
        joined.get(name, f.col(f"c.{name}")).alias(name) for name in schema_of(OffsetRow).names
    ]
    return with_owner.select(*columns, f.col("l.life").alias("life"))


def with_commit_counts(groups: DataFrame, commits: DataFrame) -> DataFrame:
    """Return the groups table with how many commits and tombstones fall into each life.

    `commits` are those of `offsets`; the ones of aborted transactions do not count.

    `analysis.commits.commit_counts` does the same in plain Python, from the sorted times of all
    commits of a group. Not here: no worker may hold these, and the join has found the life of each
    already, so that counting them is one aggregate behind it. Both count to the same intervals,
    `analysis.commits.spans`.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    valid = commits.where(~f.coalesce("is_aborted", f.lit(col=False)))
    is_tombstone = f.col("offset").isNull()
    counted = valid.groupBy("group", "life").agg(
        f.count_if(~is_tombstone).alias("commits"), f.count_if(is_tombstone).alias("tombstones")
    )
    none = f.lit(0).cast("bigint")
    return (
        groups.join(counted, ["group", "life"], "left")
        .withColumn("commit_count", f.coalesce("commits", none))
        .withColumn("tombstone_count", f.coalesce("tombstones", none))
        .select(*groups.columns)
    )


def _commits(frame: DataFrame, *, hide_metadata: bool) -> DataFrame:
    """Return the commits that could be read, with what their records contain."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    commit = f.col("commit")
    metadata = _hidden(commit["metadata"]) if hide_metadata else commit["metadata"]
    transaction = f.col("transaction")
    is_aborted = f.when(transaction == "aborted", f.lit(col=True)).when(
        transaction == "committed", f.lit(col=False)
    )
    return (
        decode_records(commit_records(frame))
        .where(f.col("error").isNull() & commit.isNotNull())
        .select(
            f.col("group").alias("key"),
            commit["topic"].alias("topic"),
            f.when(commit["topic_id"] != NO_TOPIC_ID, commit["topic_id"]).alias("topic_id"),
            commit["partition"].cast("bigint").alias("partition"),
            commit["offset"].alias("offset"),
            _if_set(commit["leader_epoch"].cast("bigint")).alias("leader_epoch"),
            metadata.alias("metadata"),
            commit["commit_timestamp_ms"].alias("commit_ms"),
            _if_set(commit["expire_timestamp_ms"]).alias("expire_ms"),
            f.coalesce(f.unix_millis("timestamp"), f.lit(0)).alias("at_ms"),
            f.col("partition").cast("bigint").alias("record_partition"),
            f.col("offset").alias("record_offset"),
            is_aborted.alias("is_aborted"),
        )
    )


def _if_set(column: Column) -> Column:
    """Return a number that is null where it is negative: Kafka's way to say none."""
    from pyspark.sql.functions import when  # noqa: PLC0415 - the extra `spark`

    return when(column >= 0, column)


def _hidden(metadata: Column) -> Column:
    from pyspark.sql.functions import lit, when  # noqa: PLC0415 - the extra `spark`

    return when(metadata != "", lit(METADATA_HIDDEN)).otherwise(metadata)


def _is_within(alias: str) -> Column:
    """Return whether a commit falls into an interval, from its start to before its end."""
    from pyspark.sql.functions import col  # noqa: PLC0415 - the extra `spark`

    at_ms = col("c.at_ms")
    return (at_ms >= col(f"{alias}.from_ms")) & (at_ms < col(f"{alias}.to_ms"))
