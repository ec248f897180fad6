"""The topic of a live cluster, through Spark's own Kafka source.

Two settings are needed, and set here. Spark's newer lookup of offsets silently omits internal
topics, so `__consumer_offsets` reads as empty:
`spark.sql.streaming.kafka.useDeprecatedOffsetFetching` chooses the older lookup. Without
`kafka.isolation.level=read_committed` the commits of aborted transactions are read as well, and
look like any other. With the older lookup the source's consumer joins a group,
`spark-kafka-relation-...`, which writes records of its own to the topic.

The connector is a separate package. No version of it on Maven Central is complete for pyspark
4.3: `spark.jars.packages` with 4.0.0 reads ordinary topics, but its older offset lookup needs a
class that Spark no longer has. The four jars of `CONNECTOR` read
batches and streams; fetch them into one folder, for each

    mvn dependency:copy -Dartifact=ARTIFACT -DoutputDirectory=jars

and read:

    session = local_session(**connector_settings("jars"))
    records = read_topic(session, "broker:9092").transform(decode_records)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assignors.replay.sources.raw import SourceError
from assignors.replay.sources.segments import OFFSETS_TOPIC, Isolation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CONNECTOR = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.0",
    "org.apache.commons:commons-pool2:2.12.0",
)
"""The artifacts with which pyspark 4.3 reads batches and streams: 10 MB."""

OLD_OFFSET_LOOKUP = "spark.sql.streaming.kafka.useDeprecatedOffsetFetching"


def connector_settings(folder: str | Path) -> dict[str, str]:
    """Return settings for a session, as `local_session` takes them, that load a folder's jars.

    Raises `SourceError` where one of `CONNECTOR` is missing.
    """
    jars = []
    for artifact in CONNECTOR:
        _, name, version = artifact.split(":")
        jar = Path(folder) / f"{name}-{version}.jar"
        if not jar.is_file():
            raise SourceError(f"{folder}: no {jar.name}, of {artifact}")
        jars.append(str(jar))
    return {"spark_jars": ",".join(jars)}


def read_topic(
    session: SparkSession,
    bootstrap: str,
    *,
    topic: str = OFFSETS_TOPIC,
    isolation: Isolation = Isolation.READ_COMMITTED,
    options: Mapping[str, str] | None = None,
) -> DataFrame:
    """Return what the topic holds now, with the columns of Spark's Kafka source.

    Sets `OLD_OFFSET_LOOKUP` in the session. `options` go to the source: `minPartitions` for
    more tasks, `kafka.*` for security, `startingTimestamp` and others for a part of the topic.
    """
    session.conf.set(OLD_OFFSET_LOOKUP, "true")
    settings = _options(bootstrap, topic, isolation, "latest", options)
    return session.read.format("kafka").options(**settings).load()


def stream_topic(
    session: SparkSession,
    bootstrap: str,
    *,
    topic: str = OFFSETS_TOPIC,
    isolation: Isolation = Isolation.READ_COMMITTED,
    options: Mapping[str, str] | None = None,
) -> DataFrame:
    """Return the topic as a stream, from its start; ended by its trigger."""
    session.conf.set(OLD_OFFSET_LOOKUP, "true")
    settings = _options(bootstrap, topic, isolation, None, options)
    return session.readStream.format("kafka").options(**settings).load()


def require_rows(frame: DataFrame, where: str) -> DataFrame:
    """Return the frame; `SourceError` that says what may be the matter if it has no row.

    An empty topic and one that Spark is not allowed to see look the same. Cost: a job that reads
    one row.
    """
    if frame.limit(1).count():
        return frame
    text = (
        f"{where}: no records. An internal topic reads as empty unless {OLD_OFFSET_LOOKUP} is "
        "true; without the right to read it, or with another topic's name, it does too"
    )
    raise SourceError(text)


def _options(
    bootstrap: str,
    topic: str,
    isolation: Isolation,
    ending: str | None,
    options: Mapping[str, str] | None,
) -> dict[str, str]:
    chosen = {
        "kafka.bootstrap.servers": bootstrap,
        # A pattern would not find an internal topic, whatever the settings.
        "subscribe": topic,
        "startingOffsets": "earliest",
        "kafka.isolation.level": isolation.value,
    }
    if ending is not None:
        chosen["endingOffsets"] = ending
    return {**chosen, **(options or {})}
