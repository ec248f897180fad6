"""Every kind of session tells the same histories as plain Python does, damaged ones too."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from assignors.replay.decode.logged_records import logged_records
from assignors.replay.engines.python import replay_records
from assignors.replay.sources import open_source
from assignors.replay.tables.arrow import as_arrow
from assignors.replay.tables.rows import TABLES
from tests.cli.running import ROOT
from tests.replay.damage import damaged
from tests.replay.histories import DATA
from tests.spark.conftest import SparkAnswers
from tests.spark.dumps import IDS, some_groups
from tests.spark.sessions import KINDS
from tests.spark.tables_job import SETTINGS

SKEWED = ROOT / "assignors" / "replay" / "sample" / "skewed.jsonl.gz"


def counted(found: list[dict[str, Any]]) -> Counter[str]:
    """The rows, in any order."""
    return Counter(json.dumps(row, sort_keys=True, default=str) for row in found)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("java")
@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=() if kind == "cluster" else pytest.mark.deep) for kind in KINDS],
)
def test_spark_tells_what_plain_python_tells(
    kind: str, tmp_path: Path, spark_answers: SparkAnswers
) -> None:
    dump = tmp_path / "dump.jsonl"
    gone_back = gzip.decompress((DATA / "field" / "expired.jsonl.gz").read_bytes())
    dump.write_bytes(some_groups() + gzip.decompress(SKEWED.read_bytes()) + gone_back)
    answers = spark_answers("tables_job", kind, tmp_path)
    expected = replay_records(logged_records(open_source(dump)), SETTINGS)
    for name, table in TABLES.items():
        plain = as_arrow(table, getattr(expected, name)).to_pylist()
        assert len(plain) > 3, name
        assert counted(answers[name]) == counted(plain), name
    assert {row["use_max"] is None for row in answers["outcomes"]} == {True, False}
    assert any(row["lag"] for row in answers["generations"])
    assert {"committed", "listed", IDS[2]} <= {row["topic"] for row in answers["assignments"]}
    kinds = Counter(row.kind for row in expected.findings)
    assert kinds.keys() >= {"went-back", "offsets-removed"}
    assert {row["kind"]: row["findings"] for row in answers["sql"]} == kinds
    frame, table = answers["refused"]
    assert "no column key and value" in frame
    assert "no table 'commits' here" in table


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("java")
@pytest.mark.parametrize("kind", ["connect"])
def test_spark_tells_a_damaged_topic_as_plain_python_does(
    kind: str, tmp_path: Path, spark_answers: SparkAnswers
) -> None:
    dump = tmp_path / "dump.jsonl"
    dump.write_bytes(damaged(3))
    answers = spark_answers("tables_job", kind, tmp_path)
    expected = replay_records(logged_records(open_source(dump)), SETTINGS)
    for name, table in TABLES.items():
        plain = as_arrow(table, getattr(expected, name)).to_pylist()
        assert counted(answers[name]) == counted(plain), name
