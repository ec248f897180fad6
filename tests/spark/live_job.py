"""The offsets topic of a live broker through Spark's own Kafka source, as JSON.

python -m tests.spark.live_job BOOTSTRAP EMPTY-TOPIC FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from assignors.replay.engines.spark import decode_records
from assignors.replay.sources import SourceError
from assignors.replay.sources.topic_by_spark import (
    connector_settings,
    read_topic,
    require_rows,
    stream_topic,
)
from assignors.spark import local_session
from tests.spark.connector import CONNECTOR


def main(bootstrap: str, empty_topic: str, folder: Path) -> None:
    """Read, decode, and see what is said when there is nothing."""
    settings = connector_settings(CONNECTOR.made())
    session = local_session(**settings, spark_sql_session_timeZone="UTC")
    records = require_rows(read_topic(session, bootstrap), bootstrap)
    decoded = records.transform(decode_records).toArrow()
    places = [("partition", "ascending"), ("offset", "ascending")]
    answers: dict[str, Any] = {"rows": decoded.sort_by(places).to_pylist(), "empty": ""}
    try:
        require_rows(read_topic(session, bootstrap, topic=empty_topic), empty_topic)
    except SourceError as error:
        answers["empty"] = str(error)
    stream = stream_topic(session, bootstrap).transform(decode_records)
    written = stream.writeStream.format("memory").queryName("decoded").trigger(availableNow=True)
    written.start().awaitTermination(120)
    answers["streamed"] = session.sql("SELECT count(*) AS rows FROM decoded").collect()[0].rows
    (folder / "answers.json").write_text(json.dumps(answers, default=str))
    session.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
