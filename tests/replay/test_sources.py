"""JSON lines and Parquet: what is read, what is said of what cannot be, and how much is held."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.replay.sources import Raw, SourceError, open_source, parse_lines
from assignors.replay.sources.arrow import (
    BATCH_BYTES,
    RAW,
    batched,
    read_parquet,
    rows,
    uniform,
    write_parquet,
)
from assignors.replay.sources.topic_by_spark import CONNECTOR, connector_settings
from tests.replay.offsets_topics import offsets_topic

blobs = st.none() | st.binary(max_size=40)
times = st.none() | st.integers(-1, 1 << 50)
raws = st.builds(
    Raw,
    key=blobs,
    value=blobs,
    topic=st.none() | st.text(st.characters(codec="utf-8"), max_size=5),
    partition=st.none() | st.integers(0, (1 << 31) - 1),
    offset=st.none() | st.integers(0, (1 << 63) - 1),
    timestamp_ms=times,
    timestamp_type=st.none() | st.integers(0, 1),
)


def line(raw: Raw) -> bytes:
    """A row as the dumps have it."""
    document: dict[str, Any] = {
        "topic": raw.topic,
        "partition": raw.partition,
        "offset": raw.offset,
        "timestamp": raw.timestamp_ms,
        "timestampType": raw.timestamp_type,
    }
    for name, blob in (("key", raw.key), ("value", raw.value)):
        document[name] = None if blob is None else b64encode(blob).decode()
    return json.dumps(document).encode() + b"\n"


@given(st.lists(raws, max_size=20), st.integers(1, 5), st.sampled_from(["jsonl.gz", "json"]))
def test_json_lines_and_parquet_give_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, written: list[Raw], batch_rows: int, ending: str
) -> None:
    folder = tmp_path_factory.mktemp("dump")
    text = b"\n".join(line(raw) for raw in written)  # blank lines among them
    lines = folder / f"dump.{ending}"
    lines.write_bytes(gzip.compress(text) if ending == "jsonl.gz" else text)
    assert list(open_source(lines)) == written
    assert write_parquet(batched(written, batch_rows=3), folder / "dump.parquet") == len(written)
    batches = list(read_parquet(folder / "dump.parquet", batch_rows=batch_rows))
    assert list(rows(batches)) == written
    assert all(batch.num_rows <= batch_rows for batch in batches)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"{", "line 2: no JSON, or a line that is cut short: Expecting"),
        (b"\xff\xfe", "line 2: "),
        (b"[" * 100_000, "line 2: "),
        (b"[1]", "no record: list"),
        (b'{"value": null}', "no 'key'"),
        (b'{"key": 7, "value": null}', "key: 7 is no base64"),
        (b'{"key": "a-b_", "value": null}', "key: no base64"),
        (b'{"key": null, "value": "a"}', "value: no base64"),
        (b'{"key": null, "value": null, "topic": 7}', "topic: 7 is no text"),
        (b'{"key": null, "value": null, "offset": true}', "offset: True is no number"),
        (b'{"key": null, "value": null, "partition": 3e9}', "partition: 3000000000.0 is no"),
        (b'{"key": null, "value": null, "partition": 3000000000}', "partition: 3000000000 is no"),
        (b'{"key": null, "value": null, "offset": 9223372036854775808}', "is no number"),
    ],
)
def test_a_bad_line_is_a_row_with_its_number_and_the_others_are_there(
    text: bytes, said: str
) -> None:
    good = line(Raw(key=b"k"))
    first, bad, last = parse_lines([good, text, good], name="dump.jsonl")
    assert first == last == Raw(key=b"k")
    assert bad.error is not None
    assert bad.error.startswith("dump.jsonl: line 2: ")
    assert said in bad.error
    assert bad == Raw(error=bad.error)


@pytest.mark.parametrize("cut", [30, -5])
def test_a_packed_file_that_breaks_off_ends_with_an_error(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "dump.jsonl.gz"
    path.write_bytes(gzip.compress(line(Raw(key=b"k")) * 50)[:cut])
    *found, last = open_source(path)
    assert last.error
    assert last.error.startswith("dump.jsonl.gz: ")
    assert all(raw == Raw(key=b"k") for raw in found)
    path.write_bytes(b"not packed")
    (only,) = open_source(path)
    assert "dump.jsonl.gz: " in str(only.error)


def test_a_time_too_far_off_for_a_timestamp_is_null() -> None:
    far = [Raw(timestamp_ms=(1 << 63) - 1), Raw(timestamp_ms=-(1 << 63))]
    assert [raw.timestamp_ms for raw in rows(batched(far))] == [None, None]
    lines = parse_lines(map(line, far), name="-")
    assert [raw.timestamp_ms for raw in lines] == [None, None]


def test_batches_end_at_rows_and_at_bytes() -> None:
    many = [Raw(value=bytes(100))] * 10
    assert [b.num_rows for b in batched(many, batch_rows=4)] == [4, 4, 2]
    assert [b.num_rows for b in batched(many, batch_bytes=250)] == [3, 3, 3, 1]
    assert [b.num_rows for b in batched(many, batch_bytes=10)] == [1] * 10


def test_a_folder_of_parquet_is_read_in_order_and_bad_files_are_rows(tmp_path: Path) -> None:
    write_parquet(batched([Raw(key=b"1")]), tmp_path / "part-1.parquet")
    (tmp_path / "part-2.parquet").write_bytes(b"PAR1 is all there is")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "part-3.parquet")
    kind = pa.table({"key": [b"1"], "value": [b"2"], "partition": ["three"]})
    pq.write_table(kind, tmp_path / "part-4.parquet")
    write_parquet(batched([Raw(key=b"5")]), tmp_path / "part-5.parquet")
    found = list(open_source(tmp_path))
    assert [raw.key for raw in found] == [b"1", None, None, None, b"5"]
    errors = [raw.error for raw in found if raw.error]
    assert "part-2.parquet: no Parquet file" in errors[0]
    assert "part-3.parquet: no column key and value among x" in errors[1]
    assert "part-4.parquet: row 1: column partition" in errors[2]


def test_damage_within_a_parquet_file_comes_behind_the_rows_before_it(tmp_path: Path) -> None:
    path = tmp_path / "dump.parquet"
    pq.write_table(
        pa.table({"key": [b"k%d" % n for n in range(300)], "value": [b"v"] * 300}),
        path,
        row_group_size=100,
        compression="gzip",
    )
    group = pq.ParquetFile(path).metadata.row_group(2).column(0)
    data = bytearray(path.read_bytes())
    data[group.data_page_offset : group.data_page_offset + 60] = b"\xff" * 60
    path.write_bytes(bytes(data))
    *found, last = rows(read_parquet(path, batch_rows=50))
    assert last.error
    assert last.error.startswith("dump.parquet: ")
    assert [raw.key for raw in found] == [b"k%d" % n for n in range(200)]


def test_columns_of_sparks_kafka_source_are_taken_as_they_are() -> None:
    spark = pa.RecordBatch.from_pydict(
        {
            "timestamp": pa.array([1_000_000], pa.timestamp("us", "Europe/Berlin")),
            "timestampType": pa.array([0], pa.int32()),
            "offset": pa.array([5], pa.int64()),
            "partition": pa.array([3], pa.int32()),
            "topic": pa.array(["t"]).dictionary_encode(),
            "value": pa.array([b"v"], pa.large_binary()),
            "key": pa.array(["k"]),
            "headers": pa.array([None]),
        }
    )
    batch = uniform(spark, "here")
    assert batch.schema == RAW
    assert list(rows([batch])) == [
        Raw(
            key=b"k",
            value=b"v",
            topic="t",
            partition=3,
            offset=5,
            timestamp_ms=1000,
            timestamp_type=0,
        )
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing.jsonl", "no such file or folder"),
        ("missing.parquet", "no such file or folder"),
        ("missing.log", "no such file or folder"),
        ("missing.txt", "no such file or folder"),
        ("here.txt", "no .jsonl, .parquet or .log file"),
        ("here.parquet", "no Parquet file"),
    ],
)
def test_a_source_that_cannot_be_read_is_one_line_that_names_it(
    tmp_path: Path, name: str, said: str
) -> None:
    for present in ("here.txt", "here.parquet"):
        (tmp_path / present).write_bytes(b"something")
    with pytest.raises(SourceError, match=said) as caught:
        open_source(tmp_path / name)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_without_parquet_is_none_of_it(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no Parquet file"):
        read_parquet(tmp_path)


def test_a_generated_topic_is_the_same_for_the_same_seed() -> None:
    first, again = (list(offsets_topic(500, seed=3, batch_rows=200)) for _ in range(2))
    assert first == again
    assert [batch.num_rows for batch in first] == [200, 200, 100]
    assert first != list(offsets_topic(500, seed=4, batch_rows=200))


def test_rows_of_a_batch_without_our_columns_have_none() -> None:
    batch = pa.RecordBatch.from_pydict({"key": pa.array([b"k"])})
    assert list(rows([batch])) == [Raw(key=b"k")]


def test_the_connectors_jars_are_asked_for_by_name(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no spark-sql-kafka-0-10_2.13-4.2.0.jar"):
        connector_settings(tmp_path)
    for artifact in CONNECTOR:
        _, name, version = artifact.split(":")
        (tmp_path / f"{name}-{version}.jar").touch()
    assert connector_settings(tmp_path)["spark_jars"].count(".jar") == 4


def test_parquet_is_read_without_pandas_which_takes_as_long_to_import_as_the_file(
    tmp_path: Path,
) -> None:
    """`fill_null(0)` on a column of Arrow imported it: 40 MB and a fifth of a second more."""
    file = tmp_path / "dump.parquet"
    write_parquet(batched([Raw(key=b"k", value=bytes(BATCH_BYTES)), Raw(key=b"l")] * 2), file)
    code = (
        "import sys\n"
        "from assignors.replay.sources import open_source\n"
        "print(sum(1 for _ in open_source(sys.argv[1])), 'pandas' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["4", "False"]
