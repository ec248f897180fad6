"""Every kind of session tells the same histories as plain Python does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from assignors.replay.arrow_tables import arrow_row
from assignors.replay.entries import entries
from assignors.replay.run import replay
from assignors.replay.sources import Raw, batched, open_source, rows, write_parquet
from assignors.replay.tables import TABLES
from tests.replay.histories import DATA
from tests.spark.tables_job import SETTINGS

ROOT = Path(__file__).parents[2]

GROUPS = (b"shop.32-migrate", b"shop.35-share", b"shop.36-ks-streams", b"shop.39-simple")
ODD = [
    Raw(key=b"\0\x02\0\x0eshop.39-simple", value=b"\0\x63", partition=9, offset=0, timestamp_ms=1),
    Raw(key=b"\0\x09\0\x01g", value=b"x", partition=9, offset=1, timestamp_ms=2),
    Raw(error="dump.jsonl: line 7: no record", partition=9, offset=2),
]


def chosen() -> list[Raw]:
    """Some groups of the captured topic, of every kind, and some rows that are none."""
    kept = [
        raw
        for raw in rows(open_source(DATA / "real.jsonl.gz"))
        if raw.key is not None and raw.key[4:].startswith(GROUPS)
    ]
    return [*kept, *ODD]


def counted(found: list[dict[str, Any]]) -> Counter[str]:
    """The rows, in any order."""
    return Counter(json.dumps(row, sort_keys=True, default=str) for row in found)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("java")
@pytest.mark.parametrize("kind", ["classic", "cluster", "connect"])
def test_spark_tells_what_plain_python_tells(kind: str, tmp_path: Path) -> None:
    given = chosen()
    write_parquet(batched(given), tmp_path / "dump.parquet")
    job = subprocess.run(
        [sys.executable, "-m", "tests.spark.tables_job", kind, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert job.returncode == 0, job.stderr[-4000:]
    answers = json.loads((tmp_path / "answers.json").read_text())
    expected = replay(entries(given), SETTINGS)
    for name in TABLES:
        plain = [arrow_row(row) for row in getattr(expected, name)]
        assert len(plain) > 5, name
        assert counted(answers[name]) == counted(plain), name
    kinds = Counter(row.kind for row in expected.anomalies)
    assert {row["kind"]: row["findings"] for row in answers["sql"]} == kinds
    frame, table = answers["refused"]
    assert "no column key, value" in frame
    assert "no table 'offsets' here" in table
