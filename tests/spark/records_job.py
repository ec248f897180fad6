"""A Spark session decodes a dump; its answers as JSON.

The folder has a dump (`dump.parquet`) and a data folder of segment files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assignors.replay.engines.spark import (
    decode_records,
    record_function,
    register_record_function,
    segment_records,
    with_group,
)
from assignors.replay.sources import Isolation, SourceError


def main(session: Any, folder: Path) -> None:
    """Run the job and write its answers."""
    session.conf.set("spark.sql.session.timeZone", "UTC")
    dump = session.read.parquet(str(folder / "dump.parquet")).repartition(3)
    decoded = dump.transform(decode_records)
    segments = segment_records(session, folder / "data", isolation=Isolation.READ_UNCOMMITTED)
    decoded.createOrReplaceTempView("records")
    counted = session.sql("""
        SELECT name, count(*) AS records, count(DISTINCT `group`) AS groups
        FROM records GROUP BY name ORDER BY name""")
    members = session.sql("""
        SELECT `group`, member.client_id, member.subscription.topics
        FROM records LATERAL VIEW explode(classic_group.members) AS member
        ORDER BY `group`, member.client_id, offset LIMIT 5""")
    register_record_function(session)
    dump.createOrReplaceTempView("dump")
    one_by_one = session.sql("""
        SELECT topic, partition, offset, timestamp, timestampType, transaction, decoded.*
        FROM (SELECT *, kafka_decode_record(key, value) AS decoded FROM dump)
        WHERE error IS NULL""")
    named = dump.select(record_function()("key", "value").alias("decoded"))
    answers = {
        "one by one": rows_of(one_by_one),
        "named": rows_of(named.groupBy("decoded.name").count()),
        "rows": rows_of(decoded),
        "groups": rows_of(with_group(dump).select("group", "partition", "offset")),
        "segments": rows_of(segments.transform(decode_records)),
        "counted": rows_of(counted),
        "members": rows_of(members),
        "missing": missing(session),
    }
    (folder / "answers.json").write_text(json.dumps(answers, default=str))


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """The rows as plain data."""
    rows: list[dict[str, Any]] = frame.toArrow().to_pylist()
    return rows


def missing(session: Any) -> str:
    """What is said of a frame that is no dump."""
    try:
        session.range(1).transform(decode_records)
    except SourceError as error:
        return str(error)
    return ""
