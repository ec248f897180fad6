"""Every kind of session decodes a dump as plain Python does, bad rows included."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from assignors.replay.decode.batches import decode_batches
from assignors.replay.sources import Isolation, Raw, read_segments
from assignors.replay.sources.arrow import batched, read_parquet, rows, write_parquet
from tests.replay.offsets_topics import Mix, offsets_topic
from tests.replay.segments import TRANSACTIONAL, Batch, marker
from tests.spark.conftest import EVERY_KIND, SparkAnswers

MIX = Mix(tombstones=0.1, classic_groups=0.1, consumer_members=0.1, group_count=20)
NO_UTF8 = (
    b"g\xff",
    b"g\xed\xa0\x80",
    b"\xed\xbf\xed\xa0\x80",
    b"\xf0\x90\x8f",
    b"\xce\xda\xed\xa0",
)
ODD = [
    Raw(key=b"\0\x09\0\x01g", value=b"x", partition=9, offset=0),
    Raw(key=b"\0\x02\0\x01g", value=b"\0\x63", partition=9, offset=1),
    Raw(key=b"\0\x02\0\x02\xc3\xa9", value=b"\0", partition=9, offset=2),
    Raw(key=b"\0", partition=9, offset=3),
    Raw(partition=9, offset=4),
    Raw(error="dump.jsonl: line 7: no record", partition=9, offset=5),
    *(
        Raw(key=b"\0\x02" + len(name).to_bytes(2) + name, partition=9, offset=offset)
        for offset, name in enumerate(NO_UTF8, start=6)
    ),
]


def data_folder(folder: Path) -> Path:
    """Two partitions of segment files, a transaction and a broken batch among them."""
    for number in range(2):
        place = folder / f"__consumer_offsets-{number}"
        place.mkdir(parents=True)
        pairs = [(raw.key, raw.value) for raw in rows(offsets_topic(40, seed=number, mix=MIX))]
        broken = bytearray(Batch(base_offset=100, pairs=pairs[:3]).data())
        broken[70] ^= 1
        batches = [
            Batch(pairs=pairs[:20]).data(),
            Batch(base_offset=20, pairs=pairs[20:], attributes=TRANSACTIONAL, producer_id=7).data(),
            marker(60, 7, commits=bool(number)).data(),
            bytes(broken),
        ]
        (place / f"{0:020d}.log").write_bytes(b"".join(batches))
    return folder


def plain(batches: Iterable[pa.RecordBatch]) -> Counter[str]:
    """The decoded rows, in any order."""
    return as_lines(row for batch in decode_batches(batches) for row in batch.to_pylist())


def as_lines(decoded: Iterable[dict[str, Any]]) -> Counter[str]:
    return Counter(json.dumps(row, default=str, sort_keys=True) for row in decoded)


@pytest.mark.spark
@pytest.mark.usefixtures("java")
@EVERY_KIND
def test_spark_gives_the_rows_of_plain_python(
    kind: str, tmp_path: Path, spark_answers: SparkAnswers
) -> None:
    write_parquet([*offsets_topic(400, mix=MIX), *batched(ODD)], tmp_path / "dump.parquet")
    data = data_folder(tmp_path / "data")
    answers = spark_answers("records_job", kind, tmp_path)
    assert as_lines(answers["rows"]) == plain(read_parquet(tmp_path / "dump.parquet"))
    segments = read_segments(data, isolation=Isolation.READ_UNCOMMITTED)
    assert as_lines(answers["segments"]) == plain(batched(segments))
    fates = Counter(row["transaction"] for row in answers["segments"])
    assert fates == {None: 42, "aborted": 20, "committed": 20}
    assert "no column key and value among id" in answers["missing"]
    # In SQL a record of which the source read nothing has no key, and says that.
    unread = [row for row in answers["rows"] if row["error"] == ODD[5].error]
    assert len(unread) == 1
    assert as_lines(answers["one by one"]) == as_lines(answers["rows"]) - as_lines(unread)
    _groups_are_right(answers)
    _sql_is_right(answers)


def _groups_are_right(answers: dict[str, Any]) -> None:
    keyed = {(row["partition"], row["offset"]): row for row in answers["groups"]}
    assert len(keyed) == 406 + len(NO_UTF8)
    for row in answers["rows"]:
        found = keyed[row["partition"], row["offset"]]
        assert found["group"] == (row["group"] or "")
    unknown = {offset: keyed[9, offset]["group"] for offset in range(6)}
    assert unknown == {0: "", 1: "g", 2: "é", 3: "", 4: "", 5: ""}


def _sql_is_right(answers: dict[str, Any]) -> None:
    counted = {row["name"]: row["records"] for row in answers["counted"]}
    assert counted == Counter(row["name"] for row in answers["rows"])
    assert sum(row["count"] for row in answers["named"]) == len(answers["rows"])
    assert len(answers["members"]) == 5
    assert all(row["topics"] for row in answers["members"])
