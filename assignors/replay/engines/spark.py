"""Replay on Spark: DataFrames of raw records in, decoded records and tables out.

Any DataFrame with a binary `key` and `value` is a source: Spark's Kafka source, a Parquet dump;
`read_topic` and `stream_topic` read a live cluster, `json_line_records` and `segment_records` other
files. `decode_records` decodes each record where it is, as does the SQL function
`kafka_decode_record(key, value)`. `tables` gives the tables of `kafka-assignors replay`.

All records of a group are in one partition of the topic. So the tables need one shuffle: records
by group, in the order of the topic. A worker then runs the functions of plain Python on one group
after another, and the rows are those of plain Python. Only the names of topics need all groups:
`topic_names` collects them on the driver. Names are hidden by `Settings(label=keyed(key))`.

Works on classic sessions and over Connect. Executors on other machines need the package,
`session.addArtifacts(str(assignors.spark.package_zip(path)), pyfile=True)`, numpy and pyarrow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assignors.extras import imported_from

with imported_from("spark"):
    import pyarrow as pa
    import pyspark  # noqa: F401 - all of this needs it

from assignors.arrow.schemas import schema_of
from assignors.replay.decode.batches import DECODED, RECORD, decode_batches, decoded_records
from assignors.replay.decode.logged_records import (
    NO_GROUP,
    LoggedRecord,
    group_of_key,
    logged_records,
)
from assignors.replay.engines.python import replayed
from assignors.replay.history.fold import by_majority, histories, recorded_names
from assignors.replay.settings import DEFAULT, Settings
from assignors.replay.sources import (
    Isolation,
    SourceError,
    read_json_lines,
    read_partition,
)
from assignors.replay.sources.arrow import POSITION, RAW, batched, positioned, rows
from assignors.replay.sources.segments import OFFSETS_TOPIC, partitions
from assignors.replay.sources.topic_by_spark import (
    connector_settings,
    read_topic,
    require_rows,
    stream_topic,
)
from assignors.replay.tables.arrow import as_arrow
from assignors.replay.tables.rows import TABLES, Row
from assignors.spark import spark_schema
from assignors.spark.functions import arrow_function

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "connector_settings",
    "decode_records",
    "json_line_records",
    "read_topic",
    "record_function",
    "register_record_function",
    "replayed_groups",
    "require_rows",
    "segment_records",
    "stream_topic",
    "table",
    "tables",
    "topic_names",
    "with_group",
]

SQL_NAME = "kafka_decode_record"
"""The name of `record_function` in SQL."""

ROWS = pa.schema([(name, pa.struct(list(schema_of(row)))) for name, row in TABLES.items()])
"""The rows of all tables: a column for each table, one of them not null in each row."""

BATCH_RECORDS = 10_000
"""Records of small groups that are replayed together, and rows that are handed on together."""

TOPICS = pa.schema([("topic_id", pa.string()), ("topic", pa.string()), ("count", pa.int64())])
"""How many records of a batch give an id this name."""


def decode_records(frame: DataFrame) -> DataFrame:
    """Return each record decoded, as `batches.DECODED` has it; a bad one has `error` set.

    Made for `frame.transform(decode_records)`. Columns of `sources.RAW` that are missing are
    null in the result; raises `SourceError` where `key` or `value` is. No shuffle.
    """
    _require(frame, "key", "value")
    wanted = [name for name in RAW.names if name in frame.columns]
    return frame.select(*wanted).mapInArrow(decode_batches, spark_schema(DECODED))


def record_function() -> Any:  # noqa: ANN401 - pyspark's type of a function differs by kind of session
    """Return the function that decodes one record, for columns: `frame.select(f("key", "value"))`.

    Its result is a struct, `batches.RECORD`: the columns of `decode_records` without those that
    say where the record was. A record that cannot be read has `error` set.
    """
    return arrow_function(decoded_records, RECORD)


def register_record_function(session: SparkSession) -> None:
    """Register `record_function` in a session, for SQL: `kafka_decode_record(key, value)`."""
    session.udf.register(SQL_NAME, record_function())


def with_group(frame: DataFrame) -> DataFrame:
    """Return the raw records with the column `group`, empty for records that name no group.

    All records of a group have one `group`: group, filter or repartition by it. No shuffle; only
    keys go to Python's workers.
    """
    return frame.withColumn("group", arrow_function(_groups, pa.string())(frame["key"]))


def json_line_records(session: SparkSession, path: str | Path) -> DataFrame:
    """Return the records of a file of JSON lines, which all workers see under `path`.

    One task reads the file; a large dump is better as Parquet. A line that cannot be read is a
    row with its number in `error`, as `read_json_lines` has it. Behind the columns of `RAW`
    comes `POSITION`, by which records without offsets keep their order.
    """
    place = Path(path).resolve()
    if not place.is_file():
        raise SourceError(f"{place}: no such file or folder")

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in _numbers(batches):
            yield from positioned(batched(read_json_lines(place)))

    return _numbered(session, 1).mapInArrow(read, spark_schema(RAW.append(POSITION)))


def segment_records(
    session: SparkSession,
    path: str | Path,
    *,
    topic: str = OFFSETS_TOPIC,
    isolation: Isolation = Isolation.READ_COMMITTED,
) -> DataFrame:
    """Return the records of a topic's segment files, which all workers see under `path`.

    A partition of the topic is one task, as its transactions run across its files.
    """
    logs = partitions(path, topic=topic)

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in _numbers(batches):
            yield from batched(read_partition(logs[number], isolation=isolation))

    return _numbered(session, len(logs)).mapInArrow(read, spark_schema(RAW))


def topic_names(frame: DataFrame) -> dict[str, str]:
    """Return topic id -> name, from the records of all groups; `tables` takes it.

    A group that never commits has ids of topics on record and no names, but other groups may
    have them. One pass over `frame`; collects a row a topic.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark`

    found = _raw(frame).mapInArrow(_topics, spark_schema(TOPICS))
    counts = found.groupBy("topic_id", "topic").agg(f.sum("count").alias("count")).collect()
    return by_majority({(row["topic_id"], row["topic"]): row["count"] for row in counts})


def replayed_groups(
    frame: DataFrame,
    settings: Settings = DEFAULT,
    *,
    topic_names: Mapping[str, str] | None = None,
) -> DataFrame:
    """Return the rows of all tables, as `ROWS` has them: the source of each table.

    `frame` has raw records, at least `key`, `value`, `partition`, `offset` and `timestamp`;
    raises `SourceError` where one is missing. Persist the result to compute several tables of
    it. `topic_names` (id -> name) adds to what each group's own records contain;
    the function `topic_names` gives those of all records. One shuffle of the records. Memory of
    a worker: the records and the rows of one group.
    """
    _require(frame, "key", "value", "partition", "offset", "timestamp")
    names = dict(topic_names or {})
    records = _by_group(frame)

    def replay(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for entries in _whole_groups(batches):
            for history in histories(entries, topic_names=names):
                found = replayed(history, settings)
                for name in TABLES:
                    yield from _row_batches(name, getattr(found, name))

    return records.mapInArrow(replay, spark_schema(ROWS))


def table(found: DataFrame, name: str) -> DataFrame:
    """Return one table of `replayed_groups`; `ValueError` for a name that no table has."""
    if name not in TABLES:
        raise ValueError(f"no table {name!r} here; there are {', '.join(TABLES)}")
    return found.where(found[name].isNotNull()).select(f"{name}.*")


def tables(
    frame: DataFrame,
    settings: Settings = DEFAULT,
    *,
    topic_names: Mapping[str, str] | None = None,
    persist: bool = False,
) -> dict[str, DataFrame]:
    """Return every table by its name, each a frame of its own, none computed yet.

    The arguments are those of `replayed_groups`. Groups are replayed again for each table that is
    computed, unless `persist` has Spark keep the rows: then the first table pays for all.
    """
    found = replayed_groups(frame, settings, topic_names=topic_names)
    if persist:
        found = found.persist()
    return {name: table(found, name) for name in TABLES}


def _by_group(frame: DataFrame) -> DataFrame:
    """Return raw records so that those of a group follow on each other, in the topic's order."""
    records = with_group(_raw(frame))
    if "error" in records.columns:
        from pyspark.sql.functions import lit, when  # noqa: PLC0415 - the extra `spark`

        no_group = when(records["error"].isNull(), records["group"]).otherwise(lit(NO_GROUP))
        records = records.withColumn("group", no_group)
    place = [name for name in ("partition", "offset", POSITION.name) if name in records.columns]
    return records.repartition("group").sortWithinPartitions("group", *place)


def _whole_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[list[LoggedRecord]]:
    """Yield the records of one group or of several small ones, from batches of `_by_group`."""
    held: list[LoggedRecord] = []
    last = None
    for batch in batches:
        groups = batch.column("group").to_pylist()
        for group, entry in zip(groups, logged_records(rows([batch])), strict=True):
            if group != last and len(held) >= BATCH_RECORDS:
                yield held
                held = []
            held.append(entry)
            last = group
    if held:
        yield held


def _row_batches(name: str, found: Sequence[Row]) -> Iterator[pa.RecordBatch]:
    """Yield rows of a table as batches of `ROWS`."""
    for first in range(0, len(found), BATCH_RECORDS):
        made = as_arrow(TABLES[name], found[first : first + BATCH_RECORDS])
        (structs,) = made.to_struct_array().chunks
        columns = [
            structs if each.name == name else pa.nulls(len(made), each.type) for each in ROWS
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=ROWS)


def _topics(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield `TOPICS` of each batch."""
    for batch in batches:
        counts = Counter(recorded_names(logged_records(rows([batch]))))
        found = [
            {"topic_id": topic_id, "topic": topic, "count": count}
            for (topic_id, topic), count in counts.items()
        ]
        yield pa.RecordBatch.from_pylist(found, schema=TOPICS)


def _groups(keys: pa.Array) -> pa.Array:
    """Return the group in each key, `NO_GROUP` where there is none."""
    blobs = (bytes(key, "utf-8") if isinstance(key, str) else key for key in keys.to_pylist())
    return pa.array([group_of_key(blob) for blob in blobs], pa.string())


def _raw(frame: DataFrame) -> DataFrame:
    """Return the columns of a source that are there, and no others."""
    known = (*RAW.names, POSITION.name)
    return frame.select(*(name for name in known if name in frame.columns))


def _require(frame: DataFrame, *names: str) -> None:
    missing = [name for name in names if name not in frame.columns]
    if missing:
        words = " and ".join(missing)
        raise SourceError(f"no column {words} among {', '.join(frame.columns)}")


def _numbered(session: SparkSession, parts: int) -> DataFrame:
    """Return a row for each part of a source, each a task of its own."""
    return session.range(parts, numPartitions=parts)


def _numbers(batches: Iterable[pa.RecordBatch]) -> Iterator[int]:
    for batch in batches:
        yield from batch.column(0).to_pylist()
