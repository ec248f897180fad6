"""Kafka's own `kafka-dump-log` prints real segments: its text is read as the segments are.

The topic of `tests/replay/data/real.jsonl.gz` has classic, consumer, share and streams groups; it
is written as one segment, every few records one batch. 4.3.0 is the newest tool with a jar.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from assignors.replay.sources import open_source
from assignors.replay.sources.writing import write_segments
from tests.cli.running import answers
from tests.conftest import need
from tests.described.capture import TOOLS, jars
from tests.interop.install import missing_tools
from tests.replay.test_dump_log import BY_VERSION, TABLES, without_assignment_versions
from tests.replay.test_printed import DATA
from wire.records import RECORD_TYPES, decode_record

pytestmark = pytest.mark.foreign

BATCH = 3
TOPIC = "__consumer_offsets"


@pytest.fixture(scope="module")
def segment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All records of the topic in one partition."""
    rows = [raw for raw in open_source(DATA / "real.jsonl.gz") if raw.error is None]
    rows = [
        replace(raw, topic=TOPIC, partition=7, offset=offset) for offset, raw in enumerate(rows)
    ]
    folder = tmp_path_factory.mktemp("data") / "logs"
    write_segments(folder, [rows[at : at + BATCH] for at in range(0, len(rows), BATCH)])
    (file,) = folder.rglob("*.log")
    return file


@pytest.fixture(scope="module")
def text(segment: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the tool prints of the segment."""
    for tool in missing_tools():
        need(tool)
    done = subprocess.run(
        [
            *("java", "-Xmx256m", "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8"),
            *("-cp", f"{jars(max(TOOLS))}{os.sep}*", "org.apache.kafka.tools.DumpLogSegments"),
            *("--offsets-decoder", "--files", str(segment)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=True,
    )
    file = tmp_path_factory.mktemp("text") / "dump-log.txt"
    file.write_bytes(done.stdout)
    return file


def test_each_record_is_that_of_the_segment(segment: Path, text: Path) -> None:
    whole = list(open_source(segment))
    found = list(open_source(text))
    known = {each.number for each in RECORD_TYPES}
    expected = [raw for raw in whole if decode_record(raw.key, raw.value).type in known]
    assert [raw.error for raw in found if raw.error] == []
    assert list(map(without_assignment_versions, found)) == list(
        map(without_assignment_versions, expected)
    )
    assert len({decode_record(raw.key, None).type for raw in found}) > 10


def test_replay_of_the_text_is_replay_of_the_segment(segment: Path, text: Path) -> None:
    for table in TABLES:
        truth, found = (
            answers("replay", str(each), "--table", table)[0] for each in (segment, text)
        )
        for row in (*truth, *found):
            for name in BY_VERSION:
                row.get("row", {}).pop(name, None)
        assert found == truth, table
