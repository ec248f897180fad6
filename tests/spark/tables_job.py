"""A Spark session makes the tables of a dump; they are left as JSON.

The folder has a dump (`dump.jsonl`), whose rows are mixed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assignors.registry import assignor_named
from assignors.replay.engines.spark import (
    json_line_records,
    replayed_groups,
    table,
    tables,
    topic_names,
)
from assignors.replay.findings.selection import EVERYTHING
from assignors.replay.history.log_ends import log_ends_from_document
from assignors.replay.history.redact import keyed
from assignors.replay.sample import skewed_log_ends
from assignors.replay.settings import Settings
from assignors.replay.sources import SourceError

SETTINGS = Settings(
    assignors=(assignor_named("optimal/cooperative-sticky"), assignor_named("weighted")),
    log_ends=tuple(map(log_ends_from_document, skewed_log_ends())),
    selection=EVERYTHING,
    label=keyed(b"key"),
)


def main(session: Any, folder: Path) -> None:
    """Run the job and write its answers."""
    session.conf.set("spark.sql.session.timeZone", "UTC")
    dump = json_line_records(session, folder / "dump.jsonl").repartition(3)
    names = topic_names(dump)
    found = tables(dump, SETTINGS, topic_names=names, persist=True)
    answers: dict[str, Any] = {name: rows_of(frame) for name, frame in found.items()}
    found["findings"].createOrReplaceTempView("findings")
    answers["sql"] = rows_of(
        session.sql("SELECT kind, count(*) AS findings FROM findings GROUP BY kind ORDER BY kind")
    )
    answers["refused"] = [refused(lambda: replayed_groups(session.range(1))), refused_table(dump)]
    (folder / "answers.json").write_text(json.dumps(answers, default=str))


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """The rows as plain data."""
    rows: list[dict[str, Any]] = frame.toArrow().to_pylist()
    return rows


def refused(ask: Any) -> str:
    """What is said of a frame that is no dump."""
    try:
        ask()
    except SourceError as error:
        return str(error)
    return ""


def refused_table(dump: Any) -> str:
    """What is said of a table that is not there."""
    try:
        table(dump, "commits")
    except ValueError as error:
        return str(error)
    return ""
