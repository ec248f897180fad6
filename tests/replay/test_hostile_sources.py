"""Hostile sources: one bad value costs its own row, and a small file little memory."""

from __future__ import annotations

import gzip
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assignors.cli.outputs.replay_tables import COLUMNS
from assignors.replay import replay
from assignors.replay.decode.batches import decode_batches
from assignors.replay.sample import incident_file
from assignors.replay.sources import Raw, open_source
from assignors.replay.sources.arrow import RAW, read_parquet, rows, uniform
from assignors.replay.sources.arrow.parquet import PLAIN_MAX
from tests.replay.segments import Batch

LINE = b"\n"
MB = 1 << 20


def test_a_topic_that_is_no_text_costs_its_line(tmp_path: Path) -> None:
    r"""`"\ud800"` is JSON, half a character, and nothing that Arrow or UTF-8 can hold."""
    path = tmp_path / "dump.jsonl"
    good = '{"key": "aw==", "value": null}\n'
    path.write_text(good + '{"key": "aw==", "value": null, "topic": "\\ud800"}\n' + good)
    first, bad, last = open_source(path)
    assert first == last == Raw(key=b"k")
    assert bad == Raw(error=r"dump.jsonl: line 2: topic: '\ud800' is no text")


def test_a_source_that_is_cut_short_is_said_in_tables_and_on_the_page(tmp_path: Path) -> None:
    """No group, no time and no byte of a record: the source itself is what is damaged."""
    packed = incident_file().read_bytes()
    plain = gzip.decompress(packed)
    cut = plain[: len(plain) // 2]
    for name, data, words in (
        ("cut.jsonl", cut, f"line {cut.count(LINE) + 1}: no JSON, or a line that is cut short"),
        ("cut.jsonl.gz", packed[: len(packed) // 2], "the compressed file is cut short"),
        ("packed.jsonl", packed[: len(packed) // 2], "the compressed file is cut short"),
    ):
        (tmp_path / name).write_bytes(data)
        found = replay(tmp_path / name, kinds="unreadable")
        (row,) = (row for row in found.findings if not row.group)
        assert row.evidence.startswith(f"source: {name}: {words}")
        assert "(byte " not in row.evidence
        assert "damaged or cut short" in (row.what_to_do or "")
        found.write_report(tmp_path / "page.html")
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert f"Could not be read: source: {name}: {words}" in page
        assert time_of(row) == "-"


def time_of(row: Any) -> str:
    """The time of a finding in the command's table."""
    (column,) = (each for each in COLUMNS["findings"] if each.header == "AT")
    return column.cell({"group": row.group, "at_ms": row.at_ms})


def test_a_packed_file_is_known_by_how_it_begins(tmp_path: Path) -> None:
    (tmp_path / "dump.jsonl").write_bytes(incident_file().read_bytes())
    assert list(open_source(tmp_path / "dump.jsonl")) == list(open_source(str(incident_file())))


@pytest.mark.skipif(os.name == "nt", reason="file names are bytes on POSIX alone")
def test_a_file_whose_name_is_no_text_is_named_in_errors(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff.jsonl"
    Path(os.fsdecode(path)).write_text('{"\n')
    (bad,) = open_source(os.fsdecode(path))
    assert bad.error is not None
    assert bad.error.startswith(r"\udcff.jsonl: line 1: ")


BAD = {
    "partition": (pa.array([3, 1 << 31, 5], pa.int64()), "row 2: column partition: "),
    "offset": (pa.array([3, 1 << 63, 5], pa.uint64()), "row 2: column offset: "),
    "topic": (pa.array([b"t", b"\xff", b"t"]), "row 2: column topic: "),
    "timestampType": (pa.array(["0", "zero", "1"]), "row 2: column timestampType: "),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_value_in_parquet_costs_its_row(tmp_path: Path, name: str) -> None:
    column, said = BAD[name]
    path = tmp_path / "dump.parquet"
    table = {"key": [b"a", b"b", b"c"], "value": [b"1", b"2", b"3"], name: column}
    pq.write_table(pa.table(table), path)
    first, bad, last = rows(read_parquet(path))
    assert (first.key, first.value, last.key, last.value) == (b"a", b"1", b"c", b"3")
    assert (bad.key, bad.value) == (None, None)
    assert str(bad.error).startswith(f"dump.parquet: {said}")
    assert getattr(bad, "timestamp_type" if name == "timestampType" else name) is None


def test_text_that_says_it_is_utf_8_and_is_not_costs_its_row(tmp_path: Path) -> None:
    """Parquet's readers do not look: the column's type is all that says so."""
    path = tmp_path / "dump.parquet"
    wrong = pa.Array.from_buffers(pa.string(), 2, pa.array([b"t", b"\xff"]).buffers())
    pq.write_table(pa.table({"key": [b"a", b"b"], "value": [b"1", b"2"], "topic": wrong}), path)
    first, bad = rows(read_parquet(path))
    assert first == Raw(key=b"a", value=b"1", topic="t")
    assert bad.error is not None
    assert bad.error.startswith("dump.parquet: row 2: column topic: ")


def test_rows_are_counted_through_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "dump.parquet"
    partitions = [1] * 24 + [1 << 40]
    pq.write_table(
        pa.table({"key": [b"k"] * 25, "value": [b"v"] * 25, "partition": partitions}), path
    )
    *_, last = rows(read_parquet(path, batch_rows=10))
    assert str(last.error).startswith("dump.parquet: row 25: column partition: ")


def test_a_bad_value_in_a_dataframe_costs_its_row() -> None:
    batch = pa.RecordBatch.from_pydict(
        {"key": [b"\0\2\0\1g"] * 2, "value": [None, None], "partition": [1 << 31, 4]}
    )
    (decoded,) = decode_batches([batch])
    bad, good = decoded.to_pylist()
    assert str(bad["error"]).startswith("column partition: ")
    assert (bad["group"], bad["partition"]) == (None, None)
    assert (good["group"], good["partition"], good["error"]) == ("g", 4, None)


def test_an_error_that_is_there_already_stays() -> None:
    table: dict[str, Any] = {"key": [None], "value": [None], "partition": [1 << 31]}
    batch = pa.RecordBatch.from_pydict({**table, "error": ["line 7: no"]})
    (found,) = uniform(batch, "here").to_pylist()
    assert found["error"] == "line 7: no"
    assert uniform(batch, "here").schema == RAW


@pytest.mark.parametrize("name", ["key", "value", "topic"])
def test_a_kilobyte_of_parquet_does_not_become_gigabytes(tmp_path: Path, name: str) -> None:
    """A dictionary has one value of a megabyte, and 20,000 rows that name it."""
    path = tmp_path / "dump.parquet"
    schema = pa.schema([("key", pa.binary()), ("value", pa.binary()), ("topic", pa.string())])
    columns = {
        each: pa.array([b"k"] * 20_000).cast(schema.field(each).type) for each in schema.names
    }
    long = pa.array([b"x" * MB]).cast(schema.field(name).type)
    columns[name] = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), long)
    pq.write_table(pa.table(columns), path, compression="zstd")
    assert path.stat().st_size < 2000
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    taken = 0
    errors = []
    for batch in read_parquet(path):
        assert pa.total_allocated_bytes() - before < 4 * 16 * MB
        taken += batch.nbytes
        errors += [found for found in batch.column("error").to_pylist() if found]
    assert taken <= PLAIN_MAX + MB
    (error,) = errors
    assert error.startswith("dump.parquet: row 1")
    assert f"more than {PLAIN_MAX} bytes" in error
    assert tracemalloc.get_traced_memory()[1] < 16 * MB
    tracemalloc.stop()


def test_a_file_may_have_a_thousand_times_its_size(tmp_path: Path) -> None:
    """Else what is honest and long would be refused with what is forged."""
    path = tmp_path / "dump.parquet"
    noise = os.urandom(MB)
    pq.write_table(pa.table({"key": [b"k"] * 200, "value": [noise] * 200}), path)
    assert sum(batch.num_rows for batch in read_parquet(path)) == 200


def test_a_folder_whose_number_is_no_partitions_is_read_without_one(tmp_path: Path) -> None:
    folder = tmp_path / "__consumer_offsets-9999999999"
    folder.mkdir()
    batch = Batch(base_offset=3, pairs=[(b"k", b"v")])
    (folder / f"{3:020d}.log").write_bytes(batch.data())
    (found,) = open_source(folder)
    assert (found.key, found.offset, found.partition) == (b"k", 3, None)


def test_an_offset_beyond_int64_costs_its_batch(tmp_path: Path) -> None:
    """The base offset of a batch is not under its CRC, so anything may stand there."""
    batches = [Batch(base_offset=(1 << 63) - 2, pairs=[(b"a", None), (b"b", None), (b"c", None)])]
    path = tmp_path / f"{0:020d}.log"
    path.write_bytes(b"".join(batch.data() for batch in batches))
    first, second, error = open_source(path)
    assert (first.offset, second.offset) == ((1 << 63) - 2, (1 << 63) - 1)
    assert "record 2" in str(error.error)
