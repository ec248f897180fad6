"""DataFrame in, DataFrame out: the simulation and the codecs on Spark, through PySpark alone.

Nothing here reaches for the SparkContext or the JVM, so the same calls work on classic Spark,
on a cluster whose executors know this package only as a zip, and over Spark Connect.
"""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assignors.registry import assignor_named
from assignors.simulation import batches

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

OUTCOME_DDL = (
    "id string, seed bigint, event int, kind string, assignor string, rounds int, moved bigint, "
    "moves_min bigint, withheld_rounds int, unassigned_partition_rounds bigint, "
    "withheld_left bigint, load_min bigint, load_max bigint, load_square_sum bigint, "
    "optimum bigint, violations bigint, is_settled boolean, cpu_ms double, error string"
)
_NOTES = "array<struct<code: string, offset: bigint, text: string>>"
_PARTITIONS = "array<struct<topic: string, partitions: array<int>>>"
SUBSCRIPTION_DDL = (
    f"struct<version: int, topics: array<string>, user_data: binary, owned: {_PARTITIONS}, "
    f"generation: int, rack: string, notes: {_NOTES}, error: string>"
)
ASSIGNMENT_DDL = (
    f"struct<version: int, partitions: {_PARTITIONS}, user_data: binary, notes: {_NOTES}, "
    "error: string>"
)
USER_DATA_DDL = f"struct<owned: {_PARTITIONS}, generation: int, notes: {_NOTES}, error: string>"
ASSIGNED_DDL = (
    f"struct<assignment: array<struct<member: string, partitions: {_PARTITIONS}>>, "
    f"withheld: {_PARTITIONS}, follow_up: boolean, notes: array<string>, error: string>"
)
CHECKED_DDL = (
    "struct<violations: array<struct<rule: string, topic: string, partition: int, "
    "members: array<string>>>, balance_gap: bigint, moved: bigint, moved_minimum: bigint, "
    "error: string>"
)


def simulate(frame: DataFrame, *, assignors: Sequence[str]) -> DataFrame:
    """Return the outcomes of the scenarios in `frame`, one row a scenario, event and assignor.

    A row of `frame` is a scenario (`seed bigint` and any of the sizes `members`, `topics`,
    `partitions`, `events` int, `subscription` string, `faults`, `wire` boolean) or an explicit
    group (`topics map<string, int>`, `members array<struct<id, instance, subscription>>`,
    `seed`, `events`); `id` comes back with its outcomes. Made for `frame.transform`. Raises
    `ValueError` for an unknown assignor; a bad row is a row with `error` set.
    """
    for name in assignors:
        assignor_named(name)
    chosen = tuple(assignors)

    def play(arrow: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return batches.simulate(arrow, assignors=chosen)

    return frame.mapInArrow(play, OUTCOME_DDL)


def column_functions() -> dict[str, Any]:
    """Return the column functions by name, as Arrow UDFs."""
    from pyspark.sql.functions import (  # type: ignore[attr-defined]  # noqa: PLC0415 - the extra `spark`
        arrow_udf,
    )

    made = {
        "kafka_decode_subscription": (batches.decoded_subscriptions, SUBSCRIPTION_DDL),
        "kafka_decode_assignment": (batches.decoded_assignments, ASSIGNMENT_DDL),
        "kafka_decode_sticky_user_data": (batches.decoded_sticky_user_data, USER_DATA_DDL),
        "kafka_decode_cooperative_user_data": (
            batches.decoded_cooperative_user_data,
            USER_DATA_DDL,
        ),
        "kafka_assign": (batches.assigned_groups, ASSIGNED_DDL),
        "kafka_check": (batches.checked_groups, CHECKED_DDL),
    }
    return {name: arrow_udf(function, ddl) for name, (function, ddl) in made.items()}


def register(session: SparkSession) -> None:
    """Make the column functions known to SQL under their names."""
    for name, function in column_functions().items():
        session.udf.register(name, function)


def local_session(master: str = "local[2]", **settings: str) -> SparkSession:
    """Return a classic session on this machine, its workers on this Python.

    Spark starts `python3` from PATH unless it is told otherwise; keys of `settings` have
    underscores for dots (`spark_sql_shuffle_partitions="2"`).
    """
    from pyspark.sql import SparkSession as Session  # noqa: PLC0415 - the extra `spark`

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = Session.builder.master(master).appName("kafka-assignors")
    quiet = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    for key, value in {**quiet, **{k.replace("_", "."): v for k, v in settings.items()}}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def package_zip(path: str | Path) -> Path:
    """Write this package and `wire` as a zip that `addArtifacts(..., pyfile=True)` ships."""
    target = Path(path)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in ("assignors", "wire"):
            _add(archive, files(package), package)
    return target


def _add(archive: zipfile.ZipFile, folder: Traversable, prefix: str) -> None:
    for entry in sorted(folder.iterdir(), key=lambda found: found.name):
        name = f"{prefix}/{entry.name}"
        if entry.is_dir() and entry.name != "__pycache__":
            _add(archive, entry, name)
        elif entry.name.endswith((".py", ".jsonl", ".typed")):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), entry.read_bytes())
