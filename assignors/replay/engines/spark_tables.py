"""The tables on Spark: the same rows as `run.replay` gives, for topics of any size.

Nearly all records of the topic are commits, and nearly all that a group's history needs is in
the others. So the two go different ways. What is no commit is grouped by group id and told by
the very functions that tell a small dump, a group at a time; of the commits only the first of
each key and topic id goes with them, which names topics and shows how many partitions there are.
The commits themselves are decoded in columns where they stand and joined with who held what.

A worker holds the records of one group, commits aside. Nothing is collected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from assignors.arrow.schemas import schema_of
from assignors.replay.analysis.commits import sole_owners, spans
from assignors.replay.analysis.group_analysis import GroupAnalysis
from assignors.replay.analysis.redact import METADATA_HIDDEN
from assignors.replay.engines.python import DEFAULT, Settings, known_of, tables_of
from assignors.replay.engines.spark_decoding import decode_records
from assignors.replay.engines.spark_groups import histories_of, label_of, numbered_names
from assignors.replay.engines.spark_records import commit_records, history_records
from assignors.replay.history.timeline import NO_TOPIC_ID
from assignors.replay.sources import SourceError
from assignors.replay.tables.arrow import arrow_row
from assignors.replay.tables.rows import TABLES, OffsetRow
from assignors.spark import spark_schema

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SPARK_NAMES = {"string": "string", "int64": "bigint", "bool": "boolean"}
"""Arrow's names of the kinds of columns in the offsets table -> Spark's."""

HOLDINGS = pa.struct(
    [
        ("key", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("member_id", pa.string()),
        ("from_ms", pa.int64()),
        ("to_ms", pa.int64()),
    ]
)
"""Who held what alone; `key` is the group's true name, which a redacted table does not have."""

SPANS = pa.struct(
    [
        ("key", pa.string()),
        ("group", pa.string()),
        ("life", pa.int64()),
        ("from_ms", pa.int64()),
        ("to_ms", pa.int64()),
    ]
)

TOLD = pa.schema(
    [
        *(
            (name, pa.struct(list(schema_of(table))))
            for name, table in TABLES.items()
            if name != "offsets"
        ),
        ("holdings", HOLDINGS),
        ("spans", SPANS),
    ]
)
"""One column a table; of every row one is not null."""


def told_groups(
    frame: DataFrame,
    settings: Settings = DEFAULT,
    *,
    topic_names: Mapping[str, str] | None = None,
    hide_names: bool = False,
) -> DataFrame:
    """Return what is told of every group, as `TOLD` has it: the source of all tables.

    `frame` has raw records, at least `key`, `value`, `partition`, `offset` and `timestamp`.
    Whoever asks for several tables should persist this frame. `topic_names` (id -> name) adds
    to what each group's own records tell; `spark_records.topic_names` gives those that all
    records tell. `hide_names` numbers whatever `redact` hides, as `run.replay` does, however
    the frame is partitioned. One shuffle, of what is no commit; with hidden names two, and
    those of the names.
    """
    needed = ("key", "value", "partition", "offset", "timestamp")
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise SourceError(f"no column {', '.join(missing)} among {', '.join(frame.columns)}")
    names = dict(topic_names or {})

    def tell(records: pa.Table) -> pa.Table:
        return pa.Table.from_pylist(list(_told(records, settings, names)), schema=TOLD)

    def tell_hidden(records: pa.Table, numbers: pa.Table) -> pa.Table:
        hidden = replace(settings, label=label_of(numbers))
        return pa.Table.from_pylist(list(_told(records, hidden, names)), schema=TOLD)

    relevant = history_records(frame)
    groups = relevant.groupBy("group")
    if not hide_names:
        return groups.applyInArrow(tell, spark_schema(TOLD))
    numbered = numbered_names(relevant).groupBy("group")
    return groups.cogroup(numbered).applyInArrow(tell_hidden, spark_schema(TOLD))


def table(told: DataFrame, name: str) -> DataFrame:
    """Return one table of `told_groups`; the offsets are `offsets`' to give."""
    from pyspark.sql.functions import col  # noqa: PLC0415 - the extra `spark`

    if name == "offsets" or name not in TABLES:
        raise ValueError(f"no table {name!r} here; there are {', '.join(TOLD.names)}")
    return told.where(col(name).isNotNull()).select(f"{name}.*")


def tables(
    frame: DataFrame,
    settings: Settings = DEFAULT,
    *,
    topic_names: Mapping[str, str] | None = None,
    hide_names: bool = False,
    persist: bool = False,
) -> dict[str, DataFrame]:
    """Return every table by its name, each a frame of its own, none computed yet.

    Groups are told anew for each table that is computed, unless `persist` has Spark keep what
    it is told once: then the first table pays for all.
    """
    told = told_groups(frame, settings, topic_names=topic_names, hide_names=hide_names)
    if persist:
        told = told.persist()
    found = {name: table(told, name) for name in TABLES if name != "offsets"}
    commits = offsets(frame, told, hide_metadata=hide_names or settings.label is not None)
    found["groups"] = _with_commit_counts(found["groups"], commits)
    found["offsets"] = commits.drop("life")
    return {name: found[name] for name in TABLES}


def offsets(frame: DataFrame, told: DataFrame, *, hide_metadata: bool = False) -> DataFrame:
    """Return every commit of `frame` with who held its partition, and the life it falls in.

    The columns of the offsets table, and `life`. Decoding is no shuffle; the joins with
    `told`, which is small beside the commits, are Spark's to plan.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    commit = f.col("commit")
    commits = (
        decode_records(commit_records(frame))
        .where(f.col("error").isNull() & commit.isNotNull())
        .select(
            f.col("group").alias("key"),
            commit["topic"].alias("topic"),
            f.when(commit["topic_id"] != NO_TOPIC_ID, commit["topic_id"]).alias("topic_id"),
            commit["partition"].cast("bigint").alias("partition"),
            commit["offset"].alias("offset"),
            _set(commit["leader_epoch"].cast("bigint")).alias("leader_epoch"),
            (_hidden(commit["metadata"]) if hide_metadata else commit["metadata"]).alias(
                "metadata"
            ),
            commit["commit_timestamp_ms"].alias("commit_ms"),
            _set(commit["expire_timestamp_ms"]).alias("expire_ms"),
            f.coalesce(f.unix_millis("timestamp"), f.lit(0)).alias("at_ms"),
            f.col("partition").cast("bigint").alias("record_partition"),
            f.col("offset").alias("record_offset"),
            _is_aborted().alias("is_aborted"),
        )
    )
    spans_ = told.where(f.col("spans").isNotNull()).select("spans.*")
    holdings = told.where(f.col("holdings").isNotNull()).select("holdings.*")
    joined = commits.alias("c").join(
        spans_.alias("s"),
        (f.col("c.key") == f.col("s.key")) & _within("s"),
        "left",
    )
    held = joined.join(
        holdings.alias("h"),
        (f.col("c.key") == f.col("h.key"))
        & (f.col("c.topic") == f.col("h.topic"))
        & (f.col("c.partition") == f.col("h.partition"))
        & f.col("c.offset").isNotNull()
        & _within("h"),
        "left",
    )
    told_elsewhere = {"group": f.col("s.group"), "holder_id": f.col("h.member_id")}
    chosen = []
    for name, kind in zip(schema_of(OffsetRow).names, schema_of(OffsetRow).types, strict=True):
        if name in told_elsewhere:
            chosen.append(told_elsewhere[name].alias(name))
        elif name in commits.columns:
            chosen.append(f.col(f"c.{name}").alias(name))
        else:
            chosen.append(f.lit(None).cast(SPARK_NAMES[str(kind)]).alias(name))
    return held.select(*chosen, f.col("s.life").alias("life"))


def _with_commit_counts(groups: DataFrame, commits: DataFrame) -> DataFrame:
    """Return the groups table with how many commits and tombstones fall into each life."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    stands = commits.where(~f.coalesce("is_aborted", f.lit(col=False)))
    is_tombstone = f.col("offset").isNull()
    counted = stands.groupBy("group", "life").agg(
        f.count_if(~is_tombstone).alias("commits"), f.count_if(is_tombstone).alias("tombstones")
    )
    none = f.lit(0).cast("bigint")
    return (
        groups.join(counted, ["group", "life"], "left")
        .withColumn("commit_count", f.coalesce("commits", none))
        .withColumn("tombstone_count", f.coalesce("tombstones", none))
        .select(*groups.columns)
    )


def _set(column: Column) -> Column:
    """Return a number that is null where it is negative: Kafka's way to say nothing."""
    from pyspark.sql.functions import when  # noqa: PLC0415 - the extra `spark`

    return when(column >= 0, column)


def _hidden(metadata: Column) -> Column:
    from pyspark.sql.functions import lit, when  # noqa: PLC0415 - the extra `spark`

    return when(metadata != "", lit(METADATA_HIDDEN)).otherwise(metadata)


def _is_aborted() -> Column:
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    fate = f.col("transaction")
    return f.when(fate == "aborted", f.lit(col=True)).when(fate == "committed", f.lit(col=False))


def _within(alias: str) -> Column:
    """Return whether a commit falls into a span, from its begin to before its end."""
    from pyspark.sql.functions import col  # noqa: PLC0415 - the extra `spark`

    at_ms = col("c.at_ms")
    return (at_ms >= col(f"{alias}.from_ms")) & (at_ms < col(f"{alias}.to_ms"))


def _told(
    records: pa.Table, settings: Settings, topic_names: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one group's tables, each under the name of its table."""
    for history in histories_of(records, topic_names):
        known, outcomes = known_of(history, settings)
        told = tables_of(known, outcomes, settings.thresholds)
        for name in TABLES:
            if name != "offsets":
                yield from ({name: arrow_row(row)} for row in getattr(told, name))
        yield from _joins(history.group, known)


def _joins(key: str, known: GroupAnalysis) -> Iterator[dict[str, Any]]:
    """Yield what the commits of a group are joined with."""
    for span in spans(known.history.lives):
        yield {"spans": {"key": key, "group": known.history.group, **asdict(span)}}
    for holding in sole_owners(known):
        yield {
            "holdings": {
                "key": key,
                "topic": holding.topic,
                "partition": holding.partition,
                "member_id": holding.member_id,
                "from_ms": holding.start,
                "to_ms": holding.until,
            }
        }
