"""Files as DataFrames of raw records: JSON lines and segment files, in tasks of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from assignors.replay.sources import FileSplit, Isolation, read_partition, splits
from assignors.replay.sources.arrow import POSITION, RAW, batched, read_split
from assignors.replay.sources.jsonlines import SPLIT_BYTES
from assignors.replay.sources.segments import OFFSETS_TOPIC, Partition, partitions
from assignors.spark import spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def json_line_records(
    session: SparkSession, path: str | Path, *, split_bytes: int = SPLIT_BYTES
) -> DataFrame:
    """Return the records of a file of JSON lines, which all workers see under `path`.

    `split_bytes` of it are one task; all of a packed file is. A line that cannot be read is a
    row with its number in `error`, as `read_json_lines` has it. Behind the columns of `RAW`
    comes `POSITION`, by which records without offsets keep their order.
    """
    parts = splits(Path(path).resolve(), size=split_bytes)
    numbers = session.range(len(parts), numPartitions=len(parts))

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _read_splits(batches, parts)

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
        return _read_partitions(batches, logs, isolation)

    return numbers.mapInArrow(read, spark_schema(RAW))


def _read_splits(
    batches: Iterable[pa.RecordBatch], parts: Sequence[FileSplit]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield from read_split(parts[number])


def _read_partitions(
    batches: Iterable[pa.RecordBatch], logs: Sequence[Partition], isolation: Isolation
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield from batched(read_partition(logs[number], isolation=isolation))
