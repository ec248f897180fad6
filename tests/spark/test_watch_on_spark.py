"""A watch on Spark says what a watch in one process says."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from assignors.replay.decode.logged_records import NO_GROUP, group_in, logged_records
from assignors.replay.sources import open_source
from assignors.watch.events import Alert
from assignors.watch.group_state import GroupWatch
from assignors.watch.machine import step
from assignors.watch.rules import Rules
from assignors.watch.spark import row_of
from tests.replay.histories import DATA
from tests.spark.conftest import EVERY_KIND, SparkAnswers


def events_of(dump: Path) -> list[Alert]:
    """The events of all groups, each read from its first record to its last."""
    watches: dict[str, GroupWatch] = {}
    found = []
    for entry in logged_records(open_source(dump)):
        group = group_in(entry.record.key) or NO_GROUP
        found += step(watches.setdefault(group, GroupWatch(group)), entry, Rules())
    return found


def as_spark_has_it(row: Any) -> Any:
    """Rows as dictionaries: maps and structs are compared by what is in them."""
    if isinstance(row, dict):
        return {name: as_spark_has_it(value) for name, value in row.items()}
    if isinstance(row, list | tuple):
        return [as_spark_has_it(value) for value in row]
    return row


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("java")
@EVERY_KIND
def test_a_stream_that_stopped_once_has_the_events_of_one_run(
    kind: str, tmp_path: Path, spark_answers: SparkAnswers
) -> None:
    dump = tmp_path / "dump.jsonl"
    dump.write_bytes(gzip.decompress((DATA / "real.jsonl.gz").read_bytes()))
    answers = spark_answers("watch_job", kind, tmp_path)
    expected = [as_spark_has_it(row_of(alert).asDict(recursive=True)) for alert in events_of(dump)]
    for row in answers["watched"]:
        row["numbers"] = dict(row["numbers"])

    def place(row: dict[str, Any]) -> tuple[Any, ...]:
        return row["at_ms"], row["id"], row["event"]

    assert sorted(answers["watched"], key=place) == sorted(expected, key=place)
    assert {row["event"] for row in expected} >= {"opened", "resolved"}
    assert len(answers["timed"]) > 3, "what no record says, a timer does"
    assert "no column key and value" in answers["refused"]
