"""Segment files: what stands in them, and what is said where they are damaged.

The oracle is the list that the file was written from. Whatever is done to the bytes of one
batch, every record of the others is still there, and the place is named.
"""

from __future__ import annotations

import io
import struct
import sys
import tracemalloc
import zlib
from pathlib import Path

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from assignors.replay.sources import SourceError, open_source, read_segments
from tests.replay.segments import (
    FIRST_MS,
    LOG_APPEND_TIME,
    NAME,
    PAIRS,
    Batch,
    Pair,
    chained,
    pairs_of,
    read,
    record,
    records,
    varint,
    written,
)
from wire.log.batch import Batch as ReadBatch
from wire.log.segment import Flaw, read_batches

fields = st.none() | st.binary(max_size=300)
pair_lists = st.lists(st.tuples(fields, fields), min_size=1, max_size=6)


@given(st.lists(pair_lists, max_size=5))
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, lists: list[list[Pair]]
) -> None:
    place = written(tmp_path_factory.mktemp("log"), chained(lists))
    found, errors = read(place)
    assert not errors
    assert pairs_of(found) == [pair for pairs in lists for pair in pairs]
    assert [raw.offset for raw in found] == list(range(len(found)))
    assert {(raw.topic, raw.partition) for raw in found} <= {("__consumer_offsets", 3)}
    times = [FIRST_MS + number for pairs in lists for number in range(len(pairs))]
    assert [raw.timestamp_ms for raw in found] == times


def test_the_brokers_clock_gives_a_batch_one_time(tmp_path: Path) -> None:
    place = written(tmp_path, chained([[(b"a", b"b"), (b"c", None)]], LOG_APPEND_TIME))
    found, _ = read(place)
    assert [(raw.timestamp_ms, raw.timestamp_type) for raw in found] == [(FIRST_MS + 1, 1)] * 2


@given(st.integers(0, 4), st.data())
def test_damage_to_one_batch_costs_no_other_its_records(
    tmp_path_factory: pytest.TempPathFactory, victim: int, data: st.DataObject
) -> None:
    """Any byte of a batch, its length included, may be anything; what is under no CRC, too."""
    whole = [batch.data() for batch in chained(PAIRS)]
    size = len(whole[victim])
    at = data.draw(st.integers(0, size - 1))
    broken = bytearray(whole[victim])
    broken[at] ^= data.draw(st.integers(1, 255))
    place = written(
        tmp_path_factory.mktemp("log"), [*whole[:victim], bytes(broken), *whole[victim + 1 :]]
    )
    found, errors = read(place)
    others = [pair for number, pairs in enumerate(PAIRS) if number != victim for pair in pairs]
    if 12 <= at < 16 or at < 8:
        # Leader epoch and base offset are not under the CRC: the records are whole.
        assert pairs_of(found) == [pair for pairs in PAIRS for pair in pairs] or errors
        assert set(others) <= set(pairs_of(found))
        return
    assert pairs_of(found) == others
    begins = sum(map(len, whole[:victim]))
    assert len(errors) == 1
    assert f"__consumer_offsets-3/{NAME}: bytes {begins} to {begins + size}:" in errors[0]


@given(st.integers(0, 400))
def test_a_file_that_breaks_off_gives_what_was_whole_and_the_place(
    tmp_path_factory: pytest.TempPathFactory, size: int
) -> None:
    whole = [batch.data() for batch in chained(PAIRS)]
    ends = [sum(map(len, whole[: number + 1])) for number in range(len(whole))]
    data = b"".join(whole)[:size]
    found, errors = read(written(tmp_path_factory.mktemp("log"), [data]))
    complete = sum(end <= size for end in ends)
    assert pairs_of(found) == [pair for pairs in PAIRS[:complete] for pair in pairs]
    begins = ends[complete - 1] if complete else 0
    # A few zeros are all that is left of a batch, or room for one: nobody can tell.
    assert len(errors) == bool(data[begins:].strip(b"\0"))
    assert all(f"bytes {begins} to {len(data)}: truncated" in error for error in errors)


@given(st.binary(max_size=2000))
def test_any_bytes_end_in_rows(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    found, errors = read(written(tmp_path_factory.mktemp("log"), [data]))
    assert not found
    assert bool(errors) == bool(data.strip(b"\0"))


def test_rubbish_between_batches_is_stepped_over(tmp_path: Path) -> None:
    first, second = (batch.data() for batch in chained(PAIRS[:2]))
    found, errors = read(written(tmp_path, [first, b"\x02rubbish" * 50_000, second]))
    assert pairs_of(found) == [*PAIRS[0], *PAIRS[1]]
    assert len(errors) == 1
    assert f"bytes {len(first)} to {len(first) + 400_000}" in errors[0]


def test_zeros_at_the_end_are_room_for_more(tmp_path: Path) -> None:
    found, errors = read(written(tmp_path, [*chained(PAIRS), bytes(3_000_000)]))
    assert len(found) == 10
    assert not errors


def test_a_forged_file_does_not_take_quadratic_time() -> None:
    """A header at every 64 bytes, each with a batch of a megabyte whose CRC is wrong."""
    size = 4 << 20
    header = struct.pack(">qiibIhiqqqhii", 1, 1 << 20, 0, 2, 5, 0, 0, 0, 0, -1, 0, 0, 1)
    data = (header + b"\x01\x01\x01") * (size // 64)
    checked = 0

    def counted(chunk: bytes) -> int:
        nonlocal checked
        checked += len(chunk)
        return crc32c(chunk)

    broken = b"\xff" * 64 + data
    flaws = list(read_batches(io.BytesIO(broken), checksum=counted, size_max=2 << 20))
    assert all(isinstance(flaw, Flaw) for flaw in flaws)
    assert checked < 4 * size


def test_a_base_offset_that_goes_back_is_told_and_read(tmp_path: Path) -> None:
    batches = [Batch(base_offset=90, pairs=PAIRS[0]), Batch(base_offset=5, pairs=PAIRS[1])]
    found, errors = read(written(tmp_path, batches))
    assert [raw.offset for raw in found] == [90, 91, 5, 6]
    assert len(errors) == 1
    assert "offset 5 behind 91" in errors[0]


def test_old_message_formats_are_one_row_a_run(tmp_path: Path) -> None:
    def old(magic: int) -> bytes:
        body = bytes([magic, 0]) + struct.pack(">i", 1) + b"k" + struct.pack(">i", 1) + b"v"
        return struct.pack(">qiI", 0, len(body) + 4, zlib.crc32(body)) + body

    first, second = (batch.data() for batch in chained(PAIRS[:2]))
    found, errors = read(written(tmp_path, [first, old(0), old(1), old(1), second]))
    assert pairs_of(found) == [*PAIRS[0], *PAIRS[1]]
    assert len(errors) == 1
    assert "message format 0, older than Kafka 0.11" in errors[0]
    found, errors = read(written(tmp_path, [first, Batch(magic=9).data(), second]))
    assert len(found) == 4
    assert "message format 9 is unknown" in errors[0]


def test_a_batch_longer_than_asked_for_is_left_out(tmp_path: Path) -> None:
    big = Batch(base_offset=2, pairs=[(b"k", bytes(5000))])
    last = Batch(base_offset=3, pairs=PAIRS[1])
    found, errors = read(written(tmp_path, [chained(PAIRS)[0], big, last]), size_max=1000)
    assert pairs_of(found) == [*PAIRS[0], *PAIRS[1]]
    assert "at most 1000 are read" in errors[0]


@pytest.mark.parametrize("claimed", [(1 << 31) - 1, 3])
def test_a_count_that_lies_costs_nothing_and_is_told(tmp_path: Path, claimed: int) -> None:
    lying = Batch(pairs=PAIRS[0], record_count=claimed)
    found, errors = read(written(tmp_path, [lying]))
    assert pairs_of(found) == PAIRS[0]
    assert f"2 records, the header says {claimed}" in errors[0]


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (records([(b"a", b"b")]) + varint(900) + b"\0", "record 1 of 900 bytes in 1"),
        (records([(b"a", b"b")]) + varint(-5), "record 1 of -5 bytes"),
        (records([(b"a", b"b")]) + b"\xff" * 12, "more than ten bytes"),
        (records([(b"a", b"b")]) + varint(3) + b"\0\0\0", "ends early"),
        (records([(b"a", b"b")]) + record(1 << 40, b"x", b"y"), "offsets behind its batch"),
        (records([(b"a", b"b")]) + varint(6) + b"\0\0\0" + varint(40) + b"xy", "40 bytes in 2"),
        (records([(b"a", b"b"), (b"c", b"d"), (b"e", b"f")]), "behind the last record"),
        (records([(b"a", b"b")]) + varint(4) + b"\0\0\0\1\1\1", "ends within its fields"),
    ],
)
def test_a_bad_record_leaves_those_before_it(tmp_path: Path, payload: bytes, text: str) -> None:
    batches = [Batch(payload=payload, record_count=2), Batch(base_offset=9, pairs=PAIRS[0])]
    found, errors = read(written(tmp_path, batches))
    assert pairs_of(found)[0] == (b"a", b"b")
    assert pairs_of(found)[-2:] == PAIRS[0]
    assert len(errors) == 1
    assert text in errors[0]
    assert "at byte 0: " in errors[0]


def test_a_codec_that_does_not_exist_is_named(tmp_path: Path) -> None:
    _, errors = read(written(tmp_path, [Batch(payload=b"x", attributes=7, record_count=1)]))
    assert "compression 7 is unknown" in errors[0]


def test_a_data_folder_gives_the_partitions_of_one_topic_in_order(tmp_path: Path) -> None:
    for number in (10, 2, 0):
        place = tmp_path / f"__consumer_offsets-{number}"
        place.mkdir()
        (place / NAME).write_bytes(Batch(pairs=[(b"%d" % number, b"")]).data())
        (place / "00000000000000000000.index").write_bytes(b"no log")
    other = tmp_path / "orders-0"
    other.mkdir()
    (other / NAME).write_bytes(Batch(pairs=[(b"other", b"")]).data())
    assert [raw.partition for raw in open_source(tmp_path)] == [0, 2, 10]
    assert [raw.key for raw in read_segments(tmp_path, topic="orders")] == [b"other"]
    alone = tmp_path / "copied.log"
    alone.write_bytes(Batch(pairs=[(b"k", b"v")]).data())
    (raw,) = open_source(alone)
    assert (raw.topic, raw.partition, raw.key) == (None, None, b"k")


def test_a_place_without_segments_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no segment files"):
        read_segments(tmp_path)
    with pytest.raises(SourceError, match="no such file or folder"):
        read_segments(tmp_path / "missing")


def test_memory_is_that_of_a_batch(tmp_path: Path) -> None:
    """No batch is held longer than it takes to go through it."""
    many = [Batch(base_offset=n, pairs=[(b"k", bytes(1000))]) for n in range(3000)]
    path = written(tmp_path, many)
    tracemalloc.start()
    assert sum(raw.error is None for raw in read_segments(path)) == 3000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3000 * 1000 / 4
    stream = read_batches(io.BytesIO(b"".join(b.data() for b in many)), checksum=crc32c)
    assert isinstance(next(stream), ReadBatch)


def test_without_a_crc_the_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "crc32c", None)
    with pytest.raises(SourceError, match=r"pip install 'kafka-assignors\[replay\]'"):
        list(read_segments(written(tmp_path, chained(PAIRS))))
