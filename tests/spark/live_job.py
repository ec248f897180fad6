"""The offsets topic of a live broker through Spark's own Kafka source, as JSON.

    python -m tests.spark.live_job BOOTSTRAP FOLDER

The session fetches the connector from Maven Central when it starts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from assignors.replay.sources import SourceError
from assignors.replay.sources.live import CONNECTOR, read_topic, require_rows
from assignors.replay.spark import decode_records
from assignors.simulation.spark import local_session


def main(bootstrap: str, folder: Path) -> None:
    """Read, decode, and see what is said when there is nothing."""
    session = local_session(**CONNECTOR, spark_sql_session_timeZone="UTC")
    records = require_rows(read_topic(session, bootstrap), bootstrap)
    decoded = records.transform(decode_records).toArrow()
    places = [("partition", "ascending"), ("offset", "ascending")]
    answers = {"rows": decoded.sort_by(places).to_pylist(), "empty": ""}
    later = {"startingTimestamp": "32503680000000", "startingOffsetsByTimestampStrategy": "latest"}
    try:
        require_rows(read_topic(session, bootstrap, options=later), bootstrap)
    except SourceError as error:
        answers["empty"] = str(error)
    (folder / "answers.json").write_text(json.dumps(answers, default=str))
    session.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
