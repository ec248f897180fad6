"""A recorded topic as a stream: the events of a watch that stopped once, and what timers say.

The records come in three files, one batch each, those of a batch in reverse order. After the second
file the query ends, and another goes on from its checkpoint.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from assignors.arrow.schemas import schema_of
from assignors.replay.engines.spark import json_line_records
from assignors.replay.sample import incident_file
from assignors.replay.sources import SourceError
from assignors.spark import spark_schema
from assignors.watch.events import Alert
from assignors.watch.rules import Rules
from assignors.watch.spark import NEEDED, watch_stream

SOON = Rules(keep_ms=1_000)
WAIT_S = 120.0


def main(session: Any, folder: Path) -> None:
    """Watch `dump.jsonl` in the folder, and write the events that came."""
    answers = {
        "watched": watched(session, folder, read(session, folder / "dump.jsonl")),
        "timed": timed(session, folder, read(session, Path(str(incident_file())))),
        "refused": refused(session),
    }
    (folder / "answers.json").write_text(json.dumps(answers, default=str))


def read(session: Any, dump: Path) -> pa.Table:
    return json_line_records(session, dump).select(*NEEDED).toArrow()


def watched(session: Any, folder: Path, records: pa.Table) -> list[Any]:
    """The events of two queries, the second from the checkpoint of the first."""
    third = len(records) // 3
    parts = [records[:third], records[third : 2 * third], records[2 * third :]]
    place = folder / "watched"
    for numbers in ((0, 1), (2,)):
        for number in numbers:
            _add(place, number, parts[number][::-1])
        query = _started(session, place, {"is_ticking": False}, availableNow=True)
        assert query.awaitTermination(WAIT_S)
    return _rows(session, place)


def timed(session: Any, folder: Path, records: pa.Table) -> list[Any]:
    """The events of a stream whose last record has just come, until every alert is over."""
    times = records["timestamp"].cast(pa.int64()).to_pylist()
    late_us = time.time_ns() // 1000 - max(times)
    shifted = pa.array([at + late_us for at in times], pa.timestamp("us", "UTC"))
    place = folder / "timed"
    number = records.schema.get_field_index("timestamp")
    _add(place, 0, records.set_column(number, "timestamp", shifted))
    query = _started(session, place, {"rules": SOON}, processingTime="1 second")
    try:
        until = time.monotonic() + WAIT_S
        found: list[Any] = []
        while not found or len(_ids(found, "opened") - _ids(found, "resolved")):
            assert time.monotonic() < until, "a timer is missing"
            assert query.isActive
            time.sleep(0.5)
            found = _rows(session, place)
        return found
    finally:
        query.stop()


def refused(session: Any) -> str:
    try:
        watch_stream(session.range(1))
    except SourceError as error:
        return str(error)
    return ""


def _ids(rows: list[Any], event: str) -> set[str]:
    return {row["id"] for row in rows if row["event"] == event}


def _add(place: Path, number: int, records: pa.Table) -> None:
    """Give the stream a file, whole at once."""
    (place / "in").mkdir(parents=True, exist_ok=True)
    pq.write_table(records, place / "part")
    (place / "part").rename(place / "in" / f"{number}.parquet")


def _started(session: Any, place: Path, options: dict[str, Any], **trigger: Any) -> Any:
    schema = session.read.parquet(str(place / "in")).schema
    stream = session.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    alerts = watch_stream(stream.parquet(str(place / "in")), **options)
    writer = alerts.writeStream.format("parquet").outputMode("append")
    writer = writer.option("checkpointLocation", str(place / "checkpoint"))
    return writer.trigger(**trigger).start(str(place / "out"))


def _rows(session: Any, place: Path) -> list[Any]:
    if not (place / "out" / "_spark_metadata").exists():
        return []
    # Of an empty folder no schema can be read.
    rows = session.read.schema(spark_schema(schema_of(Alert))).parquet(str(place / "out"))
    found: list[Any] = rows.toArrow().to_pylist()
    return found
