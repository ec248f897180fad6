"""Decoding on Spark: DataFrame in, DataFrame out, on classic sessions and on Connect.

Any DataFrame with a binary `key` and `value` will do: what Spark's Kafka source gives, a
Parquet dump, segment files. Nothing is shuffled or collected, and no row is lost.

Workers that are other machines need the package: `session.addArtifacts(str(package_zip(path)),
pyfile=True)`, with `package_zip` from `assignors.spark`, and numpy and pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from assignors.replay.decode.batches import DECODED, decode_batches
from assignors.replay.sources import (
    POSITION,
    RAW,
    Isolation,
    SourceError,
    Stretch,
    read_partition,
    read_stretch,
    stretches,
)
from assignors.replay.sources.jsonlines import STRETCH_BYTES
from assignors.replay.sources.segments import OFFSETS_TOPIC, Partition, partitions
from assignors.spark import spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_NUMBER = "CAST(conv(hex(substring(key, {}, 2)), 16, 10) AS int)"
_GROUP_BYTES = _NUMBER.format(3)
"""How long the name of a group is, in bytes."""


def decode_records(frame: DataFrame) -> DataFrame:
    """Return each record decoded, as `decoding.DECODED` has it; a bad one has `error` set.

    Made for `frame.transform(decode_records)`. Columns of `sources.RAW` that are missing are
    null in the result; raises `SourceError` where `key` or `value` is.
    """
    missing = [name for name in ("key", "value") if name not in frame.columns]
    if missing:
        raise SourceError(f"no column {' and '.join(missing)} among {', '.join(frame.columns)}")
    wanted = [name for name in RAW.names if name in frame.columns]
    return frame.select(*wanted).mapInArrow(decode_batches, spark_schema(DECODED))


def with_group(frame: DataFrame) -> DataFrame:
    """Return the raw records with the columns `type` and `group`, which every key begins with.

    All records of a group have one group, so this is what to group or repartition by. Spark
    reads both itself; they are null where the key is too short to have them. A name that is no
    UTF-8 is the text that `decode_records` makes of it.
    """
    from pyspark.sql.functions import expr  # noqa: PLC0415 - the extra `spark`

    group = _text(f"substring(key, 5, {_GROUP_BYTES})")
    has_type, has_group = "length(key) >= 2", f"length(key) >= 4 + {_GROUP_BYTES}"
    typed = frame.withColumn("type", expr(f"CASE WHEN {has_type} THEN {_NUMBER.format(1)} END"))
    return typed.withColumn("group", expr(f"CASE WHEN {has_group} THEN {group} END"))


def _text(data: str) -> str:
    """Return the SQL of the text of bytes, as `wire.text.replaced_utf8` reads them."""
    text = f"CAST({data} AS string)"
    surrogate = r"\\G((?:..)*?)ED[AB].(?:[89AB].)?"
    repaired = f"CAST(unhex(regexp_replace(hex({data}), '{surrogate}', '$1FF')) AS string)"
    return f"CASE WHEN is_valid_utf8({text}) THEN {text} ELSE make_valid_utf8({repaired}) END"


def json_line_records(
    session: SparkSession, path: str | Path, *, stretch_bytes: int = STRETCH_BYTES
) -> DataFrame:
    """Return the records of a file of JSON lines, which all workers see under `path`.

    `stretch_bytes` of it are one task; all of a packed file is. A line that cannot be read is a
    row with its number in `error`, as `read_json_lines` has it. Behind the columns of `RAW`
    comes `POSITION`, by which records without offsets keep their order.
    """
    parts = stretches(Path(path).resolve(), size=stretch_bytes)
    numbers = session.range(len(parts), numPartitions=len(parts))

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _read_stretches(batches, parts)

    return numbers.mapInArrow(read, spark_schema(RAW.append(POSITION)))


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
    numbers = session.range(len(logs), numPartitions=len(logs))

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _read(batches, logs, isolation)

    return numbers.mapInArrow(read, spark_schema(RAW))


def _read(
    batches: Iterable[pa.RecordBatch], logs: Sequence[Partition], isolation: Isolation
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield from read_partition(logs[number], isolation=isolation)


def _read_stretches(
    batches: Iterable[pa.RecordBatch], parts: Sequence[Stretch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield from read_stretch(parts[number])
